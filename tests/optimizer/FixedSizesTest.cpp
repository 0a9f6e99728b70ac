// SPDX-License-Identifier: Apache-2.0
// Inputs of fixed sizes: what the optimizer computes from them, wholly or in part, and which runs are refused.
#include "harness/MessageOf.hpp"
#include "harness/Passes.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/serializer/IDeserializer.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace tenon::test::fixed_sizes_test
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

IConnectableLayer* After(IConnectableLayer* layer, const std::vector<IConnectableLayer*>& inputs)
{
    for (unsigned int i = 0; i < inputs.size(); ++i)
    {
        Connect(inputs[i], layer, i);
    }
    return layer;
}

IConnectableLayer* AddFixedInput(INetwork& network, const TensorShape& shape, bool isFixed = true)
{
    IConnectableLayer* layer = network.AddInputLayer(0, InputDescriptor(isFixed), "image");
    layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(shape, DataType::Float32));
    return layer;
}

TensorShape OpenBatch(std::initializer_list<unsigned int> sizes)
{
    TensorShape shape(sizes);
    shape.SetDimensionUnknown(0);
    return shape;
}

/// x [N, 6, 4] -> [N, 24], the target computed from the shape of x.
INetworkPtr MakeFlatten(const TensorShape& shape, bool isFixed)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* x = AddFixedInput(*network, shape, isFixed);
    IConnectableLayer* sizes = After(network->AddShapeLayer("sizes"), {x});
    const auto at = [&](int32_t index)
    {
        return After(network->AddGatherLayer(GatherDescriptor(0), "size"),
                     {sizes, AddInts(*network, TensorShape({1}), {index})});
    };
    IConnectableLayer* product =
        After(network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), "product"),
              {at(1), at(2)});
    OriginsDescriptor join(2, 1);
    join.SetConcatAxis(0);
    IConnectableLayer* target = After(network->AddConcatLayer(join, "target"), {at(0), product});
    ReshapeDescriptor reshape;
    reshape.m_ParametersAsInputs = true;
    Connect(After(network->AddReshapeLayer(reshape, "flat"), {x, target}), network->AddOutputLayer(0));
    return network;
}

std::vector<LayerType> Computing(const Graph& graph)
{
    std::vector<LayerType> types;
    for (const auto& layer : graph.Layers())
    {
        const LayerType type = layer->GetType();
        if (type != LayerType::Input && type != LayerType::Output && type != LayerType::Constant)
        {
            types.push_back(type);
        }
    }
    return types;
}

} // namespace

TEST(FixedSizes, ShapeArithmeticIsFolded)
{
    BothWays whole(*MakeFlatten({3, 6, 4}, true));
    EXPECT_THAT(Computing(whole.Optimized()), ElementsAre(LayerType::Reshape));
    whole.ExpectEqual({TensorShape({3, 6, 4})});

    // An open batch: the Reshape computes it.
    BothWays part(*MakeFlatten(OpenBatch({1, 6, 4}), true));
    EXPECT_THAT(Computing(part.Optimized()), ElementsAre(LayerType::Reshape));
    for (const unsigned int batch : {1U, 5U, 0U})
    {
        part.ExpectEqual({TensorShape({batch, 6, 4})});
    }

    // Without the promise another run may bring other sizes.
    BothWays open(*MakeFlatten({3, 6, 4}, false));
    EXPECT_GT(Computing(open.Optimized()).size(), 3u);
    open.ExpectEqual({TensorShape({2, 5, 3})});
}

TEST(FixedSizes, OtherSizesAreRefused)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *MakeFlatten(OpenBatch({1, 6, 4}), true));
    EXPECT_EQ(RunFloat(*runtime, id, {1, 6, 4}, Ramp(24)), Ramp(24));
    EXPECT_EQ(RunFloat(*runtime, id, {2, 6, 4}, Ramp(48)), Ramp(48));
    EXPECT_THAT(MessageOf<InvalidArgumentException>(
                    [&] {
                        RunFloat(*runtime, id, {1, 6, 5}, Ramp(30));
                    }),
                AllOf(HasSubstr("input 0 'image'"), HasSubstr("dimension 2"), HasSubstr("4"), HasSubstr("not 5")));
    EXPECT_THAT(MessageOf<InvalidArgumentException>(
                    [&] {
                        RunFloat(*runtime, id, {6, 4}, Ramp(24));
                    }),
                AllOf(HasSubstr("input 0 'image'"), HasSubstr("3 dimensions"), HasSubstr("not 2")));
    EXPECT_EQ(RunFloat(*runtime, id, {1, 6, 4}, Ramp(24)), Ramp(24));

    // That there are no dimensions is promised, too.
    const INetworkPtr scalar = INetwork::Create();
    Connect(AddFixedInput(*scalar, TensorShape(Dimensionality::Scalar)), scalar->AddOutputLayer(0));
    const NetworkId ofScalar = Load(*runtime, *scalar);
    EXPECT_EQ(RunFloat(*runtime, ofScalar, TensorShape(Dimensionality::Scalar), {7.0f}), std::vector<float>{7.0f});
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { RunFloat(*runtime, ofScalar, {3}, Ramp(3)); }),
                AllOf(HasSubstr("input 0 'image'"), HasSubstr("0 dimensions"), HasSubstr("not 1")));
}

