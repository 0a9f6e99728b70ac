// SPDX-License-Identifier: Apache-2.0
// Pass RemoveDeadLayers: keeps what a layer with an effect (Input, Output, an unknown operator) depends on.
#include "optimizer/Pass.hpp"

#include <algorithm>

namespace tenon::passes
{

namespace
{

/// Whether all that read what a layer gives are dead, and that is all that it does.
bool IsDead(const Layer& layer, const std::vector<bool>& dead)
{
    const auto isUnread = [&](const OutputSlot& output)
    {
        return std::all_of(output.GetConnections().begin(), output.GetConnections().end(),
                           [&](const InputSlot* reader) { return dead[reader->GetOwningLayer().m_Index]; });
    };
    return !layer.GetSchema().Has(OpFlags::Effect) &&
           std::all_of(layer.Outputs().begin(), layer.Outputs().end(), isUnread);
}

} // namespace

void RemoveDeadLayers(Graph& graph)
{
    if (graph.NumUnread() == 0) // readers of readers lead to an effect, as there are no cycles
    {
        return;
    }
    std::vector<bool> dead(graph.Size(), false);
    const LayerOrder order = graph.TopologicalOrder();
    for (const Layer* layer : order.Backward()) // readers first
    {
        dead[layer->m_Index] = IsDead(*layer, dead);
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon::passes
