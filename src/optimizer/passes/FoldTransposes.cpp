// SPDX-License-Identifier: Apache-2.0
// Pass FoldTransposes: chains of transpositions become one, and those that cancel become none.
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/DeadLayers.hpp"

namespace tenon::passes
{

void FoldTransposes(Graph& graph)
{
    DeadLayers deadLayers(graph);
    // In order of data flow each Transpose sees a producer that is folded already.
    const LayerOrder order = graph.TopologicalOrder({LayerType::Transpose});
    for (Layer* layer : order.WithProducers())
    {
        if (!IsPlainTranspose(layer))
        {
            continue;
        }
        PermutationVector mappings = layer->Descriptor<TransposeDescriptor>().m_DimMappings;
        OutputSlot* source = layer->Input(0).GetConnectedOutputSlot();
        Layer& producer = source->GetOwningLayer();
        if (IsPlainTranspose(&producer))
        {
            const PermutationVector first = producer.Descriptor<TransposeDescriptor>().m_DimMappings;
            if (first.GetSize() == mappings.GetSize())
            {
                mappings = Composed(first, mappings);
                OutputSlot* origin = producer.Input(0).GetConnectedOutputSlot();
                source->Disconnect(layer->Input(0));
                origin->Connect(layer->Input(0));
                layer->SetDescriptor(std::make_unique<TransposeDescriptor>(mappings));
                deadLayers.CutOffIfDead(producer);
                source = origin;
            }
        }
        if (IsIdentity(mappings))
        {
            layer->Output(0).MoveAllConnections(*source);
        }
        deadLayers.CutOffIfDead(*layer);
    }
    deadLayers.Remove();
}

} // namespace tenon::passes
