// SPDX-License-Identifier: Apache-2.0
// PartitionGraph: see PartitionGraph.hpp. ContractedGraph decides what belongs together; here layers become its nodes,
// and its clusters become subgraphs in an order of execution.
#include "optimizer/partition/PartitionGraph.hpp"

#include "optimizer/partition/ContractedGraph.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
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

/// Producers of each layer by index. Many layers are larger than the caches, so they are read once, and the rest works
/// on these few bytes.
class Producers
{
public:
    explicit Producers(size_t numLayers)
    {
        m_First.reserve(numLayers + 1);
        m_First.push_back(0);
        m_Producers.reserve(numLayers);
    }

    /// Of the next layer, one for each connected input.
    void Append(const Layer& layer)
    {
        for (const InputSlot& input : layer.Inputs())
        {
            if (const Layer* producer = input.GetProducer())
            {
                m_Producers.push_back(producer->m_Index);
            }
        }
        m_First.push_back(m_Producers.size());
    }
    std::span<const uint32_t> operator[](size_t layer) const
    {
        return {m_Producers.data() + m_First[layer], m_First[layer + 1] - m_First[layer]};
    }

private:
    PageVector<size_t> m_First;
    PageVector<uint32_t> m_Producers;
};

/// Unites layers of one backend. What the runtime binds has no part in it: no path leads through an end of the network.
/// The graph is in order.
Producers UniteLayers(const Graph& graph, ContractedGraph& contracted)
{
    const PageVector<LayerType>& types = graph.Types();
    Producers producers(graph.Size());
    Colours colours;
    std::vector<uint32_t> around;
    for (const auto& layer : graph.Layers())
    {
        producers.Append(*layer);
        const uint32_t i = layer->m_Index;
        if (IsBoundByRuntime(types[i]))
        {
            continue;
        }
        around.clear();
        std::copy_if(producers[i].begin(), producers[i].end(), std::back_inserter(around),
                     [&](uint32_t producer) { return !IsBoundByRuntime(types[producer]); });
        contracted.Add(i, around, colours.Of(*layer));
    }
    return producers;
}

/// Puts units, which are the clusters and the single layers that belong to none, in order: of those that are ready the
/// one whose first layer comes first, so that the user's order stays wherever it can.
class UnitOrder
{
public:
    UnitOrder(const Graph& graph, const Producers& producers, ContractedGraph& contracted)
        : m_Producers(producers), m_UnitOf(graph.Size(), NoUnit), m_Placed(graph.Size(), false)
    {
        const PageVector<LayerType>& types = graph.Types();
        PageVector<uint32_t> unitOfCluster(graph.Size(), NoUnit);
        for (uint32_t i = 0; i < graph.Size(); ++i)
        {
            uint32_t* unit = &m_UnitOf[i];
            if (!IsBoundByRuntime(types[i]))
            {
                unit = &unitOfCluster[contracted.Find(i)];
            }
            else if (types[i] != LayerType::Output && graph.Layers()[i]->Output(0).GetNumConnections() != 0)
            {
                continue; // goes before its first consumer
            }
            if (*unit == NoUnit)
            {
                *unit = static_cast<uint32_t>(m_Units.size());
                m_Units.emplace_back();
            }
            ++m_Units[*unit].m_NumLayers;
            m_UnitOf[i] = *unit;
        }
        CollectLayers();
        CollectConsumers();
    }

