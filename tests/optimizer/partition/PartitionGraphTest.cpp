// SPDX-License-Identifier: Apache-2.0
// PartitionGraph on random graphs: order of execution, numbers, and what belongs to no subgraph. What belongs together
// is tested with ContractedGraph.
#include "optimizer/partition/PartitionGraph.hpp"

#include "optimizer/assignment/Assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::test::partition_graph_test
{

namespace
{

/// Layers of three backends, of the runtime and of the ends, in any order of addition.
std::unique_ptr<Graph> MakeRandomGraph(std::mt19937& random)
{
    const auto pick = [&random](uint32_t below) { return static_cast<uint32_t>(random() % below); };
    auto graph = std::make_unique<Graph>();
    std::vector<Layer*> sources;
    const uint32_t size = 2 + pick(39);
    for (uint32_t i = 0; i < size; ++i)
    {
        const uint32_t kind = pick(10);
        Layer* layer = nullptr;
        if (sources.empty() || kind == 0)
        {
            layer = &graph->AddLayer(kind % 2 == 0 ? LayerType::Input : LayerType::Constant, nullptr, "end");
        }
        else if (kind == 1)
        {
            layer = &graph->AddLayer(LayerType::Output, nullptr, "end");
        }
        else if (kind == 2)
        {
            layer = &graph->AddLayer(LayerType::ReadState, std::make_unique<StateDescriptor>("state"), "run");
        }
        else
        {
            layer = &graph->AddLayer(LayerType::ElementwiseBinary, std::make_unique<ElementwiseBinaryDescriptor>(), "");
        }
        layer->SetBackendId(std::string(1, static_cast<char>('A' + pick(3))));
        for (InputSlot& input : layer->Inputs())
        {
            sources[pick(static_cast<uint32_t>(sources.size()))]->Output(0).Connect(input);
        }
        if (layer->GetNumOutputSlots() != 0)
        {
            sources.push_back(layer);
        }
    }
    PageVector<Layer*> order;
    for (const auto& layer : graph->Layers())
    {
        order.push_back(layer.get());
    }
    std::shuffle(order.begin(), order.end(), random);
    graph->Sort(order);
    return graph;
}

} // namespace

TEST(PartitionGraph, OrdersSubgraphsForExecution)
{
    std::mt19937 random(3);
    for (int i = 0; i < 1000; ++i)
    {
        SCOPED_TRACE(i);
        const std::unique_ptr<Graph> graph = MakeRandomGraph(random);
        const size_t size = graph->Size();
        const std::unique_ptr<Graph> copy = graph->Clone();
        const auto inputs = graph->LayersOf(LayerType::Input);
        const auto outputs = graph->LayersOf(LayerType::Output);
        const unsigned int count = PartitionGraph(*graph);
        ASSERT_EQ(graph->Size(), size);
        for (size_t k = 0; k < inputs.size(); ++k)
        {
            ASSERT_EQ(graph->Layers()[k].get(), inputs[k]);
        }
        for (size_t k = 0; k < outputs.size(); ++k)
        {
            ASSERT_EQ(graph->Layers()[size - outputs.size() + k].get(), outputs[k]);
        }
        std::vector<std::string> backends(count);
        unsigned int next = 0; // number of the next subgraph
        for (const auto& layer : graph->Layers())
        {
            for (const InputSlot& input : layer->Inputs())
            {
                ASSERT_LT(input.GetProducer()->m_Index, layer->m_Index);
            }
            if (IsBoundByRuntime(layer->GetType()) || IsRunByRuntime(layer->GetType()))
            {
                ASSERT_EQ(layer->m_Subgraph, LayerAssignment::NoSubgraph);
                continue;
            }
            ASSERT_TRUE(layer->m_Subgraph == next || layer->m_Subgraph + 1 == next) << "not together, or out of order";
            if (layer->m_Subgraph == next)
            {
                backends[next++] = layer->GetBackendId().Get();
            }
            ASSERT_EQ(layer->GetBackendId().Get(), backends[layer->m_Subgraph]);
        }
        ASSERT_EQ(next, count);
        // The same graph is cut in the same way, and cutting it again changes nothing.
        ASSERT_EQ(PartitionGraph(*copy), count);
        const auto guids = [](const Graph& ordered)
        {
            std::vector<LayerGuid> list;
            for (const auto& layer : ordered.Layers())
            {
                list.push_back(layer->GetGuid());
            }
            return list;
        };
        ASSERT_EQ(guids(*copy), guids(*graph));
        ASSERT_EQ(PartitionGraph(*graph), count);
    }
}

TEST(PartitionGraph, KeepsTheUsersOrderWhereItCan)
{
    Graph graph;
    const auto add = [&graph](LayerType type, const char* backend, Layer* input)
    {
        Layer& layer = graph.AddLayer(type, nullptr, "");
        layer.SetBackendId(backend);
        if (input != nullptr)
        {
            input->Output(0).Connect(layer.Input(0));
        }
        return &layer;
    };
    Layer* first = add(LayerType::Input, "A", nullptr);
    Layer* floor = add(LayerType::Floor, "A", first);
    Layer* out = add(LayerType::Output, "A", floor);
    Layer* second = add(LayerType::Input, "A", nullptr);
    Layer* other = add(LayerType::Floor, "B", second);
    Layer* last = add(LayerType::Floor, "B", other);
    Layer* lastOut = add(LayerType::Output, "B", last);
    Layer* unread = add(LayerType::Input, "A", nullptr);
    EXPECT_EQ(PartitionGraph(graph), 2u);
    const std::vector<Layer*> wanted = {first, second, unread, floor, other, last, out, lastOut};
    ASSERT_EQ(graph.Size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
    {
        EXPECT_EQ(graph.Layers()[i].get(), wanted[i]) << i;
    }
}

} // namespace tenon::test::partition_graph_test
