// SPDX-License-Identifier: Apache-2.0
// If and While: both branches, shapes that change, nesting, loops of no iteration and of too many, states passed
// through, and networks that do not fit together.
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::control_flow_test
{

using testing::HasSubstr;

namespace
{

using Floats = std::vector<float>;

IConnectableLayer* AddScalar(INetwork& network, float value)
{
    auto owner = std::make_shared<float>(value);
    const ConstTensor tensor(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), owner.get());
    return network.AddConstantLayer(tensor, owner, "constant");
}

IConnectableLayer* AddBinary(INetwork& network, BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
{
    IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), "binary");
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return layer;
}

/// out = in (operation) operand
INetworkPtr MakeBranch(BinaryOperation operation, float operand)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    Connect(AddBinary(*network, operation, input, AddScalar(*network, operand)), network->AddOutputLayer(0));
    return network;
}

/// out = concat(in, in)
INetworkPtr MakeDoubling()
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({2}));
    OriginsDescriptor descriptor(2, 1);
    descriptor.SetConcatAxis(0);
    IConnectableLayer* concat = network->AddConcatLayer(descriptor, "concat");
    Connect(input, concat, 0);
    Connect(input, concat, 1);
    Connect(concat, network->AddOutputLayer(0));
    return network;
}

/// input 0: Boolean [1]; input 1: values; out = abs(if(...))
INetworkPtr MakeIf(const INetwork& thenNetwork, const INetwork& elseNetwork)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* branch = network->AddIfLayer(thenNetwork, elseNetwork, "choice");
    Connect(AddInput(*network, 0, TensorInfo({1}, DataType::Boolean), "condition"), branch, 0);
    Connect(AddInput(*network, 1, FloatInfo({2}), "values"), branch, 1);
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(branch, abs);
    Connect(abs, network->AddOutputLayer(0, "out"));
    return network;
}

Floats RunIf(IRuntime& runtime, NetworkId id, bool condition, Floats values)
{
    const TensorInfo info({static_cast<unsigned int>(values.size())}, DataType::Float32, 0.0f, 0, true);
    const TensorInfo flag({1}, DataType::Boolean, 0.0f, 0, true);
    const auto byte = static_cast<uint8_t>(condition);
    Floats result;
    runtime.EnqueueWorkload(id, {{0, ConstTensor(flag, &byte)}, {1, ConstTensor(info, values.data())}},
                            [&](LayerBindingId, const TensorInfo& output)
                            {
                                result.resize(output.GetNumElements());
                                return result.data();
                            });
    return result;
}

/// A stand-in for Comparison: true while variable 0 is below `end`. max(min(end - x, 1), 0) cast to Boolean.
INetworkPtr MakeBelow(float end)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddInput(*network, 0, FloatInfo({1}));
    IConnectableLayer* left = AddBinary(*network, BinaryOperation::Sub, AddScalar(*network, end), x);
    IConnectableLayer* positive = AddBinary(*network, BinaryOperation::Maximum, left, AddScalar(*network, 0.0f));
    IConnectableLayer* cast = network->AddCastLayer("cast");
    cast->GetOutputSlot(0).SetTensorInfo(TensorInfo({1}, DataType::Boolean));
    Connect(positive, cast);
    Connect(cast, network->AddOutputLayer(0));
    return network;
}

/// variable 0 += 1; variable 1 = step(variable 1)
INetworkPtr MakeBody(const std::function<IConnectableLayer*(INetwork&, IConnectableLayer*)>& step)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* count = AddInput(*network, 0, FloatInfo({1}));
    IConnectableLayer* values = AddInput(*network, 1, FloatInfo({2}));
    Connect(AddBinary(*network, BinaryOperation::Add, count, AddScalar(*network, 1.0f)), network->AddOutputLayer(0));
    Connect(step(*network, values), network->AddOutputLayer(1));
    return network;
}

INetworkPtr MakeLoop(const INetwork& condition, const INetwork& body)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* loop = network->AddWhileLayer(condition, body, "loop");
    Connect(AddScalar(*network, 0.0f), loop, 0);
    Connect(AddInput(*network, 0, FloatInfo({2})), loop, 1);
    Connect(loop, network->AddOutputLayer(0), 0, 1);
    return network;
}

IConnectableLayer* Twice(INetwork& network, IConnectableLayer* values)
{
    return AddBinary(network, BinaryOperation::Add, values, values);
}

