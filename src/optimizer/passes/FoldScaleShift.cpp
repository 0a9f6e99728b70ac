// SPDX-License-Identifier: Apache-2.0
// Pass FoldScaleShift: products and sums with constants, one for each channel or one for all, become a part of the
// weights and bias of the convolution or product before them.
#include "optimizer/Pass.hpp"
#include "optimizer/WeightedLayer.hpp"

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

/// Folds the operation if it can; gives the layer that its readers then read.
Layer* Fold(Graph& graph, const Layer& operation, unsigned int data, ConstantBudget& budget)
{
    Layer* producer = GetSoleProducer(operation, data);
    const unsigned int channels = producer != nullptr ? GetFoldableChannels(*producer).value_or(0) : 0;
    if (channels == 0 || operation.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return nullptr;
    }
    const auto constant = GetPerChannel(operation, 1 - data, GetForm(*producer), channels);
    if (!constant.has_value())
    {
        return nullptr;
    }
    const auto affine =
        GetAffine(operation.Descriptor<ElementwiseBinaryDescriptor>().m_Operation, data == 0, *constant);
    return affine.has_value() ? ScaleOutput(graph, *producer, affine->m_Scales, affine->m_Shifts, budget) : nullptr;
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
            Layer* const producer = layer->Input(data).GetProducer();
            Layer* const folded = Fold(graph, *layer, data, budget);
            if (folded != nullptr)
            {
                folded->Output(0).Disconnect(layer->Input(data));
                layer->Output(0).MoveAllConnections(folded->Output(0));
                unused.push_back(layer);
                if (folded != producer)
                {
                    unused.push_back(producer);
                }
                break;
            }
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
