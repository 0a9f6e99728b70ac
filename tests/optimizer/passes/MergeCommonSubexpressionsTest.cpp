// SPDX-License-Identifier: Apache-2.0
// Pass MergeCommonSubexpressions: what merges, what must not, and equal results.
#include "harness/Passes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::merge_common_subexpressions_test
{

namespace
{

/// Two layers on one input, each with an output of its own.
INetworkPtr MakeTwins(const std::function<IConnectableLayer*(INetwork&, int)>& make)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2, 3}));
    for (int i = 0; i < 2; ++i)
    {
        IConnectableLayer* layer = make(*network, i);
        Connect(input, layer);
        Connect(layer, network->AddOutputLayer(i));
    }
    return network;
}

size_t CountMerged(const INetwork& network, LayerType type)
{
    BothWays both(network);
    both.ExpectEqual({TensorShape({2, 3})});
    both.ExpectEqual({TensorShape({3, 3})});
    return Count(both.Optimized(), type);
}

} // namespace

TEST(MergeCommonSubexpressions, EqualBranchesBecomeOne)
{
    // Twice: turn, add an equal constant, round. The constants lie in different memory.
    const auto twins = MakeTwins(
        [](INetwork& network, int i)
        {
            IConnectableLayer* turn = network.AddTransposeLayer(TransposeDescriptor({1, 0}), "turn");
            IConnectableLayer* sum = network.AddAdditionLayer("sum");
            Connect(turn, sum);
            Connect(AddFloats(network, {1}, {0.5f}), sum, 1);
            IConnectableLayer* floor = network.AddFloorLayer("floor");
            Connect(sum, floor);
            Connect(floor, network.AddOutputLayer(100 + i));
            return turn;
        });
    BothWays both(*twins);
    const Graph& graph = both.Optimized();
    EXPECT_EQ(Count(graph, LayerType::Constant), 1u);
    EXPECT_EQ(Count(graph, LayerType::Transpose), 1u);
    EXPECT_EQ(Count(graph, LayerType::ElementwiseBinary), 1u);
    EXPECT_EQ(Count(graph, LayerType::Floor), 1u);
    EXPECT_EQ(Count(graph, LayerType::Output), 4u);
    both.ExpectEqual({TensorShape({2, 3})});
}

TEST(MergeCommonSubexpressions, WhatDiffersStays)
{
    const auto activation = [](float a)
    {
        return [a](INetwork& network, int i) {
            return network.AddActivationLayer(ActivationDescriptor(ActivationFunction::LeakyReLu, i == 0 ? 0.1f : a),
                                              "leaky");
        };
    };
    EXPECT_EQ(CountMerged(*MakeTwins(activation(0.1f)), LayerType::Activation), 1u);
    EXPECT_EQ(CountMerged(*MakeTwins(activation(0.2f)), LayerType::Activation), 2u) << "parameters";
    EXPECT_EQ(CountMerged(*MakeTwins(
                              [](INetwork& network, int i)
                              {
                                  IConnectableLayer* layer = network.AddFloorLayer("floor");
                                  if (i == 1)
                                  {
                                      layer->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
                                  }
                                  return layer;
                              }),
                          LayerType::Floor),
              2u)
        << "hint";
    EXPECT_EQ(CountMerged(*MakeTwins(
                              [](INetwork& network, int i)
                              {
                                  IConnectableLayer* layer = network.AddQuantizeLayer("quantize");
                                  layer->GetOutputSlot(0).SetTensorInfo(
                                      TensorInfo(TensorShape(), DataType::QAsymmU8, i == 0 ? 0.1f : 0.2f, 128));
                                  return layer;
                              }),
                          LayerType::Quantize),
              2u)
        << "quantization";
}

TEST(MergeCommonSubexpressions, OverriddenInputsDiffer)
{
    const auto make = [](bool same)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* input = AddInput(*network, 0, TensorInfo({2}, DataType::QAsymmU8, 1.0f, 0));
        for (int i = 0; i < 2; ++i)
        {
            IConnectableLayer* layer = network->AddDequantizeLayer("d");
            Connect(input, layer);
            layer->GetInputSlot(0).SetTensorInfo(TensorInfo({2}, DataType::QAsymmU8, same || i == 0 ? 0.5f : 0.25f, 0));
            Connect(layer, network->AddOutputLayer(i));
        }
        return network;
    };
    const uint8_t values[] = {4, 8};
    const InputTensors inputs{{0, ConstTensor(TensorInfo({2}, DataType::QAsymmU8, 1.0f, 0, true), values)}};
    BothWays same(*make(true));
    EXPECT_EQ(Count(same.Optimized(), LayerType::Dequantize), 1u);
    same.ExpectEqual(inputs);
    BothWays different(*make(false));
    EXPECT_EQ(Count(different.Optimized(), LayerType::Dequantize), 2u);
    EXPECT_EQ(different.ExpectEqual(inputs)[1].Floats(), (std::vector<float>{1.0f, 2.0f}));
}

TEST(MergeCommonSubexpressions, RandomAndStatesStay)
{
    EXPECT_EQ(CountMerged(*MakeTwins([](INetwork& network, int) { return network.AddFloorLayer("floor"); }),
                          LayerType::Floor),
              1u);
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* sizes = AddInts(*network, {1}, {4});
    for (int i = 0; i < 2; ++i)
    {
        IConnectableLayer* random = network->AddRandomLayer(RandomDescriptor(), "random");
        Connect(sizes, random);
        Connect(random, network->AddOutputLayer(i));
    }
    const BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Random), 2u) << "two draws are not one";
}

TEST(MergeCommonSubexpressions, LargeConstantsThatDifferInOneByteStay)
{
    for (const bool differ : {false, true})
    {
        INetworkPtr network = INetwork::Create();
        std::vector<float> values = Ramp(10000);
        for (int i = 0; i < 2; ++i)
        {
            values[5001] += differ ? 1.0f : 0.0f;
            IConnectableLayer* sum = network->AddAdditionLayer("sum");
            Connect(AddInput(*network, i, FloatInfo({1})), sum);
            Connect(AddFloats(*network, {10000}, values), sum, 1);
            Connect(sum, network->AddOutputLayer(i));
        }
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Constant), differ ? 2u : 1u);
        both.ExpectEqual({TensorShape({1}), TensorShape({1})});
    }
}

TEST(MergeCommonSubexpressions, LayersOfOneWeightShareItsTransposedCopy)
{
    INetworkPtr network = INetwork::Create();
    const std::vector<float> values = Ramp(6);
    for (LayerBindingId i = 0; i < 10; ++i)
    {
        IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor({1, 0}));
        Connect(AddFloats(*network, {2, 3}, values), transpose);
        Connect(transpose, network->AddOutputLayer(i));
    }
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Constant), 1u);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    EXPECT_EQ(both.ExpectEqual(InputTensors())[9].Floats(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

} // namespace tenon::test::merge_common_subexpressions_test
