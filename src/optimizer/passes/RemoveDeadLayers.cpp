// SPDX-License-Identifier: Apache-2.0
// Pass RemoveDeadLayers: keeps what a layer with an effect (Input, Output, an unknown operator) depends on.
#include "optimizer/Pass.hpp"

#include <algorithm>

namespace tenon::passes
{

namespace
{

/// Whether nobody reads what a layer gives, which is all that it does. Where no layer is such a one, none is dead:
/// readers of readers lead to an effect, as there are no cycles.
bool IsUnread(const Layer& layer)
{
    return !layer.GetSchema().Has(OpFlags::Effect) &&
           std::all_of(layer.Outputs().begin(), layer.Outputs().end(),
                       [](const OutputSlot& output) { return output.GetNumConnections() == 0; });
}

} // namespace

void RemoveDeadLayers(Graph& graph)
{
    if (std::none_of(graph.Layers().begin(), graph.Layers().end(),
                     [](const LayerPtr& layer) { return IsUnread(*layer); }))
    {
        return;
    }
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
