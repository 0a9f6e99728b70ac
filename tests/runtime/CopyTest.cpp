// SPDX-License-Identifier: Apache-2.0
// Layers that turn out to copy their input for the shapes of a run: they share its memory, and only in such runs.
#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"
#include "runtime/PlanBuilder.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::copy_test
{

namespace
{

using Maker = std::function<IConnectableLayer*(INetwork&)>;

/// input -> abs -> the layer -> abs -> output
INetworkPtr MakeNetwork(const Maker& make, const TensorShape& shape)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* before = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
    IConnectableLayer* after = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg));
    Connect(AddInput(*network, 0, TensorInfo(shape, DataType::Float32)), before);
    IConnectableLayer* layer = make(*network);
    Connect(before, layer);
    Connect(layer, after);
    Connect(after, network->AddOutputLayer(0));
    return network;
}

/// Whether the layer's output lies where its input does, for an input of this shape.
bool Shares(const Maker& make, const TensorShape& shape)
{
    const INetworkPtr network = MakeNetwork(make, shape);
    const IRuntimePtr runtime = IRuntime::Create({});
    BackendRegistry registry;
    RegisterBuiltinBackends(registry);
    Profiler profiler;
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    const MemorySpaces memories(registry, {});
    ThreadPool pool;
    const ModelOptions modelOptions;
    WorkloadFactories factories(registry, modelOptions, pool, 1, profiler);
    const Program program(static_cast<OptimizedNetwork&>(*optimized).TakeGraph(), memories, factories);
    const auto made = BuildPlan(program, {shape}, Limits(), PlanOptions());
    const Plan& plan = *made;
    EXPECT_EQ(plan.Steps().size(), 3u);
    const Step& step = program.Steps()[1];
    const Location& input = plan.Locations()[step.m_Inputs[0]];
    const Location& output = plan.Locations()[step.m_FirstOutput];
    return input.m_Place == output.m_Place && input.m_Offset == output.m_Offset;
}

} // namespace

TEST(Copy, SharesMemoryWhereTheShapesMakeItOne)
{
    const Maker transpose = [](INetwork& network) {
        return network.AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}));
    };
    EXPECT_TRUE(Shares(transpose, {2, 3, 4, 1}));
    EXPECT_TRUE(Shares(transpose, {2, 1, 1, 4}));
    EXPECT_FALSE(Shares(transpose, {1, 3, 1, 2}));

    const Maker slice = [](INetwork& network) { return network.AddSliceLayer(SliceDescriptor({0, 0}, {2, 3})); };
    EXPECT_TRUE(Shares(slice, {2, 3}));
    EXPECT_TRUE(Shares(slice, {3, 3})); // it begins there
    EXPECT_FALSE(Shares(slice, {2, 4}));

    StridedSliceDescriptor strided({0, 0}, {9, 9}, {1, 1});
    EXPECT_TRUE(Shares([&](INetwork& network) { return network.AddStridedSliceLayer(strided); }, {2, 3}));
    strided.m_Stride = {1, -1};
    strided.m_BeginMask = 2;
    strided.m_EndMask = 2;
    EXPECT_FALSE(Shares([&](INetwork& network) { return network.AddStridedSliceLayer(strided); }, {2, 3}));

    EXPECT_TRUE(Shares([](INetwork& network) { return network.AddTileLayer(TileDescriptor({1, 1})); }, {2, 3}));
    EXPECT_FALSE(Shares([](INetwork& network) { return network.AddTileLayer(TileDescriptor({2, 1})); }, {2, 3}));

    const Maker broadcast = [](INetwork& network) {
        return network.AddBroadcastToLayer(BroadcastToDescriptor(TensorShape({1, 2, 3})));
    };
    EXPECT_TRUE(Shares(broadcast, {2, 3}));
    EXPECT_FALSE(Shares(broadcast, {1, 3}));

    OriginsDescriptor one(1, 2);
    EXPECT_TRUE(Shares([&](INetwork& network) { return network.AddConcatLayer(one); }, {2, 3}));
    EXPECT_TRUE(
        Shares([](INetwork& network) { return network.AddStackLayer(StackDescriptor(0, 1, TensorShape())); }, {2, 3}));
}

TEST(Copy, RunsOfOtherShapesMove)
{
    const INetworkPtr network = MakeNetwork(
        [](INetwork& net) {
            return net.AddTransposeLayer(TransposeDescriptor({1, 0}));
        },
        {1, 4});
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunFloat(*runtime, id, {1, 4}, {1, 2, 3, 4}), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(RunFloat(*runtime, id, {2, 2}, {1, 2, 3, 4}), (std::vector<float>{1, 3, 2, 4}));
    EXPECT_EQ(RunFloat(*runtime, id, {4, 1}, {1, 2, 3, 4}), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Copy, OfWhatIsReadAgainIsNotOverwritten)
{
    // abs works in place where it may: here the input of the copy is read later on.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), "n");
    Connect(AddInput(*network, 0, FloatInfo({1, 4})), first);
    IConnectableLayer* turned = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "t");
    Connect(first, turned);
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(turned, abs);
    IConnectableLayer* sum = network->AddAdditionLayer("sum"); // [4, 1] + [1, 4]
    Connect(abs, sum, 0);
    Connect(first, sum, 1);
    Connect(sum, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunFloat(*runtime, id, {1, 2}, {1, 2}), (std::vector<float>{0, -1, 1, 0}));
}

} // namespace tenon::test::copy_test
