// SPDX-License-Identifier: Apache-2.0
// Partition: see Partition.hpp.
#include "optimizer/Partition.hpp"

#include <algorithm>
#include <map>

namespace tenon
{

unsigned int PartitionGraph(Graph& graph)
{
    std::vector<Layer*> order = graph.TopologicalOrder();

    // Backends as small numbers, in order of appearance. Most layers run where the one before them does.
    std::map<std::string, uint32_t> backends;
    std::vector<uint32_t> backendOf(graph.Size());
    std::vector<uint32_t> level(graph.Size(), 0);
    const BackendId* previousId = nullptr;
    uint32_t number = 0;
    for (const Layer* layer : order)
    {
        const BackendId& id = layer->GetBackendId();
        if (previousId == nullptr || *previousId != id)
        {
            const auto next = static_cast<uint32_t>(backends.size());
            number = backends.emplace(id.Get(), next).first->second;
        }
        previousId = &id;
        backendOf[layer->m_Index] = number;
    }
    for (const Layer* layer : order)
    {
        uint32_t& own = level[layer->m_Index];
        for (const InputSlot& input : layer->Inputs())
        {
            const Layer* producer = input.GetProducer();
            // What the runtime binds is there from the start; its backend is for display only.
            if (producer != nullptr && !IsBoundByRuntime(producer->GetType()))
            {
                const bool crosses =
                    !IsBoundByRuntime(layer->GetType()) && backendOf[producer->m_Index] != backendOf[layer->m_Index];
                own = std::max(own, level[producer->m_Index] + (crosses ? 1U : 0U));
            }
        }
    }

    if (backends.size() > 1) // else every layer is of level 0 and in order already
    {
        std::stable_sort(order.begin(), order.end(),
                         [&](const Layer* a, const Layer* b)
                         {
                             const auto key = [&](const Layer* l)
                             { return std::make_pair(level[l->m_Index], backendOf[l->m_Index]); };
                             return key(a) < key(b);
                         });
    }
    unsigned int count = 0;
    const Layer* previous = nullptr;
    for (Layer* layer : order)
    {
        if (previous == nullptr || level[previous->m_Index] != level[layer->m_Index] ||
            backendOf[previous->m_Index] != backendOf[layer->m_Index])
        {
            ++count;
        }
        layer->m_Subgraph = count - 1;
        previous = layer;
    }
    graph.Sort(order);
    return count;
}

} // namespace tenon
