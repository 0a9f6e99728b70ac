// SPDX-License-Identifier: Apache-2.0
// See SingleClamp.hpp.
#include "optimizer/SingleClamp.hpp"

#include "optimizer/Patterns.hpp"

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

} // namespace

std::optional<SingleClamp> FindSingleClamp(const Layer* layer, const FixedForms& forms)
{
    const bool isMaximum = IsBinary(layer, BinaryOperation::Maximum);
    if (!isMaximum && !IsBinary(layer, BinaryOperation::Minimum))
    {
        return std::nullopt;
    }
    const TensorInfo& output = layer->Output(0).GetTensorInfo();
    for (const unsigned int data : {0U, 1U})
    {
        const std::optional<float> bound = GetBound(*layer, 1 - data);
        if (bound.has_value() && forms.KeepsShape(*layer, data, 1 - data) &&
            layer->Input(data).GetTensorInfo().IsTypeSpaceMatch(output))
        {
            return SingleClamp{isMaximum, *bound, data, output.IsQuantized() || data == 1};
        }
    }
    return std::nullopt;
}

} // namespace tenon