IConnectableLayer* WithItself(INetwork& network, IConnectableLayer* values)
{
    OriginsDescriptor descriptor(2, 1);
    descriptor.SetConcatAxis(0);
    IConnectableLayer* concat = network.AddConcatLayer(descriptor, "concat");
    Connect(values, concat, 0);
    Connect(values, concat, 1);
    return concat;
}

} // namespace

TEST(If, RunsTheBranchThatItsConditionNames)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto network = MakeIf(*MakeBranch(BinaryOperation::Add, 10), *MakeBranch(BinaryOperation::Mul, -3));
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunIf(*runtime, id, true, {1, 2}), (Floats{11, 12}));
    EXPECT_EQ(RunIf(*runtime, id, false, {1, 2}), (Floats{3, 6}));
    EXPECT_EQ(RunIf(*runtime, id, true, {1, 2, 3}), (Floats{11, 12, 13})) << "with another shape";
}

TEST(If, BranchesMayGiveDifferentShapes)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeIf(*MakeDoubling(), *MakeBranch(BinaryOperation::Add, 0)));
    EXPECT_EQ(RunIf(*runtime, id, true, {1, -2}), (Floats{1, 2, 1, 2}));
    EXPECT_EQ(RunIf(*runtime, id, false, {1, -2}), (Floats{1, 2}));
}

TEST(If, Nests)
{
    INetworkPtr inner = INetwork::Create();
    IConnectableLayer* flag = AddInput(*inner, 1, TensorInfo({1}, DataType::Boolean));
    IConnectableLayer* branch =
        inner->AddIfLayer(*MakeBranch(BinaryOperation::Add, 1), *MakeBranch(BinaryOperation::Add, 2), "inner");
    Connect(flag, branch, 0);
    Connect(AddInput(*inner, 0, FloatInfo({2})), branch, 1);
    Connect(branch, inner->AddOutputLayer(0));

    INetworkPtr network = INetwork::Create();
    IConnectableLayer* outer = network->AddIfLayer(*inner, *MakeBranch(BinaryOperation::Add, 4), "outer");
    ASSERT_EQ(outer->GetNumInputSlots(), 3u);
    IConnectableLayer* condition = AddInput(*network, 0, TensorInfo({1}, DataType::Boolean));
    Connect(condition, outer, 0);
    Connect(AddInput(*network, 1, FloatInfo({2})), outer, 1);
    Connect(condition, outer, 2);
    Connect(outer, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network);
    EXPECT_EQ(RunIf(*runtime, id, true, {0, 1}), (Floats{1, 2}));
    EXPECT_EQ(RunIf(*runtime, id, false, {0, 1}), (Floats{4, 5}));
}

TEST(If, NetworksThatDoNotMatchAreRefused)
{
    INetworkPtr network = INetwork::Create();
    INetworkPtr empty = INetwork::Create();
    EXPECT_THROW(network->AddIfLayer(*MakeDoubling(), *empty), InvalidArgumentException) << "numbers of outputs differ";

    INetworkPtr gap = INetwork::Create();
    Connect(AddInput(*gap, 0, FloatInfo({2})), gap->AddOutputLayer(1));
    EXPECT_THROW(network->AddIfLayer(*gap, *gap), InvalidArgumentException) << "outputs are not counted from 0";

    INetworkPtr stateful = INetwork::Create();
    IConnectableLayer* read = stateful->AddReadStateLayer(StateDescriptor("s"));
    read->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    Connect(read, stateful->AddOutputLayer(0));
    EXPECT_THROW(network->AddIfLayer(*stateful, *stateful), InvalidArgumentException);

    INetworkPtr integers = INetwork::Create();
    Connect(AddInput(*integers, 0, TensorInfo({2}, DataType::Signed32)), integers->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    try
    {
        Load(*runtime, *MakeIf(*MakeDoubling(), *integers));
        FAIL();
    }
    catch (const GraphValidationException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("'choice' (If): input 1 is Float32"));
    }
}

TEST(If, WhatNoBackendTakesInABranchIsNamedWithItsPlace)
{
    INetworkPtr odd = INetwork::Create();
    CustomDescriptor descriptor;
    descriptor.m_Name = "Unheard";
    descriptor.m_NumInputs = 1;
    descriptor.m_NumOutputs = 1;
    IConnectableLayer* custom = odd->AddCustomLayer(descriptor, "odd");
    custom->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    Connect(AddInput(*odd, 0, FloatInfo({2})), custom);
    Connect(custom, odd->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    try
    {
        Load(*runtime, *MakeIf(*odd, *odd));
        FAIL();
    }
    catch (const UnimplementedException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("2 of "));
        EXPECT_THAT(error.what(), HasSubstr("'choice' (If), layer"));
        EXPECT_THAT(error.what(), HasSubstr("Unheard"));
    }
}

