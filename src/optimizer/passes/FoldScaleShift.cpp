// SPDX-License-Identifier: Apache-2.0
// Pass FoldScaleShift: products and sums with constants, one for each channel or one for all, become a part of the
// weights and bias of the convolution or product before them. A product with one number need not follow it at once:
// what an attention multiplies its scores by becomes a part of the weights of its queries.
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/WeightedLayer.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>

namespace tenon::passes
{

namespace
{

/// How many dimensions a layer's output has in every run at least, and which of them, from the end, has the channels.
struct OutputForm
{
    unsigned int m_Rank = 0;
    unsigned int m_ChannelsFromEnd = 1;
};

OutputForm GetForm(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::FullyConnected: return {layer.Descriptor<FullyConnectedDescriptor>().m_KeepDims ? 1U : 2U, 1};
    case LayerType::Convolution2d:
        return {4, layer.Descriptor<Convolution2dDescriptor>().m_DataLayout == DataLayout::NHWC ? 1U : 3U};
    default:
        return {4, layer.Descriptor<DepthwiseConvolution2dDescriptor>().m_DataLayout == DataLayout::NHWC ? 1U : 3U};
    }
}

/// The constant at `input`, one value a channel, if it broadcasts to the layer's output without changing its shape.
std::optional<std::vector<double>> GetPerChannel(const Layer& layer, unsigned int input, const OutputForm& form,
                                                 unsigned int channels)
{
    const auto one = GetFloats(layer, input, 1);
    const auto each = one.has_value() ? one : GetFloats(layer, input, channels);
    if (!each.has_value())
    {
        return std::nullopt;
    }
    const TensorShape& shape = layer.Input(input).GetTensorInfo().GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    if (rank > form.m_Rank)
    {
        return std::nullopt;
    }
    if (each->size() == 1)
    {
        return std::vector<double>(channels, each->front());
    }
    const bool isAlongChannels = rank >= form.m_ChannelsFromEnd && shape[rank - form.m_ChannelsFromEnd] == channels;
    return isAlongChannels ? each : std::nullopt;
}

/// y * m_Scales + m_Shifts.
struct Affine
{
    std::vector<double> m_Scales;
    std::vector<double> m_Shifts;
};

/// What the operation does to its data, the other input being `constant`.
std::optional<Affine> GetAffine(BinaryOperation operation, bool isDataFirst, const std::vector<double>& constant)
{
    const size_t count = constant.size();
    const auto mapped = [&](auto f)
    {
        std::vector<double> values(count);
        std::transform(constant.begin(), constant.end(), values.begin(), f);
        return values;
    };
    const std::vector<double> ones(count, 1.0);
    const std::vector<double> zeros(count, 0.0);
    switch (operation)
    {
    case BinaryOperation::Add: return Affine{ones, constant};
    case BinaryOperation::Mul: return Affine{constant, zeros};
    case BinaryOperation::Sub:
        return isDataFirst ? Affine{ones, mapped([](double c) { return -c; })}
                           : Affine{std::vector<double>(count, -1.0), constant};
    case BinaryOperation::Div:
        if (isDataFirst)
        {
            return Affine{mapped([](double c) { return 1.0 / c; }), zeros}; // not finite for 0: refused later
        }
        return std::nullopt;
    default: return std::nullopt;
    }
}

/// The inputs in which a layer is linear: a factor of one of them is a factor of the output.
std::vector<unsigned int> GetScaledInputs(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::ExpandDims:
    case LayerType::Reshape:
    case LayerType::Squeeze:
    case LayerType::Transpose: return {0};
    case LayerType::BatchMatMul: return {0, 1};
    default: return {};
    }
}

/// A lower bound of the rank of the output of such a layer.
unsigned int GetMinRank(const Layer& layer)
{
    if (layer.GetType() == LayerType::Reshape)
    {
        const TensorShape* const target = FindTargetShape(layer);
        return target != nullptr ? target->GetNumDimensions() : 0;
    }
    return layer.GetType() == LayerType::BatchMatMul ? 2 : layer.GetType() == LayerType::Transpose ? 1 : 0;
}

bool IsFloat(const Layer& layer, unsigned int input)
{
    return IsPlainInput(layer, input) && layer.Input(input).GetTensorInfo().GetDataType() == DataType::Float32;
}

