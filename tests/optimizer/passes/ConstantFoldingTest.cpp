// SPDX-License-Identifier: Apache-2.0
// Pass ConstantFolding: what becomes a constant and what must not, bounds on memory, and equal results.
#include "harness/Passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace tenon::test::constant_folding_test
{

namespace
{

/// data -> convolution (1x1, NHWC) with weights [2,1,1,2] that `weights` gives.
INetworkPtr MakeConvolution(const std::function<IConnectableLayer*(INetwork&)>& weights)
{
    INetworkPtr network = INetwork::Create();
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* conv = network->AddConvolution2dLayer(descriptor, "conv");
    Connect(AddInput(*network, 0, FloatInfo({1, 2, 2, 2})), conv);
    Connect(weights(*network), conv, 1);
    Connect(conv, network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(ConstantFolding, QuantizedAndHalfWeightsAreDequantizedOnce)
{
    static const int8_t bytes[] = {1, -2, 3, 4};
    static const uint16_t halves[] = {0x3C00, 0xC000, 0x3800, 0x4400}; // 1, -2, 0.5, 4
    const auto quantized = MakeConvolution(
        [](INetwork& network)
        {
            const TensorInfo info({2, 1, 1, 2}, DataType::QAsymmS8, 0.5f, 1, true);
            IConnectableLayer* layer = network.AddDequantizeLayer("dequantize");
            Connect(network.AddConstantLayer(ConstTensor(info, bytes)), layer);
            return layer;
        });
    const auto half = MakeConvolution(
        [](INetwork& network)
        {
            const TensorInfo info({2, 1, 1, 2}, DataType::Float16, 0.0f, 0, true);
            IConnectableLayer* layer = network.AddCastLayer("cast");
            layer->GetOutputSlot(0).SetTensorInfo(FloatInfo({2, 1, 1, 2}));
            Connect(network.AddConstantLayer(ConstTensor(info, halves)), layer);
            return layer;
        });
    for (const INetwork* network : {quantized.get(), half.get()})
    {
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Dequantize) + Count(both.Optimized(), LayerType::Cast), 0u);
        EXPECT_EQ(both.Optimized().Size(), 4u);
        both.ExpectEqual({TensorShape({1, 2, 2, 2})});
        both.ExpectEqual({TensorShape({2, 3, 1, 2})});
    }
    const BothWays both(*quantized);
    const Layer* conv = Find(both.Optimized(), "conv", LayerType::Convolution2d);
    const auto* weights = static_cast<const float*>(conv->GetConstantInput(1));
    ASSERT_NE(weights, nullptr);
    EXPECT_EQ(std::vector<float>(weights, weights + 4), (std::vector<float>{0.0f, -1.5f, 1.0f, 1.5f}));
}

TEST(ConstantFolding, PerAxisScalesFollowTheTransposedDimension)
{
    static const int8_t bytes[] = {1, 2, 3, 4, 5, 6};
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "t");
    TensorInfo info({2, 3}, DataType::QSymmS8, {0.5f, 2.0f}, 0, true);
    Connect(network->AddConstantLayer(ConstTensor(info, bytes)), transpose);
    info.SetShape({3, 2});
    info.SetQuantizationDim(1);
    info.SetConstant(false);
    transpose->GetOutputSlot(0).SetTensorInfo(info);
    IConnectableLayer* dequantize = network->AddDequantizeLayer("d");
    Connect(transpose, dequantize);
    Connect(dequantize, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(both.Optimized().Size(), 2u);
    EXPECT_EQ(both.ExpectEqual(InputTensors())[0].Floats(), (std::vector<float>{0.5f, 8, 1, 10, 1.5f, 12}));
}

TEST(ConstantFolding, HalfBytes)
{
    static const uint8_t packed[] = {0x21, 0x43, 0x65}; // 1 2 3 / 4 5 6
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "t");
    Connect(network->AddConstantLayer(ConstTensor(TensorInfo({2, 3}, DataType::QSymmS4, 0.5f, 0, true), packed)),
            transpose);
    Connect(transpose, network->AddOutputLayer(0));
    const BothWays both(*network);
    ASSERT_EQ(both.Optimized().Size(), 2u);
    const auto* got = static_cast<const uint8_t*>(both.Optimized().Layers().back()->GetConstantInput(0));
    got = got != nullptr ? got : static_cast<const uint8_t*>(both.Optimized().Layers().front()->GetConstantInput(0));
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(std::vector<uint8_t>(got, got + 3), (std::vector<uint8_t>{0x41, 0x52, 0x63}));
}

TEST(ConstantFolding, ShapesThatFollowFromConstantsAreKnownToTheirReaders)
{
    // A target shape of two parts, 2 * 3 and -1, joined: its reader's shape is then known before the run.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* product = network->AddMultiplicationLayer("product");
    Connect(AddInts(*network, {1}, {2}), product, 0);
    Connect(AddInts(*network, {1}, {3}), product, 1);
    OriginsDescriptor descriptor(2, 1);
    descriptor.SetConcatAxis(0);
    IConnectableLayer* concat = network->AddConcatLayer(descriptor, "concat");
    Connect(product, concat, 0);
    Connect(AddInts(*network, {1}, {-1}), concat, 1);
    ReshapeDescriptor asInput;
    asInput.m_ParametersAsInputs = true;
    IConnectableLayer* reshape = network->AddReshapeLayer(asInput, "reshape");
    Connect(AddInput(*network, 0, FloatInfo({3, 4})), reshape, 0);
    Connect(concat, reshape, 1);
    IConnectableLayer* floor = network->AddFloorLayer("floor");
    Connect(reshape, floor);
    Connect(floor, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::ElementwiseBinary) + Count(both.Optimized(), LayerType::Concat), 0u);
    const Layer* last = Find(both.Optimized(), "floor", LayerType::Floor);
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->Output(0).GetTensorInfo().GetShape(), TensorShape({6, 2}));
    both.ExpectEqual({TensorShape({3, 4})});
    EXPECT_EQ(both.ExpectEqual({TensorShape({6, 5})})[0].m_Info.GetShape(), TensorShape({6, 5}));
}

