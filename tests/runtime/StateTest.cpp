// SPDX-License-Identifier: Apache-2.0
// States: what a network keeps from run to run, per session; initial values, resets, batches, exchanges, refusals.
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace tenon::test::state_test
{

using testing::HasSubstr;

namespace
{

IConnectableLayer* AddRead(INetwork& network, const char* name, const TensorInfo& info)
{
    IConnectableLayer* layer = network.AddReadStateLayer(StateDescriptor(name), name);
    layer->GetOutputSlot(0).SetTensorInfo(info);
    return layer;
}

IConnectableLayer* AddSum(INetwork& network, IConnectableLayer* a, IConnectableLayer* b)
{
    IConnectableLayer* sum =
        network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
    Connect(a, sum, 0);
    Connect(b, sum, 1);
    return sum;
}

/// out = state + in; state = out.
INetworkPtr MakeAccumulator(const std::vector<float>* initial = nullptr)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    IConnectableLayer* read = AddRead(*network, "total", FloatInfo({2}));
    if (initial != nullptr)
    {
        const ConstTensor tensor(TensorInfo({2}, DataType::Float32, 0.0f, 0, true), initial->data());
        Connect(network->AddConstantLayer(tensor, "initial"), read);
    }
    IConnectableLayer* sum = AddSum(*network, read, input);
    Connect(sum, network->AddWriteStateLayer(StateDescriptor("total"), "keep"));
    Connect(sum, network->AddOutputLayer(0, "out"));
    return network;
}

std::vector<float> Step(IRuntime& runtime, NetworkId id, SessionId session, std::vector<float> input)
{
    const TensorInfo info({static_cast<unsigned int>(input.size())}, DataType::Float32, 0.0f, 0, true);
    std::vector<float> result(input.size());
    runtime.EnqueueWorkload(id, session, {{0, ConstTensor(info, input.data())}}, {{0, Tensor(info, result.data())}});
    return result;
}

using Floats = std::vector<float>;

} // namespace

TEST(State, LivesOnFromRunToRun)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeAccumulator());
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{1, 2}));
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{2, 4}));
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, 2}), (Floats{3, 6})) << "calls that name no session use the default one";
    runtime->ResetStates(id);
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{1, 2}));
}

TEST(State, StartsFromItsInitialValue)
{
    const Floats initial{10, 20};
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeAccumulator(&initial));
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{11, 22}));
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{12, 24}));
    runtime->ResetStates(id);
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {1, 2}), (Floats{11, 22}));
    EXPECT_EQ(initial, (Floats{10, 20})) << "the constant itself is not written";
}

TEST(State, IsNotSharedBySessions)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeAccumulator());
    const SessionId a = runtime->CreateSession(id);
    const SessionId b = runtime->CreateSession(id);
    EXPECT_NE(a, b);
    EXPECT_EQ(Step(*runtime, id, a, {1, 1}), (Floats{1, 1}));
    EXPECT_EQ(Step(*runtime, id, b, {5, 5}), (Floats{5, 5}));
    EXPECT_EQ(Step(*runtime, id, a, {1, 1}), (Floats{2, 2}));
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {3, 3}), (Floats{3, 3}));
    runtime->DestroySession(id, a);
    EXPECT_THROW(Step(*runtime, id, a, {1, 1}), InvalidArgumentException);
    EXPECT_THROW(runtime->DestroySession(id, a), InvalidArgumentException);
    EXPECT_THROW(runtime->DestroySession(id, SessionId::Default), InvalidArgumentException);
    EXPECT_THROW(runtime->ResetStates(id, a), InvalidArgumentException);
}

TEST(State, RunsOfOneSessionFollowEachOther)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeAccumulator());
    constexpr int perThread = 200;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
    {
        threads.emplace_back(
            [&, session = t == 0 ? SessionId::Default : runtime->CreateSession(id)]
            {
                for (int i = 0; i < perThread; ++i)
                {
                    Step(*runtime, id, SessionId::Default, {1, 0});
                    Step(*runtime, id, session, {0, 1});
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(Step(*runtime, id, SessionId::Default, {0, 0}), (Floats{4 * perThread, perThread}));
}

TEST(State, TwoStatesExchangeTheirValues)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1}));
    IConnectableLayer* a = AddRead(*network, "a", FloatInfo({1}));
    IConnectableLayer* b = AddRead(*network, "b", FloatInfo({1}));
    IConnectableLayer* sum = AddSum(*network, a, input); // b becomes a + in, a becomes b
    Connect(b, network->AddWriteStateLayer(StateDescriptor("a"), "keep a"));
    Connect(sum, network->AddWriteStateLayer(StateDescriptor("b"), "keep b"));
    Connect(b, network->AddOutputLayer(0, "out"));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    Floats seen;
    for (const float in : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f})
    {
        seen.push_back(Step(*runtime, id, SessionId::Default, {in})[0]);
    }
    EXPECT_EQ(seen, (Floats{0, 1, 2, 4, 6}));
}

