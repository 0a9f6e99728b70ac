// SPDX-License-Identifier: Apache-2.0
// ContractedGraph against brute force: clusters are connected and of one colour, acyclic, and maximal.
#include "optimizer/partition/ContractedGraph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tenon::test::contracted_graph_test
{

namespace
{

/// Nodes in topological order: producers have smaller numbers.
struct ColouredGraph
{
    std::vector<std::vector<uint32_t>> m_Producers;
    std::vector<uint32_t> m_Colours;

    size_t Size() const { return m_Colours.size(); }
    void Add(uint32_t colour, std::vector<uint32_t> producers)
    {
        m_Colours.push_back(colour);
        m_Producers.push_back(std::move(producers));
    }
};

struct Clustering
{
    std::vector<uint32_t> m_ClusterOf;
    bool m_IsExhausted = false;
};

Clustering Contract(const ColouredGraph& graph)
{
    ContractedGraph contracted(graph.Size());
    for (uint32_t node = 0; node < graph.Size(); ++node)
    {
        contracted.Add(node, graph.m_Producers[node], graph.m_Colours[node]);
    }
    Clustering result;
    for (uint32_t node = 0; node < graph.Size(); ++node)
    {
        result.m_ClusterOf.push_back(contracted.Find(node));
    }
    result.m_IsExhausted = contracted.IsExhausted();
    return result;
}

/// Whether the graph of clusters has a cycle, by taking away clusters without producers.
bool HasCycle(const ColouredGraph& graph, const std::vector<uint32_t>& clusterOf)
{
    std::set<uint32_t> left(clusterOf.begin(), clusterOf.end());
    std::set<std::pair<uint32_t, uint32_t>> edges;
    for (uint32_t node = 0; node < graph.Size(); ++node)
    {
        for (const uint32_t producer : graph.m_Producers[node])
        {
            if (clusterOf[producer] != clusterOf[node])
            {
                edges.emplace(clusterOf[producer], clusterOf[node]);
            }
        }
    }
    while (!left.empty())
    {
        std::set<uint32_t> blocked;
        for (const auto& [from, to] : edges)
        {
            blocked.insert(to);
        }
        const size_t before = left.size();
        for (auto it = left.begin(); it != left.end();)
        {
            it = blocked.count(*it) == 0 ? left.erase(it) : std::next(it);
        }
        if (left.size() == before)
        {
            return true;
        }
        std::erase_if(edges, [&](const auto& edge) { return left.count(edge.first) == 0; });
    }
    return false;
}

bool IsConnected(const ColouredGraph& graph, const std::vector<uint32_t>& clusterOf, uint32_t cluster)
{
    std::set<uint32_t> reached = {cluster};
    for (bool grew = true; grew;)
    {
        grew = false;
        for (uint32_t node = 0; node < graph.Size(); ++node)
        {
            for (const uint32_t producer : graph.m_Producers[node])
            {
                if (clusterOf[node] == cluster && clusterOf[producer] == cluster &&
                    reached.count(node) != reached.count(producer))
                {
                    reached.insert({node, producer});
                    grew = true;
                }
            }
        }
    }
    return reached.size() == static_cast<size_t>(std::count(clusterOf.begin(), clusterOf.end(), cluster));
}

void ExpectProperties(const ColouredGraph& graph, const std::string& what)
{
    const Clustering clustering = Contract(graph);
    const std::vector<uint32_t>& clusterOf = clustering.m_ClusterOf;
    ASSERT_FALSE(clustering.m_IsExhausted) << what;
    ASSERT_EQ(Contract(graph).m_ClusterOf, clusterOf) << what;
    ASSERT_FALSE(HasCycle(graph, clusterOf)) << what;
    for (uint32_t node = 0; node < graph.Size(); ++node)
    {
        const uint32_t cluster = clusterOf[node];
        ASSERT_EQ(graph.m_Colours[node], graph.m_Colours[cluster]) << what;
        ASSERT_TRUE(graph.m_Colours[node] != ContractedGraph::NoColour || cluster == node) << what;
        ASSERT_TRUE(cluster != node || IsConnected(graph, clusterOf, cluster)) << what << " cluster " << cluster;
        for (const uint32_t producer : graph.m_Producers[node])
        {
            if (graph.m_Colours[node] == ContractedGraph::NoColour ||
                graph.m_Colours[node] != graph.m_Colours[producer] || clusterOf[producer] == cluster)
            {
                continue;
            }
            std::vector<uint32_t> merged = clusterOf;
            std::replace(merged.begin(), merged.end(), clusterOf[producer], cluster);
            ASSERT_TRUE(HasCycle(graph, merged))
                << what << ": clusters " << clusterOf[producer] << " and " << cluster << " could be one";
        }
    }
}

ColouredGraph MakeRandomGraph(std::mt19937& random)
{
    const auto pick = [&random](uint32_t low, uint32_t high)
    { return std::uniform_int_distribution<uint32_t>(low, high)(random); };
    const uint32_t size = pick(2, 40);
    const uint32_t colours = pick(1, 4);
    const uint32_t maxProducers = pick(1, 4);
    const uint32_t reach = pick(1, size); // how far back producers lie
    const bool hasUncoloured = pick(0, 2) == 0;
    ColouredGraph graph;
    for (uint32_t node = 0; node < size; ++node)
    {
        std::vector<uint32_t> producers;
        for (uint32_t i = node == 0 ? 0 : pick(0, maxProducers); i > 0; --i)
        {
            producers.push_back(pick(node > reach ? node - reach : 0, node - 1));
        }
        const bool isUncoloured = hasUncoloured && pick(0, 9) == 0;
        graph.Add(isUncoloured ? ContractedGraph::NoColour : pick(0, colours - 1), std::move(producers));
    }
    return graph;
}

} // namespace

TEST(ContractedGraph, RandomGraphsAreCutSafelyAndMaximally)
{
    std::mt19937 random(1);
    for (int i = 0; i < 4000 && !testing::Test::HasFatalFailure(); ++i)
    {
        ExpectProperties(MakeRandomGraph(random), "graph " + std::to_string(i));
    }
}

TEST(ContractedGraph, CycleThroughAnotherColourKeepsTwoApart)
{
    ColouredGraph graph;
    graph.Add(0, {});     // a
    graph.Add(1, {0});    // b
    graph.Add(0, {0, 1}); // c reads a directly and through b
    graph.Add(0, {0});    // d reads a only
    const auto clusterOf = Contract(graph).m_ClusterOf;
    EXPECT_EQ(clusterOf[0], clusterOf[3]);
    EXPECT_NE(clusterOf[0], clusterOf[2]);
}

TEST(ContractedGraph, LaterLayersJoinAnEarlierOneThatTheyDoNotWaitFor)
{
    // By levels of changes of colour, 2 would be alone: it is one change later than 0, with which it is connected.
    ColouredGraph graph;
    graph.Add(0, {});
    graph.Add(1, {});
    graph.Add(0, {0, 1});
    const auto clusterOf = Contract(graph).m_ClusterOf;
    EXPECT_EQ(clusterOf[0], clusterOf[2]);
}

TEST(ContractedGraph, LargeGraphsStayWithinTheBound)
{
    constexpr uint32_t size = 20000;
    std::map<std::string, ColouredGraph> graphs;
    for (uint32_t i = 0; i < size; ++i)
    {
        const uint32_t last = i == 0 ? 0 : i - 1;
        const auto chain = i == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{last};
        graphs["alternating chain"].Add(i % 2, chain);
        // one early tensor that every layer, or every layer of one colour, reads
        graphs["all read the first"].Add(i % 2, i == 0 ? chain : std::vector<uint32_t>{0, last});
        graphs["one colour reads the first"].Add(i % 2, i == 0 || i % 2 != 0 ? chain : std::vector<uint32_t>{0, last});
        // a chain of both colours and, beside it, layers that read it and an early one, but feed nothing
        graphs["heads, reached"].Add(i % 3 == 1 ? 1 : 0, i < 3        ? chain
                                                         : i % 3 == 2 ? std::vector<uint32_t>{0, last}
                                                         : i % 3 == 0 ? std::vector<uint32_t>{i - 2}
                                                                      : chain);
        graphs["heads, not reached"].Add(i % 2, i < 2        ? std::vector<uint32_t>{}
                                                : i % 2 == 0 ? std::vector<uint32_t>{0, last}
                                                             : std::vector<uint32_t>{i - 2});
        graphs["one wide diamond"].Add(i % 2, i == 0 ? chain : std::vector<uint32_t>{0});
        graphs["diamonds"].Add(i % 4 == 1 ? 1 : 0, i < 4        ? std::vector<uint32_t>{}
                                                   : i % 4 == 0 ? std::vector<uint32_t>{i - 2, i - 1}
                                                   : i % 4 == 3 ? std::vector<uint32_t>{i - 3}
                                                                : std::vector<uint32_t>{last});
    }
    std::vector<uint32_t> all(size);
    std::iota(all.begin(), all.end(), 0);
    graphs["one wide diamond"].Add(0, all);
    for (const auto& [name, graph] : graphs)
    {
        const Clustering clustering = Contract(graph);
        EXPECT_FALSE(clustering.m_IsExhausted) << name;
        EXPECT_LE(std::set<uint32_t>(clustering.m_ClusterOf.begin(), clustering.m_ClusterOf.end()).size(), graph.Size())
            << name;
    }
}

} // namespace tenon::test::contracted_graph_test