TEST(ConstantFolding, ShapeIsFoldedOnlyWhereEveryRunHasIt)
{
    for (const bool fixed : {false, true})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* last = AddInput(*network, 0, FloatInfo({2, 6}));
        if (fixed)
        {
            IConnectableLayer* reshape = network->AddReshapeLayer(ReshapeDescriptor(TensorShape({3, 4})));
            Connect(last, reshape);
            last = reshape;
        }
        IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs));
        Connect(last, abs);
        IConnectableLayer* shape = network->AddShapeLayer("shape");
        Connect(abs, shape);
        Connect(shape, network->AddOutputLayer(0));
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Shape), fixed ? 0u : 1u);
        both.ExpectEqual({TensorShape({2, 6})});
        both.ExpectEqual({TensorShape({6, 2})});
    }
}

TEST(ConstantFolding, LateOutputsFold)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* where = network->AddWhereLayer("where");
    static const bool flags[] = {true, false, true, true};
    Connect(network->AddConstantLayer(ConstTensor(TensorInfo({4}, DataType::Boolean, 0.0f, 0, true), flags)), where);
    Connect(where, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Where), 0u);
    EXPECT_EQ(both.ExpectEqual(InputTensors())[0].m_Info.GetShape(), TensorShape({3, 1}));
}

TEST(ConstantFolding, WhatIsNoFunctionOfConstantsStays)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* random = network->AddRandomLayer(RandomDescriptor(), "random");
    Connect(AddInts(*network, {1}, {4}), random);
    Connect(random, network->AddOutputLayer(0));
    IConnectableLayer* hinted = network->AddFloorLayer("hinted");
    hinted->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
    Connect(AddFloats(*network, {1}, {1.5f}), hinted);
    Connect(hinted, network->AddOutputLayer(1));
    // A state with a constant initial value: its later values are others.
    StateDescriptor state;
    state.m_Name = "s";
    IConnectableLayer* read = network->AddReadStateLayer(state, "read");
    IConnectableLayer* write = network->AddWriteStateLayer(state, "write");
    IConnectableLayer* sum = network->AddAdditionLayer("sum");
    IConnectableLayer* one = AddFloats(*network, {1}, {1.0f});
    Connect(one, read);
    Connect(read, sum, 0);
    Connect(one, sum, 1);
    Connect(sum, write);
    Connect(sum, network->AddOutputLayer(2));
    const IRuntimePtr runtime = IRuntime::Create({});
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    for (const char* name : {"random", "hinted", "read", "write", "sum"})
    {
        EXPECT_TRUE(std::any_of(GraphOf(optimized).Layers().begin(), GraphOf(optimized).Layers().end(),
                                [&](const auto& layer)
                                { return layer->GetNameStr() == name && layer->GetType() != LayerType::Constant; }))
            << name;
    }
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    for (const float expected : {2.0f, 3.0f, 4.0f})
    {
        EXPECT_EQ(RunNetwork(*runtime, id, {})[2].Floats(), std::vector<float>{expected});
    }
}

