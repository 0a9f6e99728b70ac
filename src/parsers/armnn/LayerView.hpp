// SPDX-License-Identifier: Apache-2.0
// LayerView: one layer of a .armnn file as its row sees it: the fields of its descriptor, the constants that it holds
// itself, and how many slots it has. Nothing here is FlatBuffers'.
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
    std::optional<parsers::TensorView> m_Tensor; ///< nothing where this layer does not hold it
};

/// What a layer consists of but for its connections.
struct LayerParts
{
    std::string m_Kind; ///< "Convolution2d"
    std::string m_Name; ///< given by the file's maker; may be empty
    parsers::AttributeList m_Fields;
    std::vector<ConstantField> m_Constants;
    size_t m_NumInputs = 0;
    size_t m_NumOutputs = 0;
    LayerBindingId m_BindingId = 0; ///< of an Input or Output
    /// The element type that the file says of output 0.
    std::optional<DataType> m_OutputType;
    /// Whether weights of a depthwise convolution that the layer holds, or is, are stored as [M, I, H, W].
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

    /// A field that is unsigned. Fields that the file leaves out have the value `fallback`, or are empty.
    uint32_t Number(std::string_view name, uint32_t fallback = 0) const;
    std::vector<uint32_t> Numbers(std::string_view name) const;
    /// Numbers two by two. Throws ParseException where one is left.
    std::vector<std::pair<uint32_t, uint32_t>> Pairs(std::string_view name) const;
    /// An enumerator, which has the same name in Tenon. Throws ParseException for one that it does not have.
    template <typename E>
    E Enumerator(std::string_view name, E fallback) const
    {
        if (!Has(name))
        {
            return fallback;
        }
        const std::optional<E> found = FindEnumerator<E>(Text(name));
        return found ? *found : FailEnumerator<E>(name);
    }

    /// Null where the layer does not hold it.
    const parsers::TensorView* FindConstant(std::string_view name) const;
    /// Throws ParseException where the layer does not hold it.
    const parsers::TensorView& Constant(std::string_view name) const;

    /// Throw ParseException where the layer has another number of slots than the field asks for.
    void CheckNumInputs(std::string_view field, uint64_t wanted) const;
    void CheckNumOutputs(std::string_view field, uint64_t wanted) const;

private:
    template <typename E>
    [[noreturn]] E FailEnumerator(std::string_view name) const
    {
        FailValue(name);
    }
    [[noreturn]] void FailValue(std::string_view name) const;
    void CheckCount(const char* kind, uint64_t count, std::string_view field, uint64_t wanted) const;

    LayerParts m_Parts;
};

} // namespace tenon::arm_nn
