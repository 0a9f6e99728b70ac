// SPDX-License-Identifier: Apache-2.0
// Layers that run tile by tile: which ones, and that they give what they give one after the other, as they run while a
// debug callback looks on.
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <random>

namespace tenon::test::cross_layer_tiling_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

TensorInfo InfoOf(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* from, const TensorShape& shape)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(shape), "reshape");
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddCast(INetwork& network, IConnectableLayer* from, DataType type)
{
    IConnectableLayer* layer = network.AddCastLayer("cast");
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(Dimensionality::NotSpecified), type));
    Connect(from, layer);
    return layer;
}

/// Of 12 heads in three batches, whose masks they share. `type`: of what is computed. Masks are factors: with sums
/// floats would have one workload for all layers, see AttentionTest.cpp.
INetworkPtr MakeAttention(unsigned int length, bool givesScores, DataType type = DataType::Float32)
{
    INetworkPtr network = INetwork::Create();
    std::vector<IConnectableLayer*> inputs = {
        AddInput(*network, 0, InfoOf({12, length, 8})), AddInput(*network, 1, InfoOf({12, 8, length})),
        AddInput(*network, 2, InfoOf({12, length, 8})), AddInput(*network, 3, InfoOf({3, 1, 1, length}))};
    const bool isCast = type != DataType::Float32;
    for (IConnectableLayer*& input : inputs)
    {
        input = isCast ? AddCast(*network, input, type) : input;
    }
    IConnectableLayer* product = AddProduct(*network, inputs[0], inputs[1]);
    IConnectableLayer* scores = AddReshape(*network, product, {3, 4, length, length});
    IConnectableLayer* masked = AddBinary(*network, BinaryOperation::Mul, scores, inputs[3]);
    IConnectableLayer* shares = AddReshape(*network, AddSoftmax(*network, masked), {12, length, length});
    IConnectableLayer* result = AddProduct(*network, shares, inputs[2]);
    AddOutputs(*network, {isCast ? AddCast(*network, result, DataType::Float32) : result});
    if (givesScores)
    {
        Connect(product, network->AddOutputLayer(1));
    }
    return network;
}

const FusedRun* FindTiledRun(const Planned& plan)
{
    return plan.Get().GetFusedRuns().empty() ? nullptr : plan.Get().GetFusedRuns().front().get();
}

/// Bytes of the arena that a run writes, which are to be apart and in order.
size_t CountWritten(const Planned& plan)
{
    size_t bytes = 0;
    size_t last = 0;
    for (const ByteRange& range : plan.Get().GetWritten())
    {
        EXPECT_LT(range.m_Begin, range.m_End);
        EXPECT_TRUE(bytes == 0 || range.m_Begin > last) << range.m_Begin << " after " << last;
        bytes += range.m_End - range.m_Begin;
        last = range.m_End;
    }
    EXPECT_LE(last, plan.Get().Arenas()[HostMemory].m_Bytes);
    return bytes;
}

} // namespace

TEST(CrossLayerTiling, OfAnAttentionAreItsHeads)
{
    const INetworkPtr network = MakeAttention(250, false);
    const Planned plan(*network, "CpuAcc");
    const FusedRun* const run = FindTiledRun(plan);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->m_Tiles, 12u);
    ASSERT_EQ(run->m_Steps.size(), 6u); // with two that reshape
    EXPECT_THAT(run->m_Label, HasSubstr("Softmax"));
    EXPECT_THAT(run->m_Steps[2].m_Inputs[1].m_Offsets, testing::SizeIs(12));
    EXPECT_EQ(run->m_Steps[2].m_Inputs[1].m_Offsets[7], 250 * sizeof(float));
    EXPECT_FALSE(run->m_Steps[0].m_Output.m_IsKept);
    EXPECT_TRUE(run->m_Steps[5].m_Output.m_IsKept);
    const std::vector<Floats> expected = RunNetwork(*network, "CpuAcc", 1, false);
    for (const unsigned int threads : {1u, 2u, 5u, 16u})
    {
        EXPECT_EQ(RunNetwork(*network, "CpuAcc", threads, true), expected) << threads << " threads";
    }
    EXPECT_EQ(RunNetwork(*network, "CpuRef", 2, true), RunNetwork(*network, "CpuRef", 2, false));
}

