// SPDX-License-Identifier: Apache-2.0
// Sizes that a network computes from the shapes of its inputs: they are known when the network is loaded, and runs with
// other shapes compute them anew.
#include "harness/FakeBackend.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::shape_arithmetic_test
{

namespace
{

using testing::HasSubstr;

using Floats = std::vector<float>;

/// A network under construction, of one float input.
class Maker
{
public:
    explicit Maker(std::initializer_list<unsigned int> shape)
        : m_Network(INetwork::Create()), m_Input(AddInput(*m_Network, 0, FloatInfo(shape)))
    {
    }

    IConnectableLayer* Integers(std::vector<int32_t> values, const TensorShape& shape)
    {
        const TensorInfo info(shape, DataType::Signed32, 0.0f, 0, true);
        auto owner = std::make_shared<std::vector<int32_t>>(std::move(values));
        const ConstTensor tensor(info, owner->data());
        return m_Network->AddConstantLayer(tensor, std::move(owner), "integers");
    }
    IConnectableLayer* Number(int32_t value) { return Integers({value}, TensorShape(Dimensionality::Scalar)); }

    IConnectableLayer* ShapeOf(IConnectableLayer* layer) { return After(m_Network->AddShapeLayer("shape"), {layer}); }
    /// The element of a list, a scalar.
    IConnectableLayer* At(IConnectableLayer* list, int index)
    {
        StridedSliceDescriptor descriptor({index}, {index + 1}, {1});
        descriptor.m_ShrinkAxisMask = 1;
        return After(m_Network->AddStridedSliceLayer(descriptor, "element"), {list});
    }
    /// A list of scalars.
    IConnectableLayer* List(const std::vector<IConnectableLayer*>& scalars)
    {
        const StackDescriptor descriptor(0, static_cast<uint32_t>(scalars.size()), TensorShape());
        return After(m_Network->AddStackLayer(descriptor, "list"), scalars);
    }
    IConnectableLayer* Joined(const std::vector<IConnectableLayer*>& lists, unsigned int axis = 0,
                              unsigned int rank = 1)
    {
        OriginsDescriptor descriptor(static_cast<uint32_t>(lists.size()), rank);
        descriptor.SetConcatAxis(axis);
        return After(m_Network->AddConcatLayer(descriptor, "joined"), lists);
    }
    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        return After(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), "binary"), {a, b});
    }
    IConnectableLayer* As(DataType type, IConnectableLayer* layer)
    {
        IConnectableLayer* const cast = After(m_Network->AddCastLayer("cast"), {layer});
        cast->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), type));
        return cast;
    }
    IConnectableLayer* Reshaped(IConnectableLayer* layer, IConnectableLayer* target)
    {
        ReshapeDescriptor descriptor;
        descriptor.m_ParametersAsInputs = true;
        return After(m_Network->AddReshapeLayer(descriptor, "reshape"), {layer, target});
    }
    IConnectableLayer* Resized(IConnectableLayer* layer, IConnectableLayer* size)
    {
        ResizeDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_ParametersAsInputs = true;
        return After(m_Network->AddResizeLayer(descriptor, "resize"), {layer, size});
    }
    IConnectableLayer* Abs(IConnectableLayer* layer)
    {
        const ElementwiseUnaryDescriptor descriptor(UnaryOperation::Abs);
        return After(m_Network->AddElementwiseUnaryLayer(descriptor, "abs"), {layer});
    }
    static IConnectableLayer* After(IConnectableLayer* layer, const std::vector<IConnectableLayer*>& inputs)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            Connect(inputs[i], layer, i);
        }
        return layer;
    }
    INetwork& Give(IConnectableLayer* output)
    {
        Connect(output, m_Network->AddOutputLayer(0, "out"));
        return *m_Network;
    }

    INetworkPtr m_Network;
    IConnectableLayer* m_Input;
};