    /// Returns the new order; calls visit(layers of a unit) for each.
    template <typename Visit>
    PageVector<uint32_t> Run(Visit visit)
    {
        // Units have the numbers of their first layers' order.
        std::priority_queue<uint32_t, PageVector<uint32_t>, std::greater<>> ready;
        for (uint32_t unit = 0; unit < m_Units.size(); ++unit)
        {
            if (m_Units[unit].m_NumWaiting == 0)
            {
                ready.push(unit);
            }
        }
        PageVector<uint32_t> sorted;
        sorted.reserve(m_UnitOf.size());
        while (!ready.empty())
        {
            const Unit& unit = m_Units[ready.top()];
            ready.pop();
            const std::span<const uint32_t> layers{m_Layers.data() + unit.m_FirstLayer, unit.m_NumLayers};
            visit(layers);
            for (const uint32_t layer : layers)
            {
                Place(layer, sorted);
            }
            for (size_t i = 0; i < unit.m_NumConsumers; ++i)
            {
                const uint32_t consumer = m_Consumers[unit.m_FirstConsumer + i];
                if (--m_Units[consumer].m_NumWaiting == 0)
                {
                    ready.push(consumer);
                }
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
        size_t m_FirstConsumer = 0; ///< in m_Consumers
        size_t m_NumConsumers = 0;
        size_t m_NumWaiting = 0; ///< connections from units that are not placed yet
    };

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
        for (uint32_t i = 0; i < m_UnitOf.size(); ++i)
        {
            if (m_UnitOf[i] != NoUnit)
            {
                Unit& unit = m_Units[m_UnitOf[i]];
                m_Layers[unit.m_FirstLayer + unit.m_NumLayers++] = i;
            }
        }
    }

    /// Calls visit(from, to) for each connection between two units.
    template <typename Visit>
    void ForEachConnection(Visit visit)
    {
        for (size_t i = 0; i < m_UnitOf.size() && m_Units.size() > 1; ++i)
        {
            for (const uint32_t producer : m_Producers[i])
            {
                if (m_UnitOf[producer] != NoUnit && m_UnitOf[producer] != m_UnitOf[i])
                {
                    visit(m_Units[m_UnitOf[producer]], m_UnitOf[i]);
                }
            }
        }
    }

    void CollectConsumers()
    {
        size_t count = 0;
        ForEachConnection(
            [&](Unit& from, uint32_t to)
            {
                ++from.m_NumConsumers;
                ++m_Units[to].m_NumWaiting;
                ++count;
            });
        m_Consumers.resize(count);
        size_t first = 0;
        for (Unit& unit : m_Units)
        {
            unit.m_FirstConsumer = first;
            first += unit.m_NumConsumers;
            unit.m_NumConsumers = 0;
        }
        ForEachConnection([&](Unit& from, uint32_t to)
                          { m_Consumers[from.m_FirstConsumer + from.m_NumConsumers++] = to; });
    }

    /// The layer, before it what is bound and feeds it.
    void Place(uint32_t layer, PageVector<uint32_t>& sorted)
    {
        for (const uint32_t producer : m_Producers[layer])
        {
            if (m_UnitOf[producer] == NoUnit && !m_Placed[producer])
            {
                m_Placed[producer] = true;
                sorted.push_back(producer);
            }
        }
        sorted.push_back(layer);
    }

    const Producers& m_Producers;
    PageVector<Unit> m_Units;
    PageVector<uint32_t> m_Layers;    ///< those of each unit together
    PageVector<uint32_t> m_Consumers; ///< of each unit together: a unit for each connection
    PageVector<uint32_t> m_UnitOf;    ///< by layer; none for an Input or Constant that is read
    std::vector<bool> m_Placed;       ///< of those
};

} // namespace

unsigned int PartitionGraph(Graph& graph)
{
    const LayerOrder inputs = graph.LayersOf(LayerType::Input); // as they were declared
    const LayerOrder outputs = graph.LayersOf(LayerType::Output);
    graph.Sort(graph.TopologicalOrder().Get());
    ContractedGraph contracted(graph.Size());
    const Producers producers = UniteLayers(graph, contracted);

    const PageVector<LayerType>& types = graph.Types();
    PageVector<uint32_t> subgraphs(graph.Size(), LayerAssignment::NoSubgraph);
    unsigned int count = 0;
    const PageVector<uint32_t> order =
        UnitOrder(graph, producers, contracted)
            .Run(
                [&](std::span<const uint32_t> layers)
                {
                    const LayerType type = types[layers.front()];
                    if (!IsBoundByRuntime(type) && !IsRunByRuntime(type))
                    {
                        std::for_each(layers.begin(), layers.end(), [&](uint32_t i) { subgraphs[i] = count; });
                        ++count;
                    }
                });
    for (const auto& layer : graph.Layers())
    {
        layer->m_Subgraph = subgraphs[layer->m_Index];
    }
    PageVector<Layer*> layers;
    layers.reserve(graph.Size());
    std::copy(inputs.begin(), inputs.end(), std::back_inserter(layers));
    for (const uint32_t i : order)
    {
        if (types[i] != LayerType::Input && types[i] != LayerType::Output)
        {
            layers.push_back(graph.Layers()[i].get());
        }
    }
    std::copy(outputs.begin(), outputs.end(), std::back_inserter(layers));
    graph.Sort(layers);
    return count;
}

} // namespace tenon
