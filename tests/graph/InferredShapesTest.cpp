// SPDX-License-Identifier: Apache-2.0
// Shapes of outputs before a network is optimized.
#include "common/InferredShapes.hpp"

#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tenon::test::inferred_shapes_test
{

namespace
{

IConnectableLayer* AddAbs(INetwork& network, IConnectableLayer* from)
{
    IConnectableLayer* const layer =
        network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddSum(INetwork& network, IConnectableLayer* a, IConnectableLayer* b)
{
    IConnectableLayer* const layer =
        network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add), "sum");
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return layer;
}

TensorShape ShapeOf(const IConnectableLayer* layer)
{
    return InferredShapes().Get(layer->GetOutputSlot(0));
}

} // namespace

TEST(InferredShapes, DeclaredShapesCountWhereTheyAreKnown)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const first = AddAbs(*network, AddInput(*network, 0, FloatInfo({2, 3})));
    IConnectableLayer* const second = AddAbs(*network, first);
    EXPECT_EQ(ShapeOf(second), TensorShape({2, 3}));
    TensorInfo open = FloatInfo({2, 3});
    open.SetShape(TensorShape({0, 3}, {false, true}));
    second->GetOutputSlot(0).SetTensorInfo(open);
    EXPECT_EQ(ShapeOf(second), TensorShape({2, 3}));
    first->GetOutputSlot(0).SetTensorInfo(FloatInfo({5, 3}));
    EXPECT_EQ(ShapeOf(second), TensorShape({5, 3}));
    second->GetOutputSlot(0).SetTensorInfo(FloatInfo({7}));
    EXPECT_EQ(ShapeOf(second), TensorShape({7}));
}

TEST(InferredShapes, AreUnknownWhereNothingTellsThem)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const input = AddInput(*network, 0, FloatInfo({2, 3}));
    IConnectableLayer* const list = AddInput(*network, 1, TensorInfo({2}, DataType::Signed32));
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* const reshape = network->AddReshapeLayer(descriptor);
    Connect(input, reshape, 0);
    Connect(list, reshape, 1);
    EXPECT_EQ(ShapeOf(AddAbs(*network, reshape)), TensorShape());
    EXPECT_EQ(ShapeOf(AddSum(*network, input, list)), TensorShape()) << "they do not fit";
    IConnectableLayer* const lonely = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor());
    Connect(input, lonely, 1);
    EXPECT_EQ(ShapeOf(lonely), TensorShape());
    EXPECT_EQ(ShapeOf(AddAbs(*network, AddInput(*network, 2, TensorInfo(TensorShape(), DataType::Float32)))),
              TensorShape());
}

TEST(InferredShapes, ConstantsAreReadNoFurtherThanTheyReach)
{
    const INetworkPtr network = INetwork::Create();
    const int32_t target[] = {3, 2};
    IConnectableLayer* const constant =
        network->AddConstantLayer(ConstTensor(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), target));
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* const reshape = network->AddReshapeLayer(descriptor);
    Connect(AddInput(*network, 0, FloatInfo({2, 3})), reshape, 0);
    Connect(constant, reshape, 1);
    EXPECT_EQ(ShapeOf(reshape), TensorShape({3, 2}));
    // What the caller says of it is not so.
    EXPECT_EQ(reshape->InferOutputShapes({{2, 3}, {8}}).at(0), TensorShape());
    reshape->GetInputSlot(1).SetTensorInfo(TensorInfo({8}, DataType::Signed32));
    EXPECT_EQ(ShapeOf(reshape), TensorShape());
    reshape->GetInputSlot(1).SetTensorInfo(TensorInfo({2}, DataType::Signed64));
    EXPECT_EQ(ShapeOf(reshape), TensorShape());
}

TEST(InferredShapes, DeepAndWideNetworksTakeNoTimeThatMatters)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({1, 2}));
    for (int i = 0; i < 50'000; ++i) // a walk along each path would take 2^50000 steps
    {
        last = AddSum(*network, last, last);
    }
    constexpr uint32_t width = 50'000;
    OriginsDescriptor descriptor(width, 2);
    descriptor.SetConcatAxis(0);
    IConnectableLayer* const joined = network->AddConcatLayer(descriptor);
    for (uint32_t i = 0; i < width; ++i)
    {
        Connect(AddAbs(*network, last), joined, i);
    }
    EXPECT_EQ(ShapeOf(joined), TensorShape({width, 2}));
}

} // namespace tenon::test::inferred_shapes_test