/// in [n, ...] -> [n, 16], as converters flatten a tensor whose batch is open.
INetworkPtr MakeFlatten(std::initializer_list<unsigned int> shape)
{
    Maker maker(shape);
    IConnectableLayer* const batch = maker.At(maker.ShapeOf(maker.m_Input), 0);
    maker.Give(maker.Abs(maker.Reshaped(maker.m_Input, maker.List({batch, maker.Number(16)}))));
    return std::move(maker.m_Network);
}

class ShapeArithmetic : public testing::TestWithParam<std::vector<BackendId>>
{
protected:
    /// Loads the network, whose output then has this shape, and runs with inputs of shapes that the network was not
    /// loaded with: the output has the second shape of each pair, and the input's values where `isSame`.
    void Check(const INetwork& network, const TensorShape& expected,
               const std::vector<std::pair<TensorShape, TensorShape>>& runs, bool isSame = true)
    {
        const NetworkId id = Load(*m_Runtime, network, GetParam());
        EXPECT_EQ(m_Runtime->GetOutputTensorInfo(id, 0).GetShape(), expected);
        EXPECT_TRUE(Planned(network, GetParam()).Get().IsComplete());
        for (const auto& [given, wanted] : runs)
        {
            TensorShape shape;
            const Floats values = Ramp(given.GetNumElements());
            Floats result;
            m_Runtime->EnqueueWorkload(
                id, {{0, ConstTensor(TensorInfo(given, DataType::Float32, 0.0f, 0, true), values.data())}},
                [&](LayerBindingId, const TensorInfo& info)
                {
                    shape = info.GetShape();
                    result.resize(info.GetNumElements());
                    return result.data();
                });
            EXPECT_EQ(shape, wanted);
            if (isSame)
            {
                EXPECT_EQ(result, values);
            }
        }
        EXPECT_EQ(m_Runtime->GetOutputTensorInfo(id, 0).GetShape(), expected) << "whatever runs there were";
    }

    IRuntimePtr m_Runtime = IRuntime::Create({});
};

} // namespace

TEST_P(ShapeArithmetic, ABatchAndAConstant)
{
    Check(*MakeFlatten({1, 4, 4}), {1, 16}, {{{1, 4, 4}, {1, 16}}, {{3, 4, 4}, {3, 16}}, {{2, 16}, {2, 16}}});
}

TEST_P(ShapeArithmetic, ProductsAndDifferences)
{
    // [in[0] * in[1], in[2] - 1 + 1]
    Maker maker({2, 3, 4});
    IConnectableLayer* const shape = maker.ShapeOf(maker.m_Input);
    IConnectableLayer* const rows = maker.m_Network->AddSliceLayer(SliceDescriptor({0}, {2}), "rows");
    Connect(shape, rows);
    ReduceDescriptor product;
    product.m_ReduceOperation = ReduceOperation::Prod;
    product.m_KeepDims = true;
    product.m_vAxis = {0};
    IConnectableLayer* const reduced = Maker::After(maker.m_Network->AddReduceLayer(product, "product"), {rows});
    IConnectableLayer* const last =
        Maker::After(maker.m_Network->AddGatherLayer(GatherDescriptor(0), "last"), {shape, maker.Integers({2}, {1})});
    IConnectableLayer* const less = maker.Binary(BinaryOperation::Sub, last, maker.Number(1));
    IConnectableLayer* const more = maker.Binary(BinaryOperation::Add, less, maker.Number(1));
    Check(maker.Give(maker.Reshaped(maker.m_Input, maker.Joined({reduced, more}))), {6, 4},
          {{{2, 3, 4}, {6, 4}}, {{5, 1, 2}, {5, 2}}});
}

