// SPDX-License-Identifier: Apache-2.0
// Pass RemoveDeadLayers: keeps what a layer with an effect (Input, Output, an unknown operator) depends on.
#include "optimizer/Pass.hpp"

namespace tenon::passes
{

void RemoveDeadLayers(Graph& graph)
{
    std::vector<bool> dead(graph.Size(), true);
    std::vector<const Layer*> pending;
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetSchema().Has(OpFlags::Effect))
        {
            dead[layer->m_Index] = false;
            pending.push_back(layer.get());
        }
    }
    while (!pending.empty())
    {
        const Layer* layer = pending.back();
        pending.pop_back();
        for (const InputSlot& input : layer->Inputs())
        {
            const Layer* producer = input.GetProducer();
            if (producer != nullptr && dead[producer->m_Index])
            {
                dead[producer->m_Index] = false;
                pending.push_back(producer);
            }
        }
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
