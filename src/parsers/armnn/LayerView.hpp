// SPDX-License-Identifier: Apache-2.0
// LayerView: the view of one layer of a .armnn file for its row: the fields of its descriptor, the constants that it
// holds itself, and the number of its slots. It is independent of FlatBuffers.
#pragma once

#include "common/Enumerators.hpp"
#include "parsers/common/AttributeView.hpp"
#include "parsers/common/OperatorView.hpp"

#include <tenon/Tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::arm_nn
{

/// A constant that a layer of some kind can hold.
struct ConstantField
{
    std::string_view m_Name;
    std::optional<parsers::TensorView> m_Tensor; ///< nothing if this layer does not hold it
};

/// The parts of a layer, except its connections.
struct LayerParts
{
    std::string m_Kind; ///< "Convolution2d"
    std::string m_Name; ///< name from the file; may be empty
    parsers::AttributeList m_Fields;
    std::vector<ConstantField> m_Constants;
    size_t m_NumInputs = 0;
    size_t m_NumOutputs = 0;
    LayerBindingId m_BindingId = 0; ///< binding id of an Input or Output
    /// The element type of output 0 in the file.
    std::optional<DataType> m_OutputType;
    /// Whether weights of a depthwise convolution are stored as [M, I, H, W]. The layer holds the weights, or is their
    /// Constant.
    bool m_HasOldDepthwiseWeights = false;
};

class LayerView : public parsers::AttributeView
{
public:
    explicit LayerView(LayerParts parts)
        : AttributeView(parts.m_Kind, std::move(parts.m_Fields), "field"), m_Parts(std::move(parts))
    {
    }

    const char* LayerName() const { return m_Parts.m_Name.c_str(); }
    size_t NumInputs() const { return m_Parts.m_NumInputs; }
    size_t NumOutputs() const { return m_Parts.m_NumOutputs; }
    LayerBindingId BindingId() const { return m_Parts.m_BindingId; }
    const std::optional<DataType>& OutputType() const { return m_Parts.m_OutputType; }
    bool HasOldDepthwiseWeights() const { return m_Parts.m_HasOldDepthwiseWeights; }

    /// An unsigned field. Fields that the file omits have the value `fallback`, or are empty.
    uint32_t Number(std::string_view name, uint32_t fallback = 0) const;
    std::vector<uint32_t> Numbers(std::string_view name) const;
    /// A list of numbers as pairs. Throws ParseException for an odd count.
    std::vector<std::pair<uint32_t, uint32_t>> Pairs(std::string_view name) const;
    /// An enumerator, which has the same name in Tenon. Throws ParseException for an unknown one.
    template <typename E>
    E Enumerator(std::string_view name, E fallback) const
    {
        if (!Has(name))
        {
            return fallback;
        }
        const std::optional<E> found = FindEnumerator<E>(Text(name));
        if (!found)
        {
            FailValue(name);
        }
        return *found;
    }

    /// The constant of a field; null if the layer does not hold it.
    const parsers::TensorView* FindConstant(std::string_view name) const;
    /// The constant of a field. Throws ParseException if the layer does not hold it.
    const parsers::TensorView& Constant(std::string_view name) const;

    /// Throw ParseException if the number of slots differs from the field's.
    void CheckNumInputs(std::string_view field, uint64_t wanted) const;
    void CheckNumOutputs(std::string_view field, uint64_t wanted) const;

private:
    [[noreturn]] void FailValue(std::string_view name) const;
    void CheckCount(const char* kind, uint64_t count, std::string_view field, uint64_t wanted) const;

    LayerParts m_Parts;
};

} // namespace tenon::arm_nn
