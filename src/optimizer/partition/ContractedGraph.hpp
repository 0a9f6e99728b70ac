// SPDX-License-Identifier: Apache-2.0
// ContractedGraph: acyclic clustering of a directed acyclic graph. Nodes are added in topological order; a node joins
// the clusters of its producers of the same colour (= backend) unless that would make a cycle between clusters.
// PartitionGraph() takes its subgraphs from it.
//
//     a(red) -> b(blue) -> c(red), a -> c      a and c stay apart: {a, c} -> {b} -> {a, c} would be a cycle
//     a(red) -> b(red)  -> c(red), a -> c      one cluster {a, b, c}
#pragma once

#include "common/Pages.hpp"
#include "optimizer/partition/OrderedList.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tenon
{

/// A cluster is a set of united nodes; the clusters and the edges between them are acyclic at all times.
///
/// A new node v has no consumers yet. A producer's cluster C of v's colour can be united with v unless C reaches the
/// cluster of another producer of v: only then a path from C to v leads through a third cluster. All such clusters are
/// united with v and so with each other.
///
/// What comes out is maximal: no two clusters of one colour between which there is an edge could be united without a
/// cycle. Where C is refused, a path from C to v leads through a cluster of another colour: the cluster that C reaches,
/// if it is of the same colour, was refused to C, or to one between them, for such a path itself. Uniting others never
/// takes that path away, so whoever was refused once stays refused.
///
/// Whether C reaches another producer is asked of a topological order of the clusters that is kept all the time: only
/// clusters between the two in that order can be on a path. The search goes forward and backward in turns and ends when
/// the shorter one does; without a path, the clusters that it met move in the order, so that later searches do not meet
/// them again. (Two-way search: B. Haeupler, T. Kavitha, R. Mathew, S. Sen, R. Tarjan, "Incremental cycle detection,
/// topological ordering, and strong component maintenance", ACM Transactions on Algorithms 8(1), 2012.) With a path, an
/// edge from its start to its end is added, which later searches take.
///
/// The number of steps of all searches together is bounded by a multiple of nodes and edges; past it, only the
/// producer that is last in the order is united: clusters stay acyclic but need not be maximal.
class ContractedGraph
{
public:
    static constexpr uint32_t NoColour = UINT32_MAX;

    /// For nodes 0 .. numNodes - 1.
    explicit ContractedGraph(size_t numNodes);

    /// Adds `node`, whose producers were added before. One of NoColour stays a cluster of its own.
    void Add(uint32_t node, std::span<const uint32_t> producers, uint32_t colour);

    /// The cluster of a node: one number for all its nodes, that of one of them.
    uint32_t Find(uint32_t node);

    /// Whether the bound was reached, so that the result may not be maximal.
    bool IsExhausted() const { return m_Steps + m_Order.NumLabels() > m_MaxSteps; }

private:
    struct Cluster
    {
        uint32_t m_Parent = 0; ///< union-find
        uint32_t m_Colour = NoColour;
    };
    /// Between clusters. Nodes; their clusters are found when they are read.
    struct Edges
    {
        std::vector<uint32_t> m_Producers;
        std::vector<uint32_t> m_Consumers;
    };
    /// One of the two directions of a search.
    struct Frontier
    {
        std::vector<uint32_t> m_Queue; ///< every cluster that was met, each once
        size_t m_Next = 0;             ///< in m_Queue
        size_t m_NextEdge = 0;         ///< of m_Queue[m_Next]
        // By cluster: the number of the last search that met it; the last search that saw an edge to it, and from
        // where.
        PageVector<uint32_t> m_MetIn;
        PageVector<uint32_t> m_SeenIn;
        PageVector<uint32_t> m_SeenFrom;
    };
    enum class SearchState
    {
        Running,
        ForwardEnded,
        BackwardEnded,
        Path
    };

    void CollectProducers(std::span<const uint32_t> producers);
    Edges& EdgesOf(uint32_t cluster);
    void TryUnite(uint32_t node, uint32_t cluster);
    /// Whether there is a path from `start` to another producer, or which side of the search ended without one.
    SearchState Search(uint32_t start);
    SearchState StepForward(uint32_t start);
    SearchState StepBackward(uint32_t start);
    bool NextNeighbour(Frontier& frontier, std::vector<uint32_t> Edges::*edges, uint32_t& neighbour);
    void Meet(Frontier& frontier, uint32_t cluster);
    void Unite(uint32_t kept, uint32_t gone);

    PageVector<Cluster> m_Clusters;
    PageVector<Edges> m_Edges; ///< by cluster; none as long as there is but one
    OrderedList m_Order;
    uint64_t m_Steps = 0;
    uint64_t m_MaxSteps;

    // Of the node that is being added:
    std::vector<uint32_t> m_ProducerClusters; ///< clusters of its producers, each once, the last in the order first
    PageVector<uint32_t> m_MarkedFor;         ///< by cluster: number of the last node that has it around
    uint32_t m_NumAdded = 0;
    uint32_t m_United; ///< the cluster that it is in by now, if any
    // Of the search that is under way; there is memory for it from the first one on, which most graphs never need:
    Frontier m_Forward;
    Frontier m_Backward;
    PageVector<uint32_t> m_Target; ///< by cluster that was met backward: the producer's cluster that it reaches
    uint32_t m_Reached = 0;        ///< where the path ends that was found
    uint32_t m_NumSearches = 0;
    size_t m_NextSeed = 0; ///< of m_ProducerClusters
    uint64_t m_Low = 0;    ///< labels between which a path must run
    uint64_t m_High = 0;
};

} // namespace tenon
