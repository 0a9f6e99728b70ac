// SPDX-License-Identifier: Apache-2.0
// DeadLayers: what loses its last reader goes, with all that fed it alone.
#include "optimizer/rewriting/DeadLayers.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

namespace tenon::test::dead_layers_test
{

namespace
{

Layer& AddFloor(Graph& graph, Layer& input, const char* name)
{
    Layer& layer = graph.AddLayer(LayerType::Floor, nullptr, name);
    input.Output(0).Connect(layer.Input(0));
    return layer;
}

} // namespace

TEST(DeadLayers, GoWithWhatFedThemAlone)
{
    Graph graph;
    Layer& input = graph.AddLayer(LayerType::Input, nullptr, "input");
    Layer& shared = AddFloor(graph, input, "shared");
    Layer& first = AddFloor(graph, shared, "first");
    Layer& second = AddFloor(graph, first, "second");
    Layer& output = graph.AddLayer(LayerType::Output, nullptr, "output");
    shared.Output(0).Connect(output.Input(0));
    DeadLayers deadLayers(graph);
    deadLayers.CutOffIfDead(shared);
    deadLayers.CutOffIfDead(output);
    EXPECT_EQ(shared.Output(0).GetNumConnections(), 2u) << "it is read";
    Layer& late = AddFloor(graph, second, "late"); // after `deadLayers` was made
    deadLayers.CutOffIfDead(late);
    EXPECT_EQ(shared.Output(0).GetNumConnections(), 1u);
    EXPECT_EQ(graph.Size(), 6u) << "still there to be come across";
    deadLayers.Remove();
    ASSERT_EQ(graph.Size(), 3u);
    EXPECT_EQ(graph.Layers()[1].get(), &shared);
    EXPECT_EQ(output.m_Index, 2u);
    deadLayers.Remove();
    EXPECT_EQ(graph.Size(), 3u);
}

TEST(DeadLayers, ManySlotsTakeNoLonger)
{
    // Each output of one layer feeds an input of the next: to look at all of them for each would take minutes.
    constexpr unsigned int slots = 1U << 18;
    Graph graph;
    Layer& input = graph.AddLayer(LayerType::Input, nullptr, "input");
    Layer& split = graph.AddLayer(LayerType::Splitter, std::make_unique<SplitterDescriptor>(slots), "split");
    Layer& join =
        graph.AddLayer(LayerType::Stack, std::make_unique<StackDescriptor>(0, slots, TensorShape({1})), "join");
    input.Output(0).Connect(split.Input(0));
    for (unsigned int i = 0; i < slots; ++i)
    {
        split.Output(i).Connect(join.Input(i));
    }
    DeadLayers deadLayers(graph);
    deadLayers.CutOffIfDead(join);
    deadLayers.Remove();
    EXPECT_EQ(graph.Size(), 2u) << "layers of many outputs are left to RemoveDeadLayers";
    EXPECT_EQ(graph.NumUnread(), size_t{slots});
}

TEST(DeadLayers, InputsStay)
{
    Graph graph;
    Layer& input = graph.AddLayer(LayerType::Input, nullptr, "input");
    DeadLayers deadLayers(graph);
    deadLayers.CutOffIfDead(AddFloor(graph, input, "floor"));
    deadLayers.Remove();
    ASSERT_EQ(graph.Size(), 1u);
    EXPECT_EQ(graph.Layers()[0].get(), &input);
}

} // namespace tenon::test::dead_layers_test
