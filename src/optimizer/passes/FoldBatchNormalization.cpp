// SPDX-License-Identifier: Apache-2.0
// Pass FoldBatchNormalization: a BatchNormalization with constant statistics becomes a part of the weights and bias of
// the convolution or product before it.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/WeightedLayer.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Products.hpp>

#include <cmath>

namespace tenon::passes
{

namespace
{

/// Whether the channels that the layer gives are those that a BatchNormalization of this layout takes.
bool HasChannelsOf(const Layer& layer, DataLayout layout)
{
    switch (layer.GetType())
    {
    case LayerType::Convolution2d: return layer.Descriptor<Convolution2dDescriptor>().m_DataLayout == layout;
    case LayerType::DepthwiseConvolution2d:
        return layer.Descriptor<DepthwiseConvolution2dDescriptor>().m_DataLayout == layout;
    default:
        // [rows, channels] are both, but with KeepDims there may be more dimensions.
        return layout == DataLayout::NHWC ||
               (layout == DataLayout::NCHW && !layer.Descriptor<FullyConnectedDescriptor>().m_KeepDims);
    }
}

/// Folds a BatchNormalization; gives the layer that is left without connections beside it, if there is one.
bool Fold(Graph& graph, Layer& normalization, ConstantBudget& budget, std::vector<const Layer*>& unused)
{
    Layer* producer = GetSoleProducer(normalization, 0);
    const unsigned int channels = producer != nullptr ? GetFoldableChannels(*producer).value_or(0) : 0;
    const auto& descriptor = normalization.Descriptor<BatchNormalizationDescriptor>();
    if (channels == 0 || !HasChannelsOf(*producer, descriptor.m_DataLayout) ||
        normalization.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    const auto mean = GetFloats(normalization, 1, channels);
    const auto variance = GetFloats(normalization, 2, channels);
    const auto beta = GetFloats(normalization, 3, channels);
    const auto gamma = GetFloats(normalization, 4, channels);
    if (!mean.has_value() || !variance.has_value() || !beta.has_value() || !gamma.has_value())
    {
        return false;
    }
    std::vector<double> scales(channels);
    std::vector<double> shifts(channels);
    for (size_t c = 0; c < scales.size(); ++c)
    {
        scales[c] = (*gamma)[c] / std::sqrt((*variance)[c] + static_cast<double>(descriptor.m_Eps));
        shifts[c] = (*beta)[c] - (*mean)[c] * scales[c];
    }
    Layer* folded = ScaleOutput(graph, *producer, scales, shifts, budget);
    if (folded == nullptr)
    {
        return false;
    }
    if (folded != producer)
    {
        unused.push_back(producer);
    }
    folded->Output(0).Disconnect(normalization.Input(0));
    normalization.Output(0).MoveAllConnections(folded->Output(0));
    return true;
}

} // namespace

void FoldBatchNormalization(Graph& graph)
{
    ConstantBudget budget(graph);
    std::vector<const Layer*> unused;
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        Layer& layer = *graph.Layers()[i];
        if (layer.GetType() == LayerType::BatchNormalization && Fold(graph, layer, budget, unused))
        {
            unused.push_back(&layer);
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
