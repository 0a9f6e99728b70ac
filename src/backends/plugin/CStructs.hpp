// SPDX-License-Identifier: Apache-2.0
// The C forms of infos, descriptors, layers and options, with the memory that they point to. Host side, and the side of
// plugins that are written in C++.
#pragma once

#include "common/Attributes.hpp"

#include <tenon/BackendOptions.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/LayerView.hpp>
#include <tenon/backend/plugin.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::plugin
{

/// A tenon_tensor_info. Stays where it is.
class CInfo
{
public:
    explicit CInfo(const TensorInfo& info);
    CInfo(const CInfo&) = delete;
    CInfo& operator=(const CInfo&) = delete;
    const tenon_tensor_info* Get() const { return &m_Info; }

private:
    std::vector<int64_t> m_Dims;
    std::vector<float> m_Scales;
    std::vector<int32_t> m_ZeroPoints;
    tenon_tensor_info m_Info{};
};

/// An array of tenon_attribute.
class CAttributes
{
public:
    CAttributes() = default;
    explicit CAttributes(std::vector<Attribute> attributes);
    CAttributes(const CAttributes&) = delete;
    CAttributes& operator=(const CAttributes&) = delete;
    const tenon_attribute* Get() const { return m_Array.data(); }
    size_t Size() const { return m_Array.size(); }

private:
    std::vector<Attribute> m_Attributes;
    std::deque<std::vector<int64_t>> m_Shapes;
    std::deque<uint8_t> m_Bools;
    std::vector<tenon_attribute> m_Array;
};

/// The options of one backend out of a list for all.
std::vector<Attribute> OptionAttributes(const std::vector<BackendOptions>& options, const BackendId& backend);

/// A tenon_layer.
class CLayer
{
public:
    explicit CLayer(const LayerView& layer);
    /// The layer as a workload is reshaped for it; type, guid and blob are those that it was created with.
    CLayer(LayerType type, LayerGuid guid, const void* blob, const ReshapeArgs& args);
    CLayer(const CLayer&) = delete;
    CLayer& operator=(const CLayer&) = delete;
    const tenon_layer* Get() const { return &m_Layer; }

private:
    void Fill(LayerType type, LayerGuid guid, const std::string& name, const BaseDescriptor& descriptor,
              Span<const TensorInfo* const> inputs, Span<const TensorInfo* const> outputs,
              Span<const void* const> constants, const ActivationDescriptor* activation);
    const tenon_tensor_info* Add(const TensorInfo* info);

    std::string m_Name;
    std::optional<CAttributes> m_Attributes;
    std::optional<CAttributes> m_Activation;
    std::deque<CInfo> m_Infos;
    std::vector<const tenon_tensor_info*> m_Inputs;
    std::vector<const tenon_tensor_info*> m_Outputs;
    std::vector<const void*> m_Constants;
    std::vector<uint8_t> m_IsConstant;
    tenon_layer m_Layer{};
};

/// The other way round. These functions throw InvalidArgumentException for values that make no sense.
TensorInfo ToInfo(const tenon_tensor_info& info);
TensorShape ToShape(uint32_t rank, const int64_t* dims);
std::vector<Attribute> ToAttributes(const tenon_attribute* attributes, size_t count);
/// Truth values and integers count as texts, too: see BackendOptions::Var.
std::vector<BackendOptions::BackendOption> ToOptions(const tenon_attribute* attributes, size_t count);

/// The row of ops.def; throws InvalidArgumentException where there is none of the name.
LayerType LayerTypeOf(const char* name);

} // namespace tenon::plugin
