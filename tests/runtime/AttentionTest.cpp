// SPDX-License-Identifier: Apache-2.0
// Attentions in one workload: which layers are one, and that they give what the layers give one after the other, as
// they run while a debug callback looks on, and what CpuRef's give.
#include "backends/cpu/simd/Isa.hpp"
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <optional>

namespace tenon::test::attention_test
{

namespace
{

using testing::StartsWith;

TensorInfo InfoOf(const TensorShape& shape)
{
    return TensorInfo(shape, DataType::Float32);
}

struct Attention
{
    unsigned int m_Batches = 2;
    unsigned int m_Heads = 3;
    unsigned int m_Queries = 64;
    unsigned int m_Keys = 77;
    unsigned int m_Depth = 20;
    unsigned int m_Width = 13;                        ///< of the values
    std::optional<TensorShape> m_Mask = std::nullopt; ///< what is added to the scores
    bool m_IsMaskFirst = false;
    bool m_HasKeyRows = false;          ///< [keys, depth]
    bool m_HasTransposedValues = false; ///< [width, keys]
    float m_Beta = 1.0f;
    int m_Axis = -1;
    bool m_GivesScores = false;
    bool m_IsFlat = false;                                    ///< products have one dimension for batches and heads
    std::optional<TensorShape> m_SoftmaxShape = std::nullopt; ///< scores are reshaped so for it
    bool m_HasLayerBehind = false;
};

IConnectableLayer* AddProduct(INetwork& network, IConnectableLayer* x, IConnectableLayer* y, bool isTurned)
{
    BatchMatMulDescriptor descriptor;
    descriptor.m_TransposeY = isTurned;
    IConnectableLayer* layer = network.AddBatchMatMulLayer(descriptor, "product");
    Connect(x, layer, 0);
    Connect(y, layer, 1);
    return layer;
}

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* from, const TensorShape& shape)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(shape), "reshape");
    Connect(from, layer);
    return layer;
}

/// The scores become probabilities.
IConnectableLayer* AddSoftmax(INetwork& network, IConnectableLayer* scores, IConnectableLayer* mask,
                              const Attention& of)
{
    IConnectableLayer* last = scores;
    if (mask != nullptr)
    {
        last = AddBinary(network, BinaryOperation::Add, of.m_IsMaskFirst ? mask : scores,
                         of.m_IsMaskFirst ? scores : mask);
    }
    SoftmaxDescriptor descriptor;
    descriptor.m_Beta = of.m_Beta;
    descriptor.m_Axis = of.m_Axis;
    IConnectableLayer* softmax = network.AddSoftmaxLayer(descriptor, "softmax");
    Connect(last, softmax);
    return softmax;
}

INetworkPtr MakeNetwork(const Attention& of, IConnectableLayer* (*makeMask)(INetwork&) = nullptr)
{
    INetworkPtr network = INetwork::Create();
    const auto shape = [&](unsigned int rows, unsigned int columns)
    {
        return of.m_IsFlat ? TensorShape{of.m_Batches * of.m_Heads, rows, columns}
                           : TensorShape{of.m_Batches, of.m_Heads, rows, columns};
    };
    const auto turned = [&](bool isTurned, unsigned int rows, unsigned int columns)
    { return InfoOf(isTurned ? shape(columns, rows) : shape(rows, columns)); };
    IConnectableLayer* queries = AddInput(*network, 0, turned(false, of.m_Queries, of.m_Depth));
    IConnectableLayer* keys = AddInput(*network, 1, turned(of.m_HasKeyRows, of.m_Depth, of.m_Keys));
    IConnectableLayer* values = AddInput(*network, 2, turned(of.m_HasTransposedValues, of.m_Keys, of.m_Width));
    IConnectableLayer* mask = makeMask != nullptr ? makeMask(*network)
                              : of.m_Mask         ? AddInput(*network, 3, InfoOf(*of.m_Mask))
                                                  : nullptr;
    IConnectableLayer* product = AddProduct(*network, queries, keys, of.m_HasKeyRows);
    const bool isReshaped = of.m_IsFlat || of.m_SoftmaxShape;
    const TensorShape apart = {of.m_Batches, of.m_Heads, of.m_Queries, of.m_Keys};
    IConnectableLayer* scores = isReshaped ? AddReshape(*network, product, of.m_SoftmaxShape.value_or(apart)) : product;
    IConnectableLayer* softmax = AddSoftmax(*network, scores, mask, of);
    IConnectableLayer* shares = isReshaped ? AddReshape(*network, softmax, shape(of.m_Queries, of.m_Keys)) : softmax;
    IConnectableLayer* result = AddProduct(*network, shares, values, of.m_HasTransposedValues);
    AddOutputs(*network, {of.m_HasLayerBehind ? AddUnary(*network, result) : result});
    if (of.m_GivesScores)
    {
        Connect(product, network->AddOutputLayer(1));
    }
    return network;
}

