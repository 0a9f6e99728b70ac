// SPDX-License-Identifier: Apache-2.0
// Passes FoldReshapes, RemoveBroadcastTo, RemoveDeadLayers and AddBroadcastReshapes.
#include "harness/FakeBackend.hpp"
#include "harness/Passes.hpp"

#include <gtest/gtest.h>

namespace tenon::test::fold_reshapes_test
{

namespace
{

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* input, const TensorShape& target)
{
    IConnectableLayer* layer = network.AddReshapeLayer(ReshapeDescriptor(target), "reshape");
    Connect(input, layer);
    return layer;
}

IConnectableLayer* AddReshape(INetwork& network, IConnectableLayer* input, const std::vector<int32_t>& target)
{
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* layer = network.AddReshapeLayer(descriptor, "reshape");
    Connect(input, layer);
    Connect(AddInts(network, {static_cast<unsigned int>(target.size())}, target), layer, 1);
    return layer;
}

IConnectableLayer* AddAbs(INetwork& network, IConnectableLayer* input)
{
    IConnectableLayer* abs = network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(input, abs);
    return abs;
}

/// input 0 of shape [2,6] -> Reshape to each target -> abs -> output 0
INetworkPtr MakeReshapes(const std::vector<std::vector<int32_t>>& targets)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({2, 6}));
    for (const std::vector<int32_t>& target : targets)
    {
        last = AddReshape(*network, last, target);
    }
    Connect(AddAbs(*network, last), network->AddOutputLayer(0));
    return network;
}

