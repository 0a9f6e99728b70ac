// SPDX-License-Identifier: Apache-2.0
// ContractedGraph: see ContractedGraph.hpp.
#include "optimizer/partition/ContractedGraph.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

constexpr uint32_t NoCluster = UINT32_MAX;
/// Steps of all searches together, by nodes and edges: some seconds for a million layers that are made for it.
constexpr uint64_t StepsPerEdge = 200;
constexpr uint64_t FreeSteps = uint64_t{1} << 24;
/// A path that took fewer steps to find is found again as fast without a shortcut.
constexpr uint64_t ShortSearch = 8;

} // namespace

ContractedGraph::ContractedGraph(size_t numNodes)
    : m_Clusters(numNodes), m_MaxSteps(FreeSteps), m_MarkedFor(numNodes, 0), m_United(NoCluster)
{
}

uint32_t ContractedGraph::Find(uint32_t node)
{
    while (m_Clusters[node].m_Parent != node)
    {
        m_Clusters[node].m_Parent = m_Clusters[m_Clusters[node].m_Parent].m_Parent;
        node = m_Clusters[node].m_Parent;
    }
    return node;
}

void ContractedGraph::Add(uint32_t node, std::span<const uint32_t> producers, uint32_t colour)
{
    m_MaxSteps += StepsPerEdge * (1 + producers.size());
    m_Clusters[node].m_Parent = node;
    m_Clusters[node].m_Colour = colour;
    CollectProducers(producers);
    m_United = NoCluster;
    for (size_t i = 0; i < m_ProducerClusters.size() && colour != NoColour; ++i)
    {
        const uint32_t cluster = m_ProducerClusters[i];
        if (m_Clusters[cluster].m_Colour != colour)
        {
            continue;
        }
        if (i == 0) // it comes after all others, so it reaches none
        {
            m_Clusters[node].m_Parent = cluster;
            m_United = cluster;
        }
        else
        {
            TryUnite(node, cluster);
        }
    }
    if (m_United == NoCluster)
    {
        m_Order.Append(node);
    }
    const uint32_t own = Find(node);
    for (const uint32_t producer : m_ProducerClusters)
    {
        const uint32_t cluster = Find(producer);
        if (cluster != own)
        {
            EdgesOf(cluster).m_Consumers.push_back(node);
            EdgesOf(own).m_Producers.push_back(producer);
        }
    }
}

ContractedGraph::Edges& ContractedGraph::EdgesOf(uint32_t cluster)
{
    if (m_Edges.empty())
    {
        m_Edges.resize(m_Clusters.size());
    }
    return m_Edges[cluster];
}

void ContractedGraph::CollectProducers(std::span<const uint32_t> producers)
{
    ++m_NumAdded;
    m_ProducerClusters.clear();
    for (const uint32_t producer : producers)
    {
        const uint32_t cluster = Find(producer);
        if (m_MarkedFor[cluster] != m_NumAdded)
        {
            m_MarkedFor[cluster] = m_NumAdded;
            m_ProducerClusters.push_back(cluster);
        }
    }
    std::sort(m_ProducerClusters.begin(), m_ProducerClusters.end(),
              [&](uint32_t a, uint32_t b) { return m_Order.Label(a) > m_Order.Label(b); });
}

void ContractedGraph::TryUnite(uint32_t node, uint32_t cluster)
{
    const SearchState end = Search(cluster);
    if (end == SearchState::Path)
    {
        return;
    }
    // What stood between the cluster and the other producers moves, so that the cluster can stand after them.
    const bool isForward = end == SearchState::ForwardEnded;
    std::vector<uint32_t>& items = (isForward ? m_Forward : m_Backward).m_Queue;
    const uint32_t united = m_United; // goes into `cluster` or takes it up: either way it need not move
    const uint32_t last = united != NoCluster ? united : m_ProducerClusters[0];
    items.erase(std::remove(items.begin(), items.end(), united != NoCluster && isForward ? cluster : united),
                items.end());
    std::sort(items.begin(), items.end(), [&](uint32_t a, uint32_t b) { return m_Order.Label(a) < m_Order.Label(b); });
    if (isForward)
    {
        m_Order.MoveAfter(items, last);
    }
    else
    {
        m_Order.MoveBefore(items, cluster);
    }
    if (united == NoCluster)
    {
        m_Clusters[node].m_Parent = cluster;
        m_United = cluster;
    }
    else if (isForward)
    {
        Unite(united, cluster);
    }
    else
    {
        Unite(cluster, united);
        m_United = cluster;
    }
}