TEST(State, OfSignedBytesStartsAtItsZeroPointOthersAtZero)
{
    for (const DataType type : {DataType::QAsymmS8, DataType::QAsymmU8})
    {
        INetworkPtr network = INetwork::Create();
        const TensorInfo info({3}, type, 0.5f, 7);
        IConnectableLayer* read = AddRead(*network, "s", info);
        Connect(read, network->AddOutputLayer(0, "out"));
        const IRuntimePtr runtime = IRuntime::Create({});
        const NetworkId id = Load(*runtime, *network);
        std::vector<uint8_t> out(3, 1);
        runtime->EnqueueWorkload(id, {}, OutputTensors{{0, Tensor(info, out.data())}});
        EXPECT_EQ(out, std::vector<uint8_t>(3, type == DataType::QAsymmS8 ? 7 : 0)) << GetDataTypeName(type);
    }
}

TEST(State, FollowsTheBatchOfItsReference)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, 2}));
    IConnectableLayer* read = network->AddReadStateLayer(StateDescriptor("s", 0), "read");
    read->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({1, 2}, {false, true}), DataType::Float32));
    Connect(input, read, 1);
    IConnectableLayer* sum = AddSum(*network, read, input);
    Connect(sum, network->AddWriteStateLayer(StateDescriptor("s"), "keep"));
    Connect(sum, network->AddOutputLayer(0, "out"));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunFloat(*runtime, id, {1, 2}, {1, 2}), (Floats{1, 2}));
    EXPECT_EQ(RunFloat(*runtime, id, {1, 2}, {1, 2}), (Floats{2, 4}));
    EXPECT_EQ(RunFloat(*runtime, id, {2, 2}, {1, 2, 3, 4}), (Floats{1, 2, 3, 4})) << "another batch starts anew";
    EXPECT_EQ(RunFloat(*runtime, id, {2, 2}, {1, 2, 3, 4}), (Floats{2, 4, 6, 8}));
}

TEST(State, WhatDoesNotFitIsRefused)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    auto expectRefusal = [&](INetwork& network, const char* text)
    {
        try
        {
            Load(*runtime, network);
            FAIL() << "accepted; expected: " << text;
        }
        catch (const Exception& error)
        {
            EXPECT_THAT(error.what(), HasSubstr(text));
        }
    };
    INetworkPtr twice = INetwork::Create();
    Connect(AddRead(*twice, "s", FloatInfo({1})), twice->AddOutputLayer(0));
    Connect(AddRead(*twice, "s", FloatInfo({1})), twice->AddOutputLayer(1));
    expectRefusal(*twice, "which another layer reads too");

    INetworkPtr types = INetwork::Create();
    Connect(AddRead(*types, "s", FloatInfo({1})), types->AddOutputLayer(0));
    Connect(AddInput(*types, 0, TensorInfo({1}, DataType::Signed32)), types->AddWriteStateLayer(StateDescriptor("s")));
    expectRefusal(*types, "is read as Float32 but written as Signed32");

    INetworkPtr undeclared = INetwork::Create();
    Connect(undeclared->AddReadStateLayer(StateDescriptor("s")), undeclared->AddOutputLayer(0));
    expectRefusal(*undeclared, "must be declared");

    IRuntime::CreationOptions options;
    options.m_Limits.m_MaxTotalBytes = 1000;
    const IRuntimePtr small = IRuntime::Create(options);
    INetworkPtr large = INetwork::Create();
    Connect(AddRead(*large, "s", FloatInfo({126})), large->AddOutputLayer(0));
    EXPECT_THROW(Load(*small, *large), MemoryValidationException);

    INetworkPtr shapes = INetwork::Create();
    Connect(AddRead(*shapes, "s", FloatInfo({2})), shapes->AddOutputLayer(0));
    Connect(AddInput(*shapes, 0, FloatInfo({3})), shapes->AddWriteStateLayer(StateDescriptor("s")));
    const NetworkId id = Load(*runtime, *shapes);
    EXPECT_THROW(RunFloat(*runtime, id, {3}, {1, 2, 3}), RuntimeException);
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, 2}), (Floats{0, 0}));
}

} // namespace tenon::test::state_test
