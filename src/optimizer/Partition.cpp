// SPDX-License-Identifier: Apache-2.0
// Partition: see Partition.hpp. ContractedGraph decides what belongs together; here layers become its nodes, and its
// clusters become subgraphs in an order of execution.
#include "optimizer/Partition.hpp"

#include "optimizer/ContractedGraph.hpp"

#include <functional>
#include <map>
#include <queue>
#include <string>
#include <vector>

namespace tenon
{

namespace
{

/// Backends as small numbers, in order of appearance.
class Colours
{
public:
    uint32_t Of(const Layer& layer)
    {
        if (IsRunByRuntime(layer.GetType()))
        {
            return ContractedGraph::NoColour;
        }
        // Most layers run where the one before them does.
        const BackendId& id = layer.GetBackendId();
        if (m_Previous == nullptr || *m_Previous != id)
        {
            const auto next = static_cast<uint32_t>(m_Numbers.size());
            m_Number = m_Numbers.emplace(id.Get(), next).first->second;
            m_Previous = &id;
        }
        return m_Number;
    }

private:
    std::map<std::string, uint32_t> m_Numbers;
    const BackendId* m_Previous = nullptr;
    uint32_t m_Number = 0;
};

/// Unites layers of one backend. What the runtime binds has no part in it: no path leads through an end of the network.
void UniteLayers(const std::vector<Layer*>& order, ContractedGraph& contracted)
{
    Colours colours;
    std::vector<uint32_t> producers;
    for (const Layer* layer : order)
    {
        if (IsBoundByRuntime(layer->GetType()))
        {
            continue;
        }
        producers.clear();
        for (const InputSlot& input : layer->Inputs())
        {
            const Layer* producer = input.GetProducer();
            if (producer != nullptr && !IsBoundByRuntime(producer->GetType()))
            {
                producers.push_back(producer->m_Index);
            }
        }
        contracted.Add(layer->m_Index, producers, colours.Of(*layer));
    }
}

size_t CountConnections(const Graph& graph)
{
    size_t count = 0;
    for (const auto& layer : graph.Layers())
    {
        count += layer->GetNumInputSlots();
    }
    return count;
}

/// Puts units, which are the clusters and the single layers that belong to none, in order: of those that are ready the
/// one whose first layer comes first in `order`, so that the user's order stays wherever it can.
class UnitOrder
{
public:
    UnitOrder(const std::vector<Layer*>& order, ContractedGraph& contracted)
        : m_Order(order), m_UnitOf(order.size(), NoUnit), m_Placed(order.size(), false)
    {
        std::vector<uint32_t> unitOfCluster(order.size(), NoUnit);
        for (Layer* layer : order)
        {
            uint32_t* unit = &m_UnitOf[layer->m_Index];
            if (!IsBoundByRuntime(layer->GetType()))
            {
                unit = &unitOfCluster[contracted.Find(layer->m_Index)];
            }
            else if (layer->GetType() != LayerType::Output && layer->Output(0).GetNumConnections() != 0)
            {
                continue; // goes before its first consumer
            }
            if (*unit == NoUnit)
            {
                *unit = static_cast<uint32_t>(m_Units.size());
                m_Units.emplace_back();
            }
            m_Units[*unit].m_Layers.push_back(layer);
            m_UnitOf[layer->m_Index] = *unit;
        }
        CountProducers();
    }

    /// Returns the new order; calls visit(layers of a unit) for each.
    template <typename Visit>
    std::vector<Layer*> Run(Visit visit)
    {
        // Units have the numbers of their first layers' order.
        std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
        for (uint32_t unit = 0; unit < m_Units.size(); ++unit)
        {
            if (m_Units[unit].m_NumWaiting == 0)
            {
                ready.push(unit);
            }
        }
        std::vector<Layer*> sorted;
        sorted.reserve(m_Order.size());
        while (!ready.empty())
        {
            const uint32_t unit = ready.top();
            ready.pop();
            visit(m_Units[unit].m_Layers);
            for (Layer* layer : m_Units[unit].m_Layers)
            {
                Place(layer, sorted);
                for (const OutputSlot& output : layer->Outputs())
                {
                    for (const InputSlot* input : output.GetConnections())
                    {
                        const uint32_t consumer = m_UnitOf[input->GetOwningLayer().m_Index];
                        if (consumer != unit && --m_Units[consumer].m_NumWaiting == 0)
                        {
                            ready.push(consumer);
                        }
                    }
                }
            }
        }
        return sorted;
    }

private:
    static constexpr uint32_t NoUnit = UINT32_MAX;
    struct Unit
    {
        std::vector<Layer*> m_Layers;
        size_t m_NumWaiting = 0; ///< connections from units that are not placed yet
    };

    void CountProducers()
    {
        for (const Layer* layer : m_Order)
        {
            for (const InputSlot& input : layer->Inputs())
            {
                const Layer* producer = input.GetProducer();
                if (producer != nullptr && m_UnitOf[producer->m_Index] != NoUnit &&
                    m_UnitOf[producer->m_Index] != m_UnitOf[layer->m_Index])
                {
                    ++m_Units[m_UnitOf[layer->m_Index]].m_NumWaiting;
                }
            }
        }
    }

    void Place(Layer* layer, std::vector<Layer*>& sorted)
    {
        for (const InputSlot& input : layer->Inputs())
        {
            Layer* producer = input.GetProducer();
            if (producer != nullptr && m_UnitOf[producer->m_Index] == NoUnit && !m_Placed[producer->m_Index])
            {
                m_Placed[producer->m_Index] = true;
                sorted.push_back(producer);
            }
        }
        sorted.push_back(layer);
    }

    const std::vector<Layer*>& m_Order;
    std::vector<Unit> m_Units;
    std::vector<uint32_t> m_UnitOf; ///< by layer; none for an Input or Constant that is read
    std::vector<bool> m_Placed;     ///< of those
};

} // namespace

unsigned int PartitionGraph(Graph& graph)
{
    const std::vector<Layer*> order = graph.TopologicalOrder();
    ContractedGraph contracted(graph.Size(), CountConnections(graph));
    UniteLayers(order, contracted);

    unsigned int count = 0;
    for (Layer* layer : order)
    {
        layer->m_Subgraph = LayerAssignment::NoSubgraph;
    }
    UnitOrder units(order, contracted);
    graph.Sort(units.Run(
        [&count](const std::vector<Layer*>& layers)
        {
            if (IsBoundByRuntime(layers.front()->GetType()) || IsRunByRuntime(layers.front()->GetType()))
            {
                return;
            }
            for (Layer* layer : layers)
            {
                layer->m_Subgraph = count;
            }
            ++count;
        }));
    return count;
}

} // namespace tenon