ContractedGraph::SearchState ContractedGraph::Search(uint32_t start)
{
    if (IsExhausted())
    {
        return SearchState::Path;
    }
    if (m_NumSearches++ == 0)
    {
        const size_t numNodes = m_Clusters.size();
        m_Target.assign(numNodes, 0);
        for (Frontier* frontier : {&m_Forward, &m_Backward})
        {
            frontier->m_MetIn.assign(numNodes, 0);
            frontier->m_SeenFrom.assign(numNodes, 0);
            frontier->m_SeenIn.assign(numNodes, 0);
        }
    }
    m_NextSeed = 0;
    m_Low = m_Order.Label(start);
    m_High = m_Order.Label(m_United != NoCluster ? m_United : m_ProducerClusters[0]);
    for (Frontier* frontier : {&m_Forward, &m_Backward})
    {
        frontier->m_Queue.clear();
        frontier->m_Next = 0;
        frontier->m_NextEdge = 0;
    }
    Meet(m_Forward, start);
    const uint64_t before = m_Steps;
    SearchState state = SearchState::Running;
    while (state == SearchState::Running)
    {
        state = StepForward(start);
        if (state == SearchState::Running)
        {
            state = StepBackward(start);
        }
    }
    if (state == SearchState::Path && m_Steps - before > ShortSearch)
    {
        EdgesOf(start).m_Consumers.push_back(m_Reached);
        EdgesOf(m_Reached).m_Producers.push_back(start);
    }
    return state;
}

ContractedGraph::SearchState ContractedGraph::StepForward(uint32_t start)
{
    uint32_t consumer = 0;
    if (!NextNeighbour(m_Forward, &Edges::m_Consumers, consumer))
    {
        return m_Forward.m_Next == m_Forward.m_Queue.size() ? SearchState::ForwardEnded : SearchState::Running;
    }
    const bool isProducer = m_MarkedFor[consumer] == m_NumAdded && consumer != start;
    if (isProducer || m_Backward.m_MetIn[consumer] == m_NumSearches)
    {
        m_Reached = isProducer ? consumer : m_Target[consumer];
        return SearchState::Path;
    }
    if (m_Order.Label(consumer) < m_High)
    {
        Meet(m_Forward, consumer);
    }
    return SearchState::Running;
}

ContractedGraph::SearchState ContractedGraph::StepBackward(uint32_t start)
{
    if (m_NextSeed < m_ProducerClusters.size())
    {
        ++m_Steps;
        const uint32_t seed = Find(m_ProducerClusters[m_NextSeed++]);
        if (seed != start && m_Order.Label(seed) > m_Low)
        {
            m_Target[seed] = seed;
            Meet(m_Backward, seed);
        }
        return SearchState::Running;
    }
    uint32_t producer = 0;
    if (!NextNeighbour(m_Backward, &Edges::m_Producers, producer))
    {
        return m_Backward.m_Next == m_Backward.m_Queue.size() ? SearchState::BackwardEnded : SearchState::Running;
    }
    const uint32_t target = m_Target[m_Backward.m_Queue[m_Backward.m_Next]];
    if (m_Forward.m_MetIn[producer] == m_NumSearches) // the start was met first of all
    {
        m_Reached = target;
        return SearchState::Path;
    }
    if (m_Order.Label(producer) > m_Low && m_Backward.m_MetIn[producer] != m_NumSearches)
    {
        m_Target[producer] = target;
        Meet(m_Backward, producer);
    }
    return SearchState::Running;
}

bool ContractedGraph::NextNeighbour(Frontier& frontier, std::vector<uint32_t> Edges::*edges, uint32_t& neighbour)
{
    ++m_Steps;
    if (frontier.m_Next == frontier.m_Queue.size())
    {
        return false;
    }
    const uint32_t from = frontier.m_Queue[frontier.m_Next];
    std::vector<uint32_t>& list = EdgesOf(from).*edges;
    while (frontier.m_NextEdge < list.size())
    {
        uint32_t& entry = list[frontier.m_NextEdge];
        entry = Find(entry);
        const bool repeats = frontier.m_SeenIn[entry] == m_NumSearches && frontier.m_SeenFrom[entry] == from;
        if (entry != from && !repeats)
        {
            frontier.m_SeenIn[entry] = m_NumSearches;
            frontier.m_SeenFrom[entry] = from;
            ++frontier.m_NextEdge;
            neighbour = entry;
            return true;
        }
        // An edge within the cluster, or one that is there already: nobody needs it again.
        entry = list.back();
        list.pop_back();
        ++m_Steps;
    }
    ++frontier.m_Next;
    frontier.m_NextEdge = 0;
    return false;
}

void ContractedGraph::Meet(Frontier& frontier, uint32_t cluster)
{
    if (frontier.m_MetIn[cluster] != m_NumSearches)
    {
        frontier.m_MetIn[cluster] = m_NumSearches;
        frontier.m_Queue.push_back(cluster);
    }
}

void ContractedGraph::Unite(uint32_t kept, uint32_t gone)
{
    m_Order.Remove(gone);
    m_Clusters[gone].m_Parent = kept;
    for (std::vector<uint32_t> Edges::*edges : {&Edges::m_Producers, &Edges::m_Consumers})
    {
        std::vector<uint32_t>& to = EdgesOf(kept).*edges;
        std::vector<uint32_t>& from = EdgesOf(gone).*edges;
        if (to.size() < from.size()) // the shorter list is copied
        {
            to.swap(from);
        }
        to.insert(to.end(), from.begin(), from.end());
        std::vector<uint32_t>().swap(from);
    }
}

} // namespace tenon