TEST_P(ShapeArithmetic, SizesThatAreFloatsInBetween)
{
    // An image of 3/2 the size, as converters write it.
    Maker maker({1, 2, 4, 1});
    IConnectableLayer* const size = maker.m_Network->AddSliceLayer(SliceDescriptor({1}, {2}), "size");
    Connect(maker.ShapeOf(maker.m_Input), size);
    const float factor = 1.5f;
    IConnectableLayer* const factors = maker.m_Network->AddConstantLayer(
        ConstTensor(TensorInfo(TensorShape({1}), DataType::Float32, 0.0f, 0, true), &factor), "factor");
    IConnectableLayer* const scaled = maker.Binary(BinaryOperation::Mul, maker.As(DataType::Float32, size), factors);
    Check(maker.Give(maker.Resized(maker.m_Input, maker.As(DataType::Signed32, scaled))), {1, 3, 6, 1},
          {{{1, 2, 4, 1}, {1, 3, 6, 1}}, {{2, 6, 2, 3}, {2, 9, 3, 3}}}, false);
}

TEST_P(ShapeArithmetic, ShapesOfLayersWhoseShapeIsComputed)
{
    Maker maker({2, 8});
    IConnectableLayer* const batch = maker.At(maker.ShapeOf(maker.m_Input), 0);
    IConnectableLayer* const image =
        maker.Reshaped(maker.m_Input, maker.List({batch, maker.Number(2), maker.Number(4)}));
    IConnectableLayer* const rows = maker.At(maker.ShapeOf(image), 1);
    IConnectableLayer* const count = maker.Binary(BinaryOperation::Mul, batch, rows);
    Check(maker.Give(maker.Reshaped(image, maker.List({count, maker.Number(-1)}))), {4, 4},
          {{{2, 8}, {4, 4}}, {{5, 8}, {10, 4}}});
}

TEST_P(ShapeArithmetic, LayersThatWriteAmongTheChannelsOfAJoin)
{
    // Two images of twice the size, side by side in the channels.
    Maker maker({1, 2, 3, 16});
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = 2;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_ParametersAsInputs = true;
    const Floats ones(16 * 2 * 2 * 16, 1.0f);
    const ConstTensor weights(TensorInfo({16, 2, 2, 16}, DataType::Float32, 0.0f, 0, true), ones.data());
    IConnectableLayer* const shape = maker.ShapeOf(maker.m_Input);
    IConnectableLayer* const doubled = maker.Binary(BinaryOperation::Mul, shape, maker.Integers({1, 2, 2, 1}, {4}));
    std::vector<IConnectableLayer*> images;
    for (int i = 0; i < 2; ++i)
    {
        IConnectableLayer* const image = maker.m_Network->AddTransposeConvolution2dLayer(descriptor, "image");
        Connect(maker.Abs(maker.m_Input), image);
        Connect(maker.m_Network->AddConstantLayer(weights, "weights"), image, 1);
        Connect(doubled, image, 3);
        images.push_back(image);
    }
    INetwork& network = maker.Give(maker.Joined(images, 3, 4));
    Check(network, {1, 4, 6, 32}, {{{1, 2, 3, 16}, {1, 4, 6, 32}}, {{1, 5, 1, 16}, {1, 10, 2, 32}}}, false);
    const NetworkId id = Load(*m_Runtime, network, GetParam());
    // Each pixel of the input becomes 2x2 pixels of the sum of its channels.
    const Floats result = RunFloat(*m_Runtime, id, {1, 1, 2, 16}, Floats(32, 1.0f));
    EXPECT_EQ(result, Floats(2 * 4 * 32, 16.0f));
}

TEST_P(ShapeArithmetic, InputsThatDoNotFitAreAnErrorOfTheRunAlone)
{
    // Files give 1 as a batch, or other sizes, that the network is not meant to run with.
    const INetworkPtr network = MakeFlatten({1, 2, 3});
    const NetworkId id = Load(*m_Runtime, *network, GetParam());
    EXPECT_FALSE(m_Runtime->GetOutputTensorInfo(id, 0).GetShape().AreAllDimensionsSpecified());
    const Floats values = Ramp(32);
    EXPECT_EQ(RunFloat(*m_Runtime, id, {2, 2, 8}, values), values);
    EXPECT_THAT(MessageOf<LayerValidationException>(
                    [&] {
                        RunFloat(*m_Runtime, id, {1, 2, 3}, Ramp(6));
                    }),
                HasSubstr("'reshape' (Reshape)"));
    EXPECT_EQ(RunFloat(*m_Runtime, id, {2, 2, 8}, values), values);
}