const FusedRun* FindAttention(const Planned& plan)
{
    const auto& run = plan.Get().GetFusedRuns();
    return run.empty() || run.front()->m_Fused.m_Workload == nullptr ? nullptr : run.front().get();
}

void ExpectNear(const std::vector<Floats>& actual, const std::vector<Floats>& expected)
{
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
    {
        ASSERT_EQ(actual[i].size(), expected[i].size());
        for (size_t k = 0; k < actual[i].size(); ++k)
        {
            // Sums of a hundred shares of numbers below 1.
            ASSERT_NEAR(actual[i][k], expected[i][k], 2e-6) << "output " << i << ", element " << k;
        }
    }
}

/// `isJoined`: whether its layers run in one workload, where the processor has vectors.
void ExpectAttention(const Attention& of, bool isJoined)
{
    const INetworkPtr network = MakeNetwork(of);
    const bool hasKernels = cpu::GetCpuFeatures().m_Simd;
    ASSERT_EQ(FindAttention(Planned(*network, "CpuAcc")) != nullptr, isJoined && hasKernels);
    const std::vector<Floats> actual = RunNetwork(*network, "CpuAcc", 1, true);
    ASSERT_NO_FATAL_FAILURE(ExpectNear(actual, RunNetwork(*network, "CpuAcc", 1, false)));
    ASSERT_NO_FATAL_FAILURE(ExpectNear(actual, RunNetwork(*network, "CpuRef", 1, true)));
    for (const unsigned int threads : {2u, 5u, 32u}) // many of them share the work of a part
    {
        ASSERT_EQ(RunNetwork(*network, "CpuAcc", threads, true), actual) << threads << " threads";
    }
}

} // namespace

TEST(Attention, WithoutMask)
{
    ExpectAttention({}, true);
    ExpectAttention({.m_IsFlat = true}, true);
    ExpectAttention({.m_Batches = 1, .m_Heads = 1, .m_Queries = 500}, true);
}

TEST(Attention, OfMatricesAsTheyLie)
{
    for (const bool hasKeyRows : {false, true})
    {
        for (const bool hasTransposedValues : {false, true})
        {
            SCOPED_TRACE(std::to_string(hasKeyRows) + std::to_string(hasTransposedValues));
            ExpectAttention({.m_HasKeyRows = hasKeyRows, .m_HasTransposedValues = hasTransposedValues}, true);
        }
    }
}

TEST(Attention, WithMasksOfManyShapes)
{
    const TensorShape shapes[] = {{77},           {1, 77},       {64, 77},      {2, 1, 1, 77},
                                  {1, 3, 64, 77}, {2, 3, 1, 77}, {2, 3, 64, 77}};
    for (const TensorShape& shape : shapes)
    {
        SCOPED_TRACE(shape.GetNumDimensions());
        ExpectAttention({.m_Mask = shape}, true);
        ExpectAttention({.m_Mask = shape, .m_IsMaskFirst = true, .m_IsFlat = true}, true);
    }
    // The same for all keys: no part of it lies like scores.
    ExpectAttention({.m_Mask = TensorShape{64, 1}}, false);
    ExpectAttention({.m_Mask = TensorShape{1}}, false);
}

TEST(Attention, HasPartsForThreads)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors the reference kernels run";
    }
    const auto countParts = [](const Attention& of)
    {
        const Planned plan(*MakeNetwork(of), "CpuAcc"); // of 4 threads
        const FusedRun* const run = FindAttention(plan);
        EXPECT_EQ(run->m_Fused.m_Part != nullptr, run->m_Fused.m_Parts > 1);
        return run->m_Fused.m_Parts;
    };
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 4}), 1u); // a head for each thread
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 1, .m_Queries = 512}), 4u);
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 2, .m_Queries = 512}), 2u);
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 3, .m_Queries = 512}), 4u); // with 2, two threads would have one
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 3, .m_Queries = 61}), 1u);  // a prime
    EXPECT_EQ(countParts({.m_Batches = 1, .m_Heads = 1, .m_Queries = 509}), 0u); // threads share the head
    EXPECT_EQ(countParts({.m_Batches = 2, .m_Heads = 4}), 0u);                   // two heads for each thread
    for (const unsigned int maskRows : {1u, 320u})
    {
        ExpectAttention({.m_Batches = 1, .m_Heads = 2, .m_Queries = 320, .m_Mask = TensorShape{2, maskRows, 77}}, true);
    }
}

