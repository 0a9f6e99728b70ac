// SPDX-License-Identifier: Apache-2.0
// Pass RemoveBroadcastTo: layers that broadcast by themselves need no BroadcastTo in front of them. Where all shapes
// are fixed and the other operand brings every size that the BroadcastTo makes, its input takes its place.
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"

#include <algorithm>

namespace tenon::passes
{

namespace
{

bool Broadcasts(LayerType type)
{
    return type == LayerType::ElementwiseBinary || type == LayerType::Comparison || type == LayerType::LogicalBinary;
}

/// Whether each size of `shape`, counted from the last dimension, is 1 or that of `by`.
bool IsCovered(const TensorShape& shape, const TensorShape& by)
{
    const unsigned int rank = shape.GetNumDimensions();
    const unsigned int byRank = by.GetNumDimensions();
    if (shape.IsScalar() || by.IsScalar() || rank > byRank)
    {
        return false;
    }
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (shape[i] != 1 && shape[i] != by[byRank - rank + i])
        {
            return false;
        }
    }
    return true;
}

bool MayReadSource(const InputSlot& reader, const TensorShape& target, const FixedShapes& fixed)
{
    const Layer& layer = reader.GetOwningLayer();
    if (!Broadcasts(layer.GetType()) || reader.IsTensorInfoOverridden())
    {
        return false;
    }
    const InputSlot& other = layer.Input(1 - reader.GetSlotIndex());
    return fixed.IsFixed(other) && !other.IsTensorInfoOverridden() && other.GetProducer() != reader.GetProducer() &&
           IsCovered(target, other.GetTensorInfo().GetShape());
}

} // namespace

void RemoveBroadcastTo(Graph& graph)
{
    const FixedShapes fixed(graph);
    for (Layer* layer : graph.LayersOf(LayerType::BroadcastTo))
    {
        if (!fixed.IsFixed(layer->Input(0)) || !fixed.IsFixed(layer->Output(0)) ||
            layer->Input(0).IsTensorInfoOverridden())
        {
            continue;
        }
        OutputSlot& source = *layer->Input(0).GetConnectedOutputSlot();
        const TensorInfo& info = layer->Output(0).GetTensorInfo();
        const Span<InputSlot* const> readers = layer->Output(0).GetConnections();
        const bool all =
            std::all_of(readers.begin(), readers.end(),
                        [&](const InputSlot* reader) { return MayReadSource(*reader, info.GetShape(), fixed); });
        if (all && info.IsTypeSpaceMatch(source.GetTensorInfo()) && !info.HasPerAxisQuantization() &&
            IsCovered(source.GetTensorInfo().GetShape(), info.GetShape()))
        {
            layer->Output(0).MoveAllConnections(source);
        }
    }
}

} // namespace tenon::passes
