// SPDX-License-Identifier: Apache-2.0
// Pass FoldMaxMin: Maximum and Minimum with constants of one element, one after the other, become a BoundedReLu.
#include "optimizer/Pass.hpp"
#include "optimizer/Patterns.hpp"

#include <cmath>

namespace tenon::passes
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

struct Clamp
{
    float m_Bound = 0.0f;
    unsigned int m_Data = 0; ///< which input is clamped
};

/// What a Maximum or Minimum with one constant does, if it leaves shape, type and quantization as they are.
std::optional<Clamp> GetClamp(const Layer& layer, const FixedForms& forms)
{
    for (const unsigned int data : {0U, 1U})
    {
        const std::optional<float> bound = GetBound(layer, 1 - data);
        if (bound.has_value() && forms.KeepsShape(layer, data, 1 - data) &&
            layer.Input(data).GetTensorInfo().IsTypeSpaceMatch(layer.Output(0).GetTensorInfo()))
        {
            return Clamp{*bound, data};
        }
    }
    return std::nullopt;
}

struct Match
{
    Layer* m_First = nullptr;
    unsigned int m_Data = 0; ///< which input of it is clamped
    ActivationDescriptor m_Activation;
};

/// The activation that `second` and the layer before it are together.
std::optional<Match> FindMatch(const Layer& second, const FixedForms& forms)
{
    const bool isMinimumLast = IsBinary(&second, BinaryOperation::Minimum);
    if (!isMinimumLast && !IsBinary(&second, BinaryOperation::Maximum))
    {
        return std::nullopt;
    }
    const std::optional<Clamp> outer = GetClamp(second, forms);
    Layer* first = outer.has_value() ? GetSoleProducer(second, outer->m_Data) : nullptr;
    if (!IsBinary(first, isMinimumLast ? BinaryOperation::Maximum : BinaryOperation::Minimum))
    {
        return std::nullopt;
    }
    const std::optional<Clamp> inner = GetClamp(*first, forms);
    if (!inner.has_value())
    {
        return std::nullopt;
    }
    const float upper = isMinimumLast ? outer->m_Bound : inner->m_Bound;
    const float lower = isMinimumLast ? inner->m_Bound : outer->m_Bound;
    if (lower > upper)
    {
        return std::nullopt;
    }
    return Match{first, inner->m_Data, ActivationDescriptor(ActivationFunction::BoundedReLu, upper, lower)};
}

} // namespace

void FoldMaxMin(Graph& graph, PassContext& context)
{
    const FixedForms forms(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : graph.TopologicalOrder())
    {
        if (const std::optional<Match> match = FindMatch(*layer, forms))
        {
            OutputSlot& source = *match->m_First->Input(match->m_Data).GetConnectedOutputSlot();
            if (ReplacePattern(graph, context, *layer, LayerType::Activation,
                               std::make_unique<ActivationDescriptor>(match->m_Activation), {&source}) != nullptr)
            {
                unused.insert(unused.end(), {layer, match->m_First});
            }
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