TEST(ConstantFolding, WhatAKernelRefusesIsLeftToTheRun)
{
    // Index 7 of 2: only a run may say so, and only if it comes to it.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* gather = network->AddGatherLayer(GatherDescriptor(0), "gather");
    Connect(AddFloats(*network, {2}, {1, 2}), gather, 0);
    Connect(AddInts(*network, {1}, {7}), gather, 1);
    Connect(gather, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Gather), 1u);
    both.ExpectRefused({});
}

TEST(ConstantFolding, WhatIsMuchLargerThanItsConstantsStays)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* fill = network->AddFillLayer(FillDescriptor(1.0f), "fill");
    fill->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::Float32));
    Connect(AddInts(*network, {2}, {1024, 1024}), fill);
    Connect(fill, network->AddOutputLayer(0));
    IConnectableLayer* transpose = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "turned");
    Connect(AddFloats(*network, {512, 1024}, Ramp(512 * 1024)), transpose);
    Connect(transpose, network->AddOutputLayer(1));
    const BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Fill), 1u) << "4 MiB out of 8 bytes";
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u) << "2 MiB out of 2 MiB";
}

TEST(ConstantFolding, LimitsBoundTheSum)
{
    // 23 ways to turn one constant around, under a limit that leaves room for three.
    INetworkPtr network = INetwork::Create();
    const std::vector<float> values = Ramp(2 * 3 * 4 * 5);
    IConnectableLayer* constant = AddFloats(*network, {2, 3, 4, 5}, values);
    std::vector<unsigned int> order{0, 1, 2, 3};
    LayerBindingId id = 0;
    while (std::next_permutation(order.begin(), order.end()))
    {
        IConnectableLayer* transpose =
            network->AddTransposeLayer(TransposeDescriptor(PermutationVector(order.data(), 4)));
        Connect(constant, transpose);
        Connect(transpose, network->AddOutputLayer(id++));
    }
    OptimizerOptionsOpaque options;
    Limits limits;
    limits.m_MaxTotalBytes = 3 * 480 + 100;
    options.SetLimits(limits);
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec(), options);
    EXPECT_EQ(Count(GraphOf(optimized), LayerType::Transpose), 23u - 3u);
}

TEST(ConstantFolding, NestedNetworksFold)
{
    const auto branch = [](float value)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* floor = network->AddFloorLayer("folded");
        Connect(AddFloats(*network, {1}, {value}), floor);
        IConnectableLayer* sum = network->AddAdditionLayer("sum");
        Connect(AddInput(*network, 0, FloatInfo({2})), sum, 0);
        Connect(floor, sum, 1);
        Connect(sum, network->AddOutputLayer(0));
        return network;
    };
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* choice = network->AddIfLayer(*branch(1.5f), *branch(-1.5f), "choice");
    Connect(AddInput(*network, 1, TensorInfo({1}, DataType::Boolean)), choice, 0);
    Connect(AddInput(*network, 0, FloatInfo({2})), choice, 1);
    Connect(choice, network->AddOutputLayer(0));
    BothWays both(*network);
    for (const auto& body : Find(both.Optimized(), "choice", LayerType::If)->Bodies())
    {
        EXPECT_EQ(Count(*body, LayerType::Floor), 0u);
    }
    for (const bool condition : {true, false})
    {
        const FloatInputs data({TensorShape({2})});
        InputTensors inputs = data.Tensors();
        inputs.emplace_back(1, ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), &condition));
        both.ExpectEqual(inputs);
    }
}

} // namespace tenon::test::constant_folding_test