/// The layer of GetFoldableChannels that input `i` reads through at most `maxBetween` layers.
Layer* FindScalable(const Layer& reader, unsigned int i, unsigned int maxBetween)
{
    Layer* const producer = GetSoleProducer(reader, i);
    if (producer == nullptr || GetFoldableChannels(*producer).has_value())
    {
        return producer;
    }
    const std::vector<unsigned int> inputs = GetScaledInputs(*producer);
    if (maxBetween == 0 || !IsFloat(reader, i) ||
        !std::all_of(inputs.begin(), inputs.end(), [&](unsigned int input) { return IsFloat(*producer, input); }))
    {
        return nullptr;
    }
    Layer* found = nullptr;
    for (size_t k = 0; found == nullptr && k < inputs.size(); ++k)
    {
        found = FindScalable(*producer, inputs[k], maxBetween - 1);
    }
    return found;
}

/// A layer whose weights were changed.
struct Changed
{
    Layer* m_Old = nullptr;
    Layer* m_New = nullptr; ///< the same, or one in its place; null: nothing was changed
};

/// Lets the product right before the operation do what this does, if that can be.
Changed FoldNear(Graph& graph, const Layer& operation, unsigned int data, ConstantBudget& budget)
{
    Layer* producer = GetSoleProducer(operation, data);
    const unsigned int channels = producer != nullptr ? GetFoldableChannels(*producer).value_or(0) : 0;
    if (channels == 0)
    {
        return {};
    }
    const auto constant = GetPerChannel(operation, 1 - data, GetForm(*producer), channels);
    if (!constant.has_value())
    {
        return {};
    }
    const auto affine =
        GetAffine(operation.Descriptor<ElementwiseBinaryDescriptor>().m_Operation, data == 0, *constant);
    return {producer,
            affine.has_value() ? ScaleOutput(graph, *producer, affine->m_Scales, affine->m_Shifts, budget) : nullptr};
}

/// Multiplies weights that are not right before it by what `operation` multiplies its data by.
Changed FoldFar(Graph& graph, const Layer& operation, unsigned int data, ConstantBudget& budget)
{
    constexpr unsigned int MaxLayersBetween = 6;
    const Layer* const before = GetSoleProducer(operation, data);
    const auto factor = before != nullptr && !GetScaledInputs(*before).empty() && IsPlainInput(operation, 1 - data)
                            ? GetFloat(operation, 1 - data)
                            : std::nullopt;
    // A constant of more dimensions would give the output more of them, too.
    if (!factor.has_value() ||
        operation.Input(1 - data).GetTensorInfo().GetShape().GetNumDimensions() > GetMinRank(*before))
    {
        return {};
    }
    Layer* const far = FindScalable(operation, data, MaxLayersBetween);
    if (far == nullptr)
    {
        return {};
    }
    const std::vector<double> constant(*GetFoldableChannels(*far), *factor);
    const auto affine = GetAffine(operation.Descriptor<ElementwiseBinaryDescriptor>().m_Operation, data == 0, constant);
    const bool isScale = affine.has_value() && std::all_of(affine->m_Shifts.begin(), affine->m_Shifts.end(),
                                                           [](double shift) { return shift == 0.0; });
    return {far, isScale ? ScaleOutput(graph, *far, affine->m_Scales, affine->m_Shifts, budget) : nullptr};
}

Changed Fold(Graph& graph, const Layer& operation, unsigned int data, ConstantBudget& budget)
{
    if (operation.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return {};
    }
    const Changed near = FoldNear(graph, operation, data, budget);
    return near.m_New != nullptr ? near : FoldFar(graph, operation, data, budget);
}

} // namespace

void FoldScaleShift(Graph& graph)
{
    ConstantBudget budget(graph);
    std::vector<const Layer*> unused;
    // In order of data flow, so that of a product and a sum both are folded.
    for (Layer* layer : graph.TopologicalOrder({LayerType::ElementwiseBinary}))
    {
        for (const unsigned int data : {0U, 1U})
        {
            const Changed changed = Fold(graph, *layer, data, budget);
            if (changed.m_New == nullptr)
            {
                continue;
            }
            OutputSlot& source = *layer->Input(data).GetConnectedOutputSlot();
            source.Disconnect(layer->Input(data));
            layer->Output(0).MoveAllConnections(source);
            unused.push_back(layer);
            if (changed.m_New != changed.m_Old)
            {
                unused.push_back(changed.m_Old);
            }
            break;
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
