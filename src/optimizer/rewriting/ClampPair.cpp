// SPDX-License-Identifier: Apache-2.0
// See ClampPair.hpp.
#include "optimizer/rewriting/ClampPair.hpp"

#include "optimizer/rewriting/Patterns.hpp"

#include <cmath>

namespace tenon
{

namespace
{

/// A bound of a clamp: Float32, or of a quantized type with the scale and zero point of the tensor.
std::optional<float> GetBound(const Layer& layer, unsigned int input)
{
    const TensorInfo& data = layer.Input(1 - input).GetTensorInfo();
    const TensorInfo& info = layer.Input(input).GetTensorInfo();
    if (data.GetDataType() == DataType::Float32)
    {
        const std::optional<float> bound = GetFloat(layer, input);
        return bound.has_value() && !std::isnan(*bound) ? bound : std::nullopt;
    }
    const float scale = data.GetQuantizationScale();
    if (layer.GetConstantInput(input) == nullptr || !data.IsQuantized() || data.HasMultipleQuantizationScales() ||
        !info.IsTypeSpaceMatch(data) || !info.GetShape().AreAllDimensionsSpecified() ||
        info.GetShape().GetNumElements64() != 1 || !(scale > 0.0f) || !std::isfinite(scale))
    {
        return std::nullopt;
    }
    const void* value = layer.GetConstantInput(input);
    int32_t stored = 0;
    switch (info.GetDataType())
    {
    case DataType::QAsymmU8: stored = *static_cast<const uint8_t*>(value); break;
    case DataType::QAsymmS8:
    case DataType::QSymmS8: stored = *static_cast<const int8_t*>(value); break;
    case DataType::QSymmS16: stored = *static_cast<const int16_t*>(value); break;
    default: return std::nullopt;
    }
    // The activation divides by the scale and rounds, which gives the stored value again: it has 17 bits at most.
    const float bound = scale * static_cast<float>(stored - data.GetQuantizationOffset());
    return std::isnormal(scale) && std::isfinite(bound) ? std::optional(bound) : std::nullopt;
}

/// max(x, bound) or min(x, bound).
struct SingleClamp
{
    bool m_IsMaximum = false;
    float m_Bound = 0.0f;
    unsigned int m_Data = 0; ///< which input is x
};

/// What the layer is, if it keeps the shape, type and quantization of x.
std::optional<SingleClamp> FindSingleClamp(const Layer* layer, const ShapeFacts& shapeFacts)
{
    const bool isMaximum = IsBinary(layer, BinaryOperation::Maximum);
    if (!isMaximum && !IsBinary(layer, BinaryOperation::Minimum))
    {
        return std::nullopt;
    }
    for (const unsigned int data : {0U, 1U})
    {
        const std::optional<float> bound = GetBound(*layer, 1 - data);
        if (bound.has_value() && shapeFacts.KeepsShape(*layer, data, 1 - data) &&
            layer->Input(data).GetTensorInfo().IsTypeSpaceMatch(layer->Output(0).GetTensorInfo()))
        {
            return SingleClamp{isMaximum, *bound, data};
        }
    }
    return std::nullopt;
}

} // namespace

std::optional<ClampPair> FindClampPair(const Layer& last, const ShapeFacts& shapeFacts)
{
    const std::optional<SingleClamp> outer = FindSingleClamp(&last, shapeFacts);
    const Layer* first = outer.has_value() ? GetSoleProducer(last, outer->m_Data) : nullptr;
    const std::optional<SingleClamp> inner = FindSingleClamp(first, shapeFacts);
    if (!inner.has_value() || inner->m_IsMaximum == outer->m_IsMaximum)
    {
        return std::nullopt;
    }
    ClampPair pair;
    pair.m_First = first;
    pair.m_Source = first->Input(inner->m_Data).GetConnectedOutputSlot();
    pair.m_Lower = inner->m_IsMaximum ? inner->m_Bound : outer->m_Bound;
    pair.m_Upper = inner->m_IsMaximum ? outer->m_Bound : inner->m_Bound;
    pair.m_KeepsNaN = last.Output(0).GetTensorInfo().IsQuantized() || (inner->m_Data == 1 && outer->m_Data == 1);
    return pair.m_Lower <= pair.m_Upper ? std::optional(pair) : std::nullopt;
}

} // namespace tenon