/// input 0 of shape [6] -> Reshape to [2,3] -> Reshape to input 1 -> Reshape to [3,2] -> output 0
INetworkPtr MakeReshapeByInput()
{
    INetworkPtr network = INetwork::Create();
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* middle = network->AddReshapeLayer(descriptor, "by input");
    Connect(AddReshape(*network, AddInput(*network, 0, FloatInfo({6})), TensorShape({2, 3})), middle);
    Connect(AddInput(*network, 1, TensorInfo({1}, DataType::Signed32), "shape"), middle, 1);
    Connect(AddReshape(*network, middle, TensorShape({3, 2})), network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(FoldReshapes, OneThatGetsItsShapeFromATensorStays)
{
    BothWays both(*MakeReshapeByInput());
    EXPECT_EQ(Count(both.Optimized(), LayerType::Reshape), 3u) << "what the tensor says may not fit";
}

TEST(FoldReshapes, TheLastOfAChainStays)
{
    BothWays both(*MakeReshapes({{3, 4}, {2, 2, 3}, {12}, {4, 3}}));
    EXPECT_EQ(Count(both.Optimized(), LayerType::Reshape), 1u);
    both.ExpectEqual({TensorShape({2, 6})});
    both.ExpectEqual({TensorShape({12, 1, 1})});
    both.ExpectRefused({TensorShape({2, 7})});
}

TEST(FoldReshapes, OpenSizes)
{
    // Behind a fixed shape an open size is fixed, too.
    BothWays known(*MakeReshapes({{3, 4}, {2, -1}}));
    EXPECT_EQ(Count(known.Optimized(), LayerType::Reshape), 1u);
    known.ExpectEqual({TensorShape({2, 6})});
    known.ExpectRefused({TensorShape({2, 7})});
    // A target that says all checks what an open size before it did.
    BothWays checked(*MakeReshapes({{-1, 3}, {4, 3}}));
    EXPECT_EQ(Count(checked.Optimized(), LayerType::Reshape), 1u);
    checked.ExpectEqual({TensorShape({2, 6})});
    checked.ExpectRefused({TensorShape({3, 5})});
    // 14 elements fit the second target, but not the first one.
    BothWays open(*MakeReshapes({{-1, 3}, {-1, 2}}));
    EXPECT_EQ(Count(open.Optimized(), LayerType::Reshape), 2u);
    open.ExpectEqual({TensorShape({2, 6})});
    open.ExpectEqual({TensorShape({4, 6})});
    open.ExpectRefused({TensorShape({2, 7})});
}

TEST(FoldReshapes, WhatChangesNothingInAnyRunGoes)
{
    BothWays twice(*MakeReshapes({{3, 4}, {3, 4}}));
    EXPECT_EQ(Count(twice.Optimized(), LayerType::Reshape), 1u);
    twice.ExpectEqual({TensorShape({2, 6})});
    // The input has that shape in Optimize(), but other runs bring others.
    BothWays once(*MakeReshapes({{2, 6}}));
    EXPECT_EQ(Count(once.Optimized(), LayerType::Reshape), 1u);
    EXPECT_EQ(once.ExpectEqual({TensorShape({4, 3})})[0].m_Info.GetShape(), TensorShape({2, 6}));
    once.ExpectRefused({TensorShape({2, 7})});
}

TEST(FoldReshapes, ExpandDimsAndSqueezeCancel)
{
    for (const int axis : {1, -1})
    {
        for (const bool same : {true, false})
        {
            INetworkPtr network = INetwork::Create();
            ExpandDimsDescriptor expand;
            expand.m_Axis = axis;
            IConnectableLayer* expanded = network->AddExpandDimsLayer(expand, "expand");
            Connect(AddInput(*network, 0, FloatInfo({1, 6})), expanded);
            SqueezeDescriptor squeeze;
            squeeze.m_Axis = {same ? axis : 0};
            IConnectableLayer* squeezed = network->AddSqueezeLayer(squeeze, "squeeze");
            Connect(expanded, squeezed);
            Connect(AddAbs(*network, squeezed), network->AddOutputLayer(0));
            BothWays both(*network);
            EXPECT_EQ(Count(both.Optimized(), LayerType::Squeeze), same ? 0u : 1u);
            both.ExpectEqual({TensorShape({1, 6})});
            both.ExpectEqual({TensorShape({1, 2, 3})});
        }
    }
}

TEST(FoldReshapes, AChangeOfQuantizationStays)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = network->AddReshapeLayer(ReshapeDescriptor(TensorShape({4})), "first");
    Connect(AddInput(*network, 0, TensorInfo({2, 2}, DataType::QAsymmU8, 1.0f, 0)), first);
    IConnectableLayer* second = network->AddReshapeLayer(ReshapeDescriptor(TensorShape({4})), "second");
    second->GetOutputSlot(0).SetTensorInfo(TensorInfo({4}, DataType::QAsymmU8, 0.5f, 2));
    Connect(first, second);
    IConnectableLayer* dequantize = network->AddDequantizeLayer("d");
    Connect(second, dequantize);
    Connect(dequantize, network->AddOutputLayer(0));
    BothWays both(*network);
    const std::vector<uint8_t> values{2, 4, 6, 8};
    const InputTensors inputs{{0, ConstTensor(TensorInfo({2, 2}, DataType::QAsymmU8, 1.0f, 0, true), values)}};
    EXPECT_EQ(both.ExpectEqual(inputs)[0].Floats(), (std::vector<float>{0, 1, 2, 3}));
}

TEST(RemoveBroadcastTo, OnlyWhereTheOtherOperandIsFixedAndCovers)
{
    struct Case
    {
        TensorShape m_Target;
        bool m_IsFixed; ///< the other operand, of shape [2,3,4]
        bool m_Goes;
    };
    const Case cases[] = {
        {{2, 3, 4}, true, true}, {{3, 4}, true, true}, {{2, 3, 4}, false, false}, {{5, 2, 3, 4}, true, false}};
    for (const Case& each : cases)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* small = AddReshape(*network, AddInput(*network, 0, FloatInfo({4})), TensorShape({1, 4}));
        IConnectableLayer* broadcast = network->AddBroadcastToLayer(BroadcastToDescriptor(each.m_Target), "broadcast");
        Connect(small, broadcast);
        IConnectableLayer* other = AddInput(*network, 1, FloatInfo({2, 3, 4}));
        other = each.m_IsFixed ? AddReshape(*network, other, TensorShape({2, 3, 4})) : other;
        IConnectableLayer* sum = network->AddAdditionLayer("sum");
        Connect(AddAbs(*network, other), sum, 0);
        Connect(broadcast, sum, 1);
        Connect(sum, network->AddOutputLayer(0));
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::BroadcastTo), each.m_Goes ? 0u : 1u)
            << each.m_Target.ToString() << each.m_IsFixed;
        both.ExpectEqual({TensorShape({4}), TensorShape({2, 3, 4})});
        if (!each.m_IsFixed)
        {
            both.ExpectEqual({TensorShape({4}), TensorShape({1})}); // the output has the target's shape all the same
        }
    }
}

