// SPDX-License-Identifier: Apache-2.0
// Pass CanonicalTranspose: one kind of transposition for all that follows.
#include "optimizer/Pass.hpp"

namespace tenon::passes
{

namespace
{

/// A Transpose in place of `permute`, which is left without connections.
void ReplacePermute(Graph& graph, Layer& permute)
{
    const PermutationVector inverse = permute.Descriptor<PermuteDescriptor>().m_DimMappings.Inverse();
    Layer& transpose = graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(inverse),
                                      permute.GetNameStr(), permute.GetGuid());
    transpose.BackendSelectionHint(permute.GetBackendHint());
    OutputSlot& source = *permute.Input(0).GetConnectedOutputSlot();
    source.Disconnect(permute.Input(0));
    source.Connect(transpose.Input(0));
    permute.Input(0).MoveOverride(transpose.Input(0));
    transpose.Output(0).SetTensorInfo(permute.Output(0).GetTensorInfo());
    permute.Output(0).MoveAllConnections(transpose.Output(0));
}

} // namespace

void CanonicalTranspose(Graph& graph)
{
    std::vector<bool> dead(graph.Size(), false);
    const size_t size = graph.Size(); // layers that are added meanwhile need no look
    for (size_t i = 0; i < size; ++i)
    {
        Layer& layer = *graph.Layers()[i];
        if (layer.GetType() == LayerType::Permute)
        {
            ReplacePermute(graph, layer);
            dead[i] = true;
        }
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