// With the option NumberOfThreads layers are tiled all the same, and tiles run on no more threads than it says.
TEST(CrossLayerTiling, KeepToTheThreadsOfTheBackend)
{
    const INetworkPtr network = MakeAttention(250, false);
    const std::vector<Floats> expected = RunNetwork(*network, "CpuAcc", 1, false);
    for (const unsigned int limit : {1u, 2u, 3u, 64u})
    {
        const OptimizerOptionsOpaque options = LimitedThreads(limit);
        const Planned plan(*network, "CpuAcc", options);
        const FusedRun* const run = FindTiledRun(plan);
        ASSERT_NE(run, nullptr);
        EXPECT_EQ(run->m_Tiles, 12u);
        EXPECT_EQ(run->m_Steps.size(), 6u);
        EXPECT_LE(run->m_MaxThreads, limit);
        EXPECT_TRUE(run->IsWorthwhile(limit < 12 ? 256 : 6)); // few parts for as many threads, but for the limit
        for (const unsigned int threads : {1u, 4u, 16u})
        {
            EXPECT_EQ(RunNetwork(*network, "CpuAcc", threads, true, options), expected)
                << limit << " of " << threads << " threads";
        }
    }
}

// Types of two bytes are cut too, of which twice as many elements fit into the cache.
TEST(CrossLayerTiling, OfAnAttentionInHalves)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        const INetworkPtr network = MakeAttention(370, false, type);
        const Planned plan(*network, "CpuAcc");
        const FusedRun* const run = FindTiledRun(plan);
        ASSERT_NE(run, nullptr);
        EXPECT_EQ(run->m_Tiles, 12u);
        EXPECT_EQ(run->m_Steps.size(), 6u);
        const std::vector<Floats> expected = RunNetwork(*network, "CpuAcc", 1, false);
        for (const unsigned int threads : {1u, 2u, 5u})
        {
            EXPECT_EQ(RunNetwork(*network, "CpuAcc", threads, true), expected) << threads << " threads";
        }
        EXPECT_EQ(FindTiledRun(Planned(*MakeAttention(64, false, type), "CpuAcc")), nullptr);
    }
}

TEST(CrossLayerTiling, KeepWhatIsReadLater)
{
    const INetworkPtr network = MakeAttention(250, true);
    const Planned plan(*network, "CpuAcc");
    const FusedRun* const run = FindTiledRun(plan);
    ASSERT_NE(run, nullptr);
    EXPECT_TRUE(run->m_Steps[0].m_Output.m_IsKept);
    EXPECT_EQ(RunNetwork(*network, "CpuAcc", 2, true), RunNetwork(*network, "CpuAcc", 2, false));
}

// The system is asked for memory of what a run writes, and not of what threads write one part of.
TEST(CrossLayerTiling, LeaveMemoryOfWholeTensorsAlone)
{
    constexpr size_t ScoreBytes = size_t{12} * 250 * 250 * sizeof(float);
    const Planned inner(*MakeAttention(250, false), "CpuAcc");
    EXPECT_GT(inner.Get().Arenas()[HostMemory].m_Bytes, ScoreBytes);
    EXPECT_LT(CountWritten(inner), ScoreBytes);
    const Planned layers(*MakeAttention(64, false), "CpuAcc");
    EXPECT_EQ(CountWritten(layers), layers.Get().Arenas()[HostMemory].m_Bytes);
}

TEST(CrossLayerTiling, AreNotForWhatFitsIntoTheCache)
{
    EXPECT_EQ(FindTiledRun(Planned(*MakeAttention(64, false), "CpuAcc")), nullptr);
    // Nor for one layer, or where layers go along the dimension that would be cut.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, InfoOf({128, 128, 64}));
    SoftmaxDescriptor descriptor;
    descriptor.m_Axis = 0;
    IConnectableLayer* softmax = network->AddSoftmaxLayer(descriptor);
    Connect(input, softmax);
    AddOutputs(*network, {AddUnary(*network, softmax)});
    EXPECT_EQ(FindTiledRun(Planned(*network, "CpuAcc")), nullptr);
}

