// SPDX-License-Identifier: Apache-2.0
// Pass FoldSoftmax: exp(x - max) / sum of it, along one axis, of floats becomes a Softmax.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Reduction.hpp>

namespace tenon::passes
{

namespace
{

bool IsReduction(const Layer* layer, ReduceOperation operation, const OutputSlot* of)
{
    return layer != nullptr && layer->GetType() == LayerType::Reduce && IsPlainInput(*layer, 0) &&
           layer->Input(0).GetConnectedOutputSlot() == of &&
           layer->Descriptor<ReduceDescriptor>().m_ReduceOperation == operation &&
           layer->Descriptor<ReduceDescriptor>().m_KeepDims;
}

/// The one axis that a Reduce has.
std::optional<int64_t> GetAxis(const Layer& reduce)
{
    const auto& descriptor = reduce.Descriptor<ReduceDescriptor>();
    if (descriptor.m_ParametersAsInputs)
    {
        const auto axes = GetIntegers(reduce, 1, 1);
        return axes.has_value() && axes->size() == 1 ? std::optional(axes->front()) : std::nullopt;
    }
    return descriptor.m_vAxis.size() == 1 ? std::optional<int64_t>(descriptor.m_vAxis.front()) : std::nullopt;
}

bool FoldSoftmaxAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts&)
{
    if (!IsBinary(&last, BinaryOperation::Div) || last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    const Layer* power = last.Input(0).GetProducer();
    const Layer* sum = last.Input(1).GetProducer();
    const Layer* difference = IsUnary(power, UnaryOperation::Exp) ? power->Input(0).GetProducer() : nullptr;
    if (!IsBinary(difference, BinaryOperation::Sub) || !IsReduction(sum, ReduceOperation::Sum, &power->Output(0)))
    {
        return false;
    }
    OutputSlot* x = difference->Input(0).GetConnectedOutputSlot();
    const Layer* maximum = difference->Input(1).GetProducer();
    if (!IsReduction(maximum, ReduceOperation::Max, x) || x->GetTensorInfo().GetDataType() != DataType::Float32 ||
        !FeedOnly({power, sum, difference, maximum}, last))
    {
        return false;
    }
    const std::optional<int64_t> axis = GetAxis(*sum);
    constexpr auto MaxRank = int64_t{MaxNumOfTensorDimensions};
    if (!axis.has_value() || axis != GetAxis(*maximum) || *axis < -MaxRank || *axis >= MaxRank)
    {
        return false;
    }
    auto descriptor = std::make_unique<SoftmaxDescriptor>();
    descriptor->m_Axis = static_cast<int>(*axis);
    return ReplacePattern(graph, context, last, LayerType::Softmax, std::move(descriptor), {x}) != nullptr;
}

} // namespace

void FoldSoftmax(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldSoftmaxAt);
}

} // namespace tenon::passes