TEST_P(ShapeArithmetic, ErrorsOfOtherLayersAreToldWhenTheNetworkIsLoaded)
{
    Maker maker({1, 4, 4});
    IConnectableLayer* const batch = maker.At(maker.ShapeOf(maker.m_Input), 0);
    IConnectableLayer* const twice = maker.Joined({maker.m_Input, maker.m_Input}, 1, 3);
    INetwork& network = maker.Give(maker.Reshaped(twice, maker.List({batch, maker.Number(-1)})));
    IRuntime::CreationOptions options;
    options.m_Limits.m_MaxTensorBytes = 100;
    const IRuntimePtr runtime = IRuntime::Create(options);
    EXPECT_THAT(MessageOf<LimitExceededException>([&] { Load(*runtime, network, GetParam()); }),
                HasSubstr("'joined' (Concat)"));
}

TEST_P(ShapeArithmetic, ValuesOfInputsAreNotKnownBeforeTheRun)
{
    Maker maker({4});
    IConnectableLayer* const rows = AddInput(*maker.m_Network, 1, TensorInfo({1}, DataType::Signed32), "rows");
    IConnectableLayer* const known = maker.ShapeOf(maker.m_Input);
    const NetworkId id =
        Load(*m_Runtime,
             maker.Give(
                 maker.Reshaped(maker.m_Input, maker.Joined({rows, maker.Binary(BinaryOperation::Div, known, rows)}))),
             GetParam());
    EXPECT_FALSE(m_Runtime->GetOutputTensorInfo(id, 0).GetShape().AreAllDimensionsSpecified());
    const Floats values = Ramp(4);
    for (const int32_t count : {2, 1, 4})
    {
        const InputTensors inputs = {{0, ConstTensor(TensorInfo({4}, DataType::Float32, 0.0f, 0, true), values.data())},
                                     {1, ConstTensor(TensorInfo({1}, DataType::Signed32, 0.0f, 0, true), &count)}};
        Floats result(4);
        const auto rowCount = static_cast<unsigned int>(count);
        const Tensor output(FloatInfo({rowCount, 4 / rowCount}), result.data());
        m_Runtime->EnqueueWorkload(id, inputs, OutputTensors{{0, output}});
        EXPECT_EQ(result, values);
    }
}

INSTANTIATE_TEST_SUITE_P(Backends, ShapeArithmetic,
                         testing::Values(std::vector<BackendId>{"CpuRef"}, std::vector<BackendId>{"CpuAcc", "CpuRef"}));

TEST(ShapeArithmeticOfOthers, BackendsOfTheApplicationExecuteInRunsAlone)
{
    const auto fake = std::make_shared<FakeBackend>(
        "Fake", std::set<LayerType>{LayerType::Shape, LayerType::StridedSlice, LayerType::Stack, LayerType::Reshape});
    IRuntime::CreationOptions options;
    options.m_Backends = {fake};
    const IRuntimePtr runtime = IRuntime::Create(options);
    const NetworkId id = Load(*runtime, *MakeFlatten({1, 4, 4}), {"Fake", "CpuRef"});
    EXPECT_FALSE(runtime->GetOutputTensorInfo(id, 0).GetShape().AreAllDimensionsSpecified());
    EXPECT_EQ(RunFloat(*runtime, id, {2, 4, 4}, Ramp(32)), Ramp(32));
}

} // namespace tenon::test::shape_arithmetic_test