TEST(CrossLayerTiling, AreOneEventOfAProfile)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeAttention(250, false);
    const NetworkId id = Load(*runtime, *network, {"CpuAcc"});
    runtime->GetProfiler(id)->EnableProfiling(true);
    std::vector<Floats> values;
    InputTensors inputs;
    for (LayerBindingId i = 0; i < 4; ++i)
    {
        TensorInfo info = runtime->GetInputTensorInfo(id, i);
        info.SetConstant();
        values.emplace_back(info.GetNumElements());
        inputs.emplace_back(i, ConstTensor(info, values.back().data()));
    }
    Floats output(12 * 250 * 8);
    runtime->EnqueueWorkload(id, inputs, {{0, Tensor(runtime->GetOutputTensorInfo(id, 0), output.data())}});
    std::ostringstream text;
    runtime->GetProfiler(id)->Print(text);
    EXPECT_THAT(text.str(), HasSubstr("Tiles of "));
}

TEST(CrossLayerTiling, OfRandomLayersGiveWhatTheLayersGive)
{
    size_t found = 0;
    for (unsigned int seed = 0; seed < 40; ++seed)
    {
        std::mt19937 random(seed);
        const auto pick = [&](size_t count) { return random() % count; };
        const TensorShape full = {33, 129, 127}; // parts begin at multiples of four bytes
        INetworkPtr network = INetwork::Create();
        std::vector<IConnectableLayer*> values = {AddInput(*network, 0, InfoOf(full)),
                                                  AddInput(*network, 1, InfoOf(full))};
        const std::vector<IConnectableLayer*> small = {
            AddInput(*network, 2, InfoOf({33, 1, 127})), AddInput(*network, 3, InfoOf({129, 127})),
            AddInput(*network, 4, InfoOf({1, 129, 1})), AddInput(*network, 5, InfoOf({33, 129, 1}))};
        for (IConnectableLayer* value : small) // all are read
        {
            values.push_back(AddBinary(*network, BinaryOperation::Add, values[pick(2)], value));
        }
        for (size_t layers = 4 + pick(8); layers != 0; --layers)
        {
            const auto recent = [&] { return values[values.size() - 1 - pick(std::min<size_t>(values.size(), 4))]; };
            switch (pick(6))
            {
            case 0: values.push_back(AddUnary(*network, recent())); break;
            case 1: values.push_back(AddSoftmax(*network, recent())); break;
            case 2: values.push_back(AddBinary(*network, BinaryOperation::Sub, small[pick(4)], recent())); break;
            case 3:
                values.push_back(AddReshape(*network, AddReshape(*network, recent(), {3, 11, 129, 127}), full));
                break;
            default: values.push_back(AddBinary(*network, BinaryOperation::Add, recent(), recent()));
            }
        }
        std::vector<IConnectableLayer*> outputs = {values.back()};
        for (size_t i = 2; i + 1 < values.size(); ++i)
        {
            if (pick(6) == 0)
            {
                outputs.push_back(values[i]);
            }
        }
        AddOutputs(*network, outputs);
        found += FindTiledRun(Planned(*network, "CpuAcc")) != nullptr ? 1 : 0;
        const unsigned int threads = 1 + static_cast<unsigned int>(pick(3));
        ASSERT_EQ(RunNetwork(*network, "CpuAcc", threads, true), RunNetwork(*network, "CpuAcc", threads, false))
            << "seed " << seed;
    }
    EXPECT_GE(found, 30u);
}

TEST(CrossLayerTiling, OfManyLargeLayersAreFoundInPieces)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({64, 64, 256}));
    IConnectableLayer* last = input;
    for (int i = 0; i < 200; ++i)
    {
        IConnectableLayer* sum =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
        Connect(last, sum, 0);
        Connect(input, sum, 1);
        last = sum;
    }
    AddOutputs(*network, {last});
    const Planned plan(*network, "CpuAcc");
    ASSERT_FALSE(plan.Get().GetFusedRuns().empty());
    for (const auto& run : plan.Get().GetFusedRuns())
    {
        EXPECT_LE(run->m_Steps.size(), 32U);
    }
}

} // namespace tenon::test::cross_layer_tiling_test
