// SPDX-License-Identifier: Apache-2.0
// Partition: see Partition.hpp. ContractedGraph decides what belongs together; here layers become its nodes, and its
// clusters become subgraphs in an order of execution.
#include "optimizer/Partition.hpp"

#include "optimizer/ContractedGraph.hpp"

#include <functional>
#include <map>
#include <queue>
#include <span>
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
void UniteLayers(const std::vector<Layer*>& order, const std::vector<LayerType>& types, ContractedGraph& contracted)
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
            if (producer != nullptr && !IsBoundByRuntime(types[producer->m_Index]))
            {
                producers.push_back(producer->m_Index);
            }
        }
        contracted.Add(layer->m_Index, producers, colours.Of(*layer));
    }
}

/// Puts units, which are the clusters and the single layers that belong to none, in order: of those that are ready the
/// one whose first layer comes first in `order`, so that the user's order stays wherever it can.
class UnitOrder
{
public:
    UnitOrder(const std::vector<Layer*>& order, const Graph& graph, ContractedGraph& contracted)
        : m_Order(order), m_Types(graph.Types()), m_UnitOf(order.size(), NoUnit), m_Placed(order.size(), false)
    {
        std::vector<uint32_t> unitOfCluster(order.size(), NoUnit);
        for (const Layer* layer : order)
        {
            const uint32_t index = layer->m_Index;
            uint32_t* unit = &m_UnitOf[index];
            if (!IsBoundByRuntime(m_Types[index]))
            {
                unit = &unitOfCluster[contracted.Find(index)];
            }
            else if (m_Types[index] != LayerType::Output && layer->Output(0).GetNumConnections() != 0)
            {
                continue; // goes before its first consumer
            }
            if (*unit == NoUnit)
            {
                *unit = static_cast<uint32_t>(m_Units.size());
                m_Units.emplace_back();
            }
            ++m_Units[*unit].m_NumLayers;
            m_UnitOf[index] = *unit;
        }
        CollectLayers();
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
            const std::span<Layer* const> layers = LayersOf(m_Units[unit]);
            visit(layers);
            for (Layer* layer : layers)
            {
                Place(layer, sorted);
                Release(*layer, unit, ready);
            }
        }
        return sorted;
    }

private:
    static constexpr uint32_t NoUnit = UINT32_MAX;
    struct Unit
    {
        uint32_t m_FirstLayer = 0; ///< in m_Layers
        uint32_t m_NumLayers = 0;
        size_t m_NumWaiting = 0; ///< connections from units that are not placed yet
    };

    std::span<Layer* const> LayersOf(const Unit& unit) const
    {
        return {m_Layers.data() + unit.m_FirstLayer, unit.m_NumLayers};
    }

    void CollectLayers()
    {
        uint32_t first = 0;
        for (Unit& unit : m_Units)
        {
            unit.m_FirstLayer = first;
            first += unit.m_NumLayers;
            unit.m_NumLayers = 0;
        }
        m_Layers.resize(first);
        for (Layer* layer : m_Order)
        {
            if (m_UnitOf[layer->m_Index] != NoUnit)
            {
                Unit& unit = m_Units[m_UnitOf[layer->m_Index]];
                m_Layers[unit.m_FirstLayer + unit.m_NumLayers++] = layer;
            }
        }
    }

    void CountProducers()
    {
        for (size_t i = 0; i < m_Order.size() && m_Units.size() > 1; ++i)
        {
            const Layer& layer = *m_Order[i];
            for (const InputSlot& input : layer.Inputs())
            {
                const Layer* producer = input.GetProducer();
                if (producer != nullptr && m_UnitOf[producer->m_Index] != NoUnit &&
                    m_UnitOf[producer->m_Index] != m_UnitOf[layer.m_Index])
                {
                    ++m_Units[m_UnitOf[layer.m_Index]].m_NumWaiting;
                }
            }
        }
    }

    /// The layer's consumers in other units wait for one connection less.
    template <typename Queue>
    void Release(const Layer& layer, uint32_t unit, Queue& ready)
    {
        for (const OutputSlot& output : layer.Outputs())
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

    void Place(Layer* layer, std::vector<Layer*>& sorted)
    {
        for (const InputSlot& input : layer->Inputs())
        {
            Layer* producer = input.GetProducer();
            if (producer != nullptr && m_UnitOf[producer->m_Index] == NoUnit && !m_Placed[producer->m_Index])
            {
                m_Placed[producer->m_Index] = true;
                producer->m_Subgraph = LayerAssignment::NoSubgraph;
                sorted.push_back(producer);
            }
        }
        sorted.push_back(layer);
    }

    const std::vector<Layer*>& m_Order;
    const std::vector<LayerType>& m_Types;
    std::vector<Unit> m_Units;
    std::vector<Layer*> m_Layers;   ///< those of each unit together
    std::vector<uint32_t> m_UnitOf; ///< by layer; none for an Input or Constant that is read
    std::vector<bool> m_Placed;     ///< of those
};

} // namespace

unsigned int PartitionGraph(Graph& graph)
{
    const std::vector<Layer*> order = graph.TopologicalOrder();
    ContractedGraph contracted(graph.Size());
    UniteLayers(order, graph.Types(), contracted);

    unsigned int count = 0;
    UnitOrder units(order, graph, contracted);
    graph.Sort(units.Run(
        [&count](std::span<Layer* const> layers)
        {
            const LayerType type = layers.front()->GetType();
            const bool isSubgraph = !IsBoundByRuntime(type) && !IsRunByRuntime(type);
            for (Layer* layer : layers)
            {
                layer->m_Subgraph = isSubgraph ? count : LayerAssignment::NoSubgraph;
            }
            count += isSubgraph ? 1 : 0;
        }));
    return count;
}

} // namespace tenon