TEST(FixedSizes, StayInFiles)
{
    for (const bool isFixed : {true, false})
    {
        std::stringstream file;
        const ISerializerPtr serializer = ISerializer::Create();
        serializer->Serialize(*MakeFlatten({3, 6, 4}, isFixed));
        serializer->SaveSerializedToStream(file);
        const INetworkPtr read = IDeserializer::Create()->CreateNetworkFromBinary(file);
        BothWays both(*read);
        EXPECT_EQ(Computing(both.Optimized()).size() == 1, isFixed);
    }
}

TEST(FixedSizes, VisitorsOfOtherInputsSeeNoDescriptor)
{
    class Visitor : public IStrategy
    {
    public:
        void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                             const std::vector<ConstTensor>&, const char*, const LayerBindingId) override
        {
            if (layer->GetType() == LayerType::Input)
            {
                m_IsNull.push_back(dynamic_cast<const NullDescriptor*>(&descriptor) != nullptr);
            }
        }
        std::vector<bool> m_IsNull;
    };
    Visitor visitor;
    MakeFlatten({3, 6, 4}, false)->ExecuteStrategy(visitor);
    MakeFlatten({3, 6, 4}, true)->ExecuteStrategy(visitor);
    EXPECT_THAT(visitor.m_IsNull, ElementsAre(true, false));
}

TEST(FixedSizes, FactsOfLayers)
{
    // Convolution, pool, transposition and product of an open batch keep its name and compute the other sizes.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddFixedInput(*network, OpenBatch({1, 8, 8, 3}));
    Convolution2dDescriptor conv;
    conv.m_DataLayout = DataLayout::NHWC;
    conv.m_StrideX = conv.m_StrideY = 2;
    last = After(network->AddConvolution2dLayer(conv, "conv"),
                 {last, AddFloats(*network, {5, 2, 2, 3}, std::vector<float>(60, 1.0f))});
    last = After(network->AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}), "transpose"), {last});
    TensorShape target({0, 5, 16});
    target.SetDimensionUnknown(0);
    last = After(network->AddReshapeLayer(ReshapeDescriptor(target), "reshape"), {last});
    FullyConnectedDescriptor connected;
    connected.m_KeepDims = true;
    last = After(network->AddFullyConnectedLayer(connected, "connected"),
                 {last, AddFloats(*network, {16, 9}, std::vector<float>(144, 1.0f))});
    Connect(last, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const auto optimized = OptimizeWithPasses(*network, {"CpuRef"}, runtime->GetDeviceSpec(), {}, EmptyOptional(), {});
    const Graph& graph = GraphOf(optimized);
    SizeFacts facts(graph);
    const Layer* const input = Find(graph, "image", LayerType::Input);
    const SizeFacts::List* const of = facts.GetSizes(input->Output(0));
    ASSERT_NE(of, nullptr);
    const SizeFacts::Entry batch = of->front();
    EXPECT_FALSE(batch.IsKnown());
    const auto expect = [&](const char* name, LayerType type, const std::vector<int64_t>& rest)
    {
        const SizeFacts::List* const sizes = facts.GetSizes(Find(graph, name, type)->Output(0));
        ASSERT_NE(sizes, nullptr) << name;
        ASSERT_EQ(sizes->size(), rest.size() + 1) << name;
        EXPECT_EQ(sizes->front(), batch) << name;
        for (size_t i = 0; i < rest.size(); ++i)
        {
            EXPECT_TRUE((*sizes)[i + 1].Is(rest[i])) << name << " " << i;
        }
    };
    expect("conv", LayerType::Convolution2d, {4, 4, 5});
    expect("transpose", LayerType::Transpose, {5, 4, 4});
    expect("reshape", LayerType::Reshape, {5, 16});
    expect("connected", LayerType::FullyConnected, {5, 9});
}

} // namespace tenon::test::fixed_sizes_test