TEST(While, RunsUntilItsConditionIsFalse)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeLoop(*MakeBelow(3), *MakeBody(Twice)));
    EXPECT_EQ(RunFloat(*runtime, id, {2}, {1, -2}), (Floats{8, -16}));
    EXPECT_EQ(RunFloat(*runtime, id, {3}, {1, 2, 3}), (Floats{8, 16, 24})) << "with another shape";
    const NetworkId none = Load(*runtime, *MakeLoop(*MakeBelow(0), *MakeBody(Twice)));
    EXPECT_EQ(RunFloat(*runtime, none, {2}, {1, -2}), (Floats{1, -2})) << "no turn at all";
}

TEST(While, VariablesMayGrow)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeLoop(*MakeBelow(2), *MakeBody(WithItself)));
    EXPECT_EQ(RunFloat(*runtime, id, {1}, {7}), (Floats{7, 7, 7, 7}));
}

TEST(While, EndsAtTheLimit)
{
    IRuntime::CreationOptions options;
    options.m_Limits.m_MaxLoopIterations = 100;
    options.m_Limits.m_MaxTotalBytes = 1 << 20;
    const IRuntimePtr runtime = IRuntime::Create(options);
    INetworkPtr still = INetwork::Create();
    Connect(AddInput(*still, 0, FloatInfo({1})), still->AddOutputLayer(0));
    Connect(AddInput(*still, 1, FloatInfo({2})), still->AddOutputLayer(1));
    const NetworkId endless = Load(*runtime, *MakeLoop(*MakeBelow(3), *still));
    try
    {
        RunFloat(*runtime, endless, {2}, {1, 2});
        FAIL();
    }
    catch (const LimitExceededException& error)
    {
        EXPECT_THAT(error.what(), HasSubstr("m_MaxLoopIterations"));
        EXPECT_THAT(error.what(), HasSubstr("'loop' (While)"));
    }
    const NetworkId growing = Load(*runtime, *MakeLoop(*MakeBelow(50), *MakeBody(WithItself)));
    EXPECT_THROW(RunFloat(*runtime, growing, {2}, {1, 2}), LimitExceededException);
}

TEST(While, TurnsOfNestedLoopsCountTogether)
{
    IRuntime::CreationOptions options;
    options.m_Limits.m_MaxLoopIterations = 24; // 4 iterations, each of 5 more
    const IRuntimePtr runtime = IRuntime::Create(options);
    const auto makeNested = [](float turns)
    {
        return MakeLoop(*MakeBelow(turns), *MakeBody(
                                               [](INetwork& network, IConnectableLayer* values)
                                               {
                                                   IConnectableLayer* loop =
                                                       network.AddWhileLayer(*MakeBelow(5), *MakeBody(Twice), "inner");
                                                   Connect(AddScalar(network, 0.0f), loop, 0);
                                                   Connect(values, loop, 1);
                                                   IConnectableLayer* floor = network.AddFloorLayer("floor");
                                                   Connect(loop, floor, 0, 1);
                                                   return floor;
                                               }));
    };
    const NetworkId max = Load(*runtime, *makeNested(4));
    for (int run = 0; run < 2; ++run)
    {
        EXPECT_EQ(RunFloat(*runtime, max, {2}, {1, -2}), (Floats{1048576, -2097152})) << "each run counts anew";
    }
    EXPECT_THROW(RunFloat(*runtime, Load(*runtime, *makeNested(5)), {2}, {1, 2}), LimitExceededException);
}

TEST(While, NetworksThatDoNotMatchAreRefused)
{
    INetworkPtr network = INetwork::Create();
    INetworkPtr two = INetwork::Create();
    Connect(AddInput(*two, 0, FloatInfo({1})), two->AddOutputLayer(0));
    Connect(AddInput(*two, 1, FloatInfo({1})), two->AddOutputLayer(1));
    EXPECT_THROW(network->AddWhileLayer(*two, *two), InvalidArgumentException) << "a condition has one output";
    EXPECT_THROW(network->AddWhileLayer(*MakeBelow(1), *INetwork::Create()), InvalidArgumentException)
        << "the condition takes a variable that the body does not give";
}

} // namespace tenon::test::control_flow_test