TEST(Attention, OfManySizes)
{
    for (const unsigned int queries : {16u, 31u, 32u, 61u, 128u})
    {
        for (const unsigned int keys : {25u, 64u, 131u})
        {
            for (const unsigned int depth : {1u, 7u, 64u})
            {
                SCOPED_TRACE(std::to_string(queries) + ", " + std::to_string(keys) + ", " + std::to_string(depth));
                Attention of{
                    .m_Heads = 40, .m_Queries = queries, .m_Keys = keys, .m_Depth = depth, .m_Width = depth + 1};
                of.m_Mask = TensorShape{2, 1, 1, keys};
                of.m_Beta = 0.3f;
                const INetworkPtr network = MakeNetwork(of);
                ExpectNear(RunNetwork(*network, "CpuAcc", 2, true), RunNetwork(*network, "CpuRef", 1, true));
            }
        }
    }
}

TEST(Attention, EndsWithItsSecondProduct)
{
    ExpectAttention({.m_HasLayerBehind = true}, true);
}

TEST(Attention, OfRowsThatAReshapeMakesIsNone)
{
    ExpectAttention({.m_Keys = 64, .m_SoftmaxShape = TensorShape{2, 3, 32, 128}}, false);
    ExpectAttention({.m_Keys = 64, .m_SoftmaxShape = TensorShape{2, 3, 128, 32}}, false);
    ExpectAttention({.m_Keys = 64, .m_SoftmaxShape = TensorShape{6, 2, 32, 64}}, true); // the same rows
}

TEST(Attention, LayersThatAreNotOneRunOneByOne)
{
    ExpectAttention({.m_Keys = 64, .m_Axis = 1}, false);
    ExpectAttention({.m_GivesScores = true}, false);
    ExpectAttention({.m_Queries = 4, .m_Keys = 5}, false);   // small
    ExpectAttention({.m_Heads = 50, .m_Queries = 5}, false); // fewer queries than a vector has numbers
}

namespace
{

/// Leaves out the first keys of all queries, and all keys of the third one.
IConnectableLayer* AddInfiniteMask(INetwork& network)
{
    static const Floats mask = [] // which the network does not copy
    {
        Floats values(64 * 77, 0.0f);
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = i % 77 < 40 || i / 77 == 3 ? -std::numeric_limits<float>::infinity() : 0.0f;
        }
        return values;
    }();
    TensorInfo info = InfoOf({64, 77});
    info.SetConstant();
    IConnectableLayer* layer = network.AddConstantLayer(ConstTensor(info, mask.data()));
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

} // namespace

TEST(Attention, OfKeysThatAreLeftOut)
{
    const INetworkPtr network = MakeNetwork({}, AddInfiniteMask);
    const Planned plan(*network, "CpuAcc");
    EXPECT_EQ(FindAttention(plan) != nullptr, cpu::GetCpuFeatures().m_Simd);
    const Floats actual = RunNetwork(*network, "CpuAcc", 1, true)[0];
    const Floats expected = RunNetwork(*network, "CpuRef", 1, true)[0];
    for (size_t i = 0; i < actual.size(); ++i)
    {
        if (i / 13 % 64 == 3)
        {
            ASSERT_TRUE(std::isnan(actual[i])) << i;
            continue;
        }
        ASSERT_NEAR(actual[i], expected[i], 2e-6) << i;
    }
}

TEST(Attention, WithAConstantMaskOfOneHead)
{
    const INetworkPtr network = MakeNetwork({.m_Batches = 1, .m_Heads = 1}, AddInfiniteMask);
    const Planned plan(*network, "CpuAcc");
    EXPECT_EQ(FindAttention(plan) != nullptr, cpu::GetCpuFeatures().m_Simd);
}

// The quotients are taken last: sums of products that are not yet divided do not leave the range of floats.
TEST(Attention, OfLargeValues)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeNetwork({.m_Batches = 1, .m_Heads = 1}), {"CpuAcc"});
    const float max = std::numeric_limits<float>::max() / 2;
    std::vector<Floats> data = {Floats(64 * 20), Floats(20 * 77), Floats(77 * 13, max)};
    InputTensors inputs;
    for (LayerBindingId i = 0; i < 3; ++i)
    {
        TensorInfo info = runtime->GetInputTensorInfo(id, i);
        info.SetConstant();
        inputs.emplace_back(i, ConstTensor(info, data[static_cast<size_t>(i)].data()));
    }
    Floats output(64 * 13);
    runtime->EnqueueWorkload(id, inputs, {{0, Tensor(runtime->GetOutputTensorInfo(id, 0), output.data())}});
    for (const float x : output)
    {
        ASSERT_NEAR(x / max, 1.0f, 1e-5f);
    }
}

TEST(Attention, IsOneEventOfAProfile)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors the reference kernels run";
    }
    const INetworkPtr network = MakeNetwork({.m_Mask = TensorShape{77}});
    const Planned plan(*network, "CpuAcc");
    const FusedRun* const run = FindAttention(plan);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->m_Tiles, 6u);
    EXPECT_EQ(run->m_Fused.m_NumInputs, 4u);
    EXPECT_THAT(run->m_Label, StartsWith("CpuAttention of "));
}

} // namespace tenon::test::attention_test
