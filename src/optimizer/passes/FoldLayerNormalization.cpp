// SPDX-License-Identifier: Apache-2.0
// Pass FoldLayerNormalization: (x - mean) / sqrt(variance + epsilon) over the last dimensions becomes a
// LayerNormalization, then products and sums with constants of the last dimension its scale and bias. Which dimensions
// are the last is sure where axes count from the end, or where the rank follows from operators and constants; else the
// layer normalizes the given axes, whether a run makes them the last ones or not. Over height and width of what is sure
// to be an image it becomes an InstanceNormalization. RMS normalization, x / sqrt(mean of squares + epsilon), becomes a
// LayerNormalization that subtracts no mean.
#include "optimizer/Pass.hpp"
#include "optimizer/passes/NormalizationMatcher.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Normalization.hpp>

namespace tenon::passes
{

namespace
{

/// Whether the constant at `input` may be scale or bias of `normalization`, whose result is the other input.
bool IsParameter(const Layer& layer, unsigned int input, const Layer& normalization, const ShapeFacts& shapeFacts)
{
    const auto& descriptor = normalization.Descriptor<LayerNormalizationDescriptor>();
    return IsNormalizationParameter(layer, input, *normalization.Input(0).GetConnectedOutputSlot(), descriptor.m_Axis,
                                    descriptor.m_NumAxes, shapeFacts);
}

bool FoldNormalization(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    const auto match = NormalizationMatcher(shapeFacts).Match(last);
    if (!match.has_value())
    {
        return false;
    }
    const NormalizedMean& mean = match->m_Mean;
    if (mean.m_IsOfImage)
    {
        auto image = std::make_unique<InstanceNormalizationDescriptor>();
        image->m_DataLayout = DataLayout::NHWC;
        image->m_Eps = match->m_Epsilon;
        return ReplacePattern(graph, context, last, LayerType::InstanceNormalization, std::move(image),
                              {mean.m_Data}) != nullptr;
    }
    auto descriptor = std::make_unique<LayerNormalizationDescriptor>();
    descriptor->m_Axis = mean.m_Axis;
    descriptor->m_NumAxes = mean.m_NumAxes;
    descriptor->m_Epsilon = match->m_Epsilon;
    descriptor->m_SubtractMean = match->m_SubtractsMean;
    return ReplacePattern(graph, context, last, LayerType::LayerNormalization, std::move(descriptor),
                          {mean.m_Data, match->m_Parameters.m_Scale, match->m_Parameters.m_Bias}) != nullptr;
}

/// A product or sum with a constant that becomes scale or bias of the LayerNormalization before it.
bool FoldParameter(Graph&, const PassContext&, Layer& layer, const ShapeFacts& shapeFacts)
{
    const bool isProduct = IsBinary(&layer, BinaryOperation::Mul);
    if ((!isProduct && !IsBinary(&layer, BinaryOperation::Add)) ||
        layer.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    for (const unsigned int data : {0U, 1U})
    {
        Layer* normalization = GetSoleProducer(layer, data);
        if (normalization == nullptr || normalization->GetType() != LayerType::LayerNormalization ||
            normalization->Output(0).GetTensorInfo().GetDataType() != DataType::Float32 ||
            normalization->Input(2).GetConnectedOutputSlot() != nullptr ||
            (isProduct && normalization->Input(1).GetConnectedOutputSlot() != nullptr) ||
            !IsPlainInput(*normalization, 0) || !IsParameter(layer, 1 - data, *normalization, shapeFacts))
        {
            continue;
        }
        Rewire(normalization->Input(isProduct ? 1 : 2), *layer.Input(1 - data).GetConnectedOutputSlot());
        normalization->Output(0).Disconnect(layer.Input(data));
        layer.Output(0).MoveAllConnections(normalization->Output(0));
        return true;
    }
    return false;
}

} // namespace

void FoldLayerNormalization(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context,
                   [](Graph& all, const PassContext& with, Layer& layer, const ShapeFacts& shapeFacts) {
                       return FoldNormalization(all, with, layer, shapeFacts) ||
                              FoldParameter(all, with, layer, shapeFacts);
                   });
}

} // namespace tenon::passes