TEST(RemoveDeadLayers, StatesAndNestedNetworks)
{
    // A branch with a dead layer; a state whose next value nothing else reads.
    INetworkPtr branch = INetwork::Create();
    IConnectableLayer* value = AddInput(*branch, 0, FloatInfo({2}));
    IConnectableLayer* dead = branch->AddFloorLayer("dead");
    Connect(value, dead);
    Connect(AddAbs(*branch, value), branch->AddOutputLayer(0));
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    IConnectableLayer* choice = network->AddIfLayer(*branch, *branch, "choice");
    Connect(AddInput(*network, 1, TensorInfo({1}, DataType::Boolean)), choice, 0);
    Connect(input, choice, 1);
    StateDescriptor state;
    state.m_Name = "s";
    IConnectableLayer* read = network->AddReadStateLayer(state, "read");
    read->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    IConnectableLayer* sum = network->AddAdditionLayer("sum");
    Connect(choice, sum, 0);
    Connect(read, sum, 1);
    Connect(sum, network->AddWriteStateLayer(state, "write"));
    IConnectableLayer* unused = network->AddFloorLayer("unused");
    Connect(sum, unused);
    Connect(read, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    auto optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_EQ(Count(GraphOf(optimized), LayerType::Floor), 0u);
    EXPECT_EQ(Count(GraphOf(optimized), LayerType::WriteState), 1u);
    const Layer* kept = Find(GraphOf(optimized), "choice", LayerType::If);
    ASSERT_NE(kept, nullptr) << "the state reads it";
    EXPECT_EQ(Count(*kept->Bodies()[0], LayerType::Floor), 0u);
    NetworkId id = 0;
    runtime->LoadNetwork(id, std::move(optimized));
    const bool condition = true;
    const std::vector<float> values{-1, 2};
    const InputTensors inputs{{0, ConstTensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), values)},
                              {1, ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), &condition)}};
    EXPECT_EQ(RunNetwork(*runtime, id, inputs)[0].Floats(), (std::vector<float>{0, 0}));
    EXPECT_EQ(RunNetwork(*runtime, id, inputs)[0].Floats(), (std::vector<float>{1, 2}));
    EXPECT_EQ(RunNetwork(*runtime, id, inputs)[0].Floats(), (std::vector<float>{2, 4}));
}

TEST(AddBroadcastReshapes, OperandsGetOneRankForBackendsThatNeedIt)
{
    for (const bool needsIt : {false, true})
    {
        auto fake = std::make_shared<FakeBackend>(
            "Fake", std::set<LayerType>{LayerType::ElementwiseBinary, LayerType::ExpandDims});
        fake->SetCapabilities(BackendCapabilities("Fake", {{"EqualRankBroadcast", needsIt}}));
        IRuntime::CreationOptions options;
        options.m_Backends = {fake};
        const IRuntimePtr runtime = IRuntime::Create(options);
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* data = AddReshape(*network, AddInput(*network, 0, FloatInfo({24})), TensorShape({2, 3, 4}));
        IConnectableLayer* sum = network->AddSubtractionLayer("sum");
        Connect(AddFloats(*network, {4}, {1, 2, 3, 4}), sum, 0);
        Connect(data, sum, 1);
        IConnectableLayer* free = network->AddAdditionLayer("free"); // an operand of any rank
        Connect(sum, free, 0);
        Connect(AddInput(*network, 1, FloatInfo({4})), free, 1);
        Connect(free, network->AddOutputLayer(0));
        auto optimized = Optimize(*network, {"Fake", "CpuRef"}, runtime->GetDeviceSpec());
        EXPECT_EQ(Count(GraphOf(optimized), LayerType::ExpandDims), needsIt ? 2u : 0u);
        const Layer* layer = Find(GraphOf(optimized), "sum", LayerType::ElementwiseBinary);
        ASSERT_NE(layer, nullptr);
        EXPECT_EQ(layer->Input(0).GetTensorInfo().GetShape(), needsIt ? TensorShape({1, 1, 4}) : TensorShape({4}));
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(optimized));
        const FloatInputs inputs({TensorShape({24}), TensorShape({4})});
        EXPECT_EQ(RunNetwork(*runtime, id, inputs.Tensors())[0].m_Info.GetShape(), TensorShape({2, 3, 4}));
        const FloatInputs others({TensorShape({24}), TensorShape({5, 1, 1, 1})});
        EXPECT_EQ(RunNetwork(*runtime, id, others.Tensors())[0].m_Info.GetShape(), TensorShape({5, 2, 3, 4}));
    }
}

} // namespace tenon::test::fold_reshapes_test
