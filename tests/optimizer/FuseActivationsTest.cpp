// SPDX-License-Identifier: Apache-2.0
// Activations in other layers: Maximum and Minimum that become a BoundedReLu (pass FoldMaxMin), and activations that
// become a part of the layer before them (FuseActivations).
#include "harness/FakeBackend.hpp"
#include "optimizer/Stages.hpp"
#include "optimizer/passes/Fusing.hpp"

#include <tenon/backend/LayerView.hpp>

#include <functional>
#include <limits>
#include <sstream>

namespace tenon::test::fuse_activations_test
{

using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

const ActivationDescriptor Relu(ActivationFunction::ReLu);
const ActivationDescriptor Relu6(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
const ActivationDescriptor ReluN1To1(ActivationFunction::BoundedReLu, 1.0f, -1.0f);

TensorInfo Like(const TensorInfo& info, const TensorShape& shape)
{
    TensorInfo like = info;
    like.SetShape(shape);
    return like;
}

/// Constant weights: Spread for floats, bytes for quantized data.
IConnectableLayer* AddWeights(INetwork& network, const TensorShape& shape, const TensorInfo& data)
{
    const size_t count = shape.GetNumElements();
    switch (data.GetDataType())
    {
    case DataType::Float32: return AddFloatConstant(network, shape, Spread(count));
    case DataType::QAsymmU8:
    {
        std::vector<uint8_t> bytes(count);
        for (size_t i = 0; i < count; ++i)
        {
            bytes[i] = static_cast<uint8_t>(i * 37);
        }
        return AddOwnedConstant(network, TensorInfo(shape, DataType::QAsymmU8, 0.02f, 120), bytes);
    }
    default:
    {
        std::vector<int8_t> bytes(count);
        for (size_t i = 0; i < count; ++i)
        {
            bytes[i] = static_cast<int8_t>(i * 37 % 255);
        }
        return AddOwnedConstant(network, TensorInfo(shape, DataType::QSymmS8, 0.02f, 0), bytes);
    }
    }
}

/// What stands before the activation. All take [n, 4, 4, 4] of the data's type.
using Maker = std::function<IConnectableLayer*(INetwork& network, IConnectableLayer* input, const TensorInfo& data)>;

IConnectableLayer* MakeConvolution(INetwork& network, IConnectableLayer* input, const TensorInfo& data)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PadTop = descriptor.m_PadLeft = 1;
    IConnectableLayer* layer = network.AddConvolution2dLayer(descriptor, "layer");
    Connect(input, layer);
    Connect(AddWeights(network, TensorShape({5, 2, 2, 4}), data), layer, 1);
    return layer;
}

IConnectableLayer* MakePointwise(INetwork& network, IConnectableLayer* input, const TensorInfo& data)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* layer = network.AddConvolution2dLayer(descriptor, "layer");
    Connect(input, layer);
    Connect(AddWeights(network, TensorShape({5, 1, 1, 4}), data), layer, 1);
    return layer;
}

IConnectableLayer* MakeDepthwise(INetwork& network, IConnectableLayer* input, const TensorInfo& data)
{
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* layer = network.AddDepthwiseConvolution2dLayer(descriptor, "layer");
    Connect(input, layer);
    Connect(AddWeights(network, TensorShape({1, 2, 2, 8}), data), layer, 1);
    return layer;
}

IConnectableLayer* MakeProduct(INetwork& network, IConnectableLayer* input, const TensorInfo& data)
{
    IConnectableLayer* layer = network.AddFullyConnectedLayer(FullyConnectedDescriptor(), "layer");
    Connect(input, layer);
    Connect(AddWeights(network, TensorShape({64, 3}), data), layer, 1);
    return layer;
}

template <BinaryOperation operation>
IConnectableLayer* MakeBinary(INetwork& network, IConnectableLayer* input, const TensorInfo& data)
{
    IConnectableLayer* transposed = network.AddTransposeLayer(TransposeDescriptor({0, 2, 1, 3}), "turned");
    transposed->GetOutputSlot(0).SetTensorInfo(Like(data, TensorShape()));
    IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), "layer");
    Connect(input, transposed);
    Connect(input, layer);
    Connect(transposed, layer, 1);
    return layer;
}

/// input 0 -> layer -> activation -> output 0. `between` and `after` are the infos of the two results.
INetworkPtr MakeActivated(const Maker& maker, const ActivationDescriptor& activation, const TensorInfo& data,
                          const TensorInfo& between, const TensorInfo& after)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, Like(data, TensorShape({1, 4, 4, 4})));
    IConnectableLayer* layer = maker(*network, input, data);
    IConnectableLayer* last = network->AddActivationLayer(activation, "activation");
    layer->GetOutputSlot(0).SetTensorInfo(Like(between, TensorShape()));
    last->GetOutputSlot(0).SetTensorInfo(Like(after, TensorShape()));
    Connect(layer, last);
    Connect(last, network->AddOutputLayer(0, "output"));
    return network;
}

bool HasActivation(const INetwork& network, const Backends& backends = {"CpuRef"})
{
    const std::vector<LayerType> types = FusedTypes(network, backends);
    return std::find(types.begin(), types.end(), LayerType::Activation) != types.end();
}

const std::vector<TensorShape> Shapes = {{1, 4, 4, 4}, {3, 4, 4, 4}};

const TensorInfo Floats(TensorShape(), DataType::Float32);
const TensorInfo Unsigned8(TensorShape(), DataType::QAsymmU8, 0.05f, 100);
const TensorInfo Signed8(TensorShape(), DataType::QAsymmS8, 0.05f, -10);
const TensorInfo Signed16(TensorShape(), DataType::QSymmS16, 0.001f, 0);

TensorInfo ResultOf(const TensorInfo& data)
{
    switch (data.GetDataType())
    {
    case DataType::QAsymmU8: return TensorInfo(TensorShape(), DataType::QAsymmU8, 0.06f, 110);
    case DataType::QAsymmS8: return TensorInfo(TensorShape(), DataType::QAsymmS8, 0.06f, 3);
    case DataType::QSymmS16: return TensorInfo(TensorShape(), DataType::QSymmS16, 0.0005f, 0);
    default: return data;
    }
}

} // namespace

TEST(FuseActivations, EveryLayerAndTypeGivesTheSameBits)
{
    const Maker makers[] = {MakeConvolution,
                            MakePointwise,
                            MakeDepthwise,
                            MakeProduct,
                            MakeBinary<BinaryOperation::Add>,
                            MakeBinary<BinaryOperation::Sub>,
                            MakeBinary<BinaryOperation::Mul>};
    for (const Maker& maker : makers)
    {
        for (const TensorInfo& data : {Floats, Unsigned8, Signed8, Signed16})
        {
            for (const ActivationDescriptor& activation : {Relu, Relu6, ReluN1To1})
            {
                const TensorInfo result = ResultOf(data);
                const INetworkPtr network = MakeActivated(maker, activation, data, result, result);
                SCOPED_TRACE(data.ToString());
                EXPECT_FALSE(HasActivation(*network));
                ExpectSame(*network, data, Shapes);
            }
        }
    }
    const INetworkPtr quotient = MakeActivated(MakeBinary<BinaryOperation::Div>, Relu6, Floats, Floats, Floats);
    EXPECT_FALSE(HasActivation(*quotient));
    ExpectSame(*quotient, Floats, Shapes);
}

TEST(FuseActivations, CpuAccFusesIntoItsProducts)
{
    const Backends backends{"CpuAcc", "CpuRef"};
    for (const Maker& maker : {Maker(MakeConvolution), Maker(MakePointwise), Maker(MakeProduct)})
    {
        for (const ActivationDescriptor& activation : {Relu, ReluN1To1})
        {
            const INetworkPtr network = MakeActivated(maker, activation, Floats, Floats, Floats);
            EXPECT_FALSE(HasActivation(*network, backends));
            ExpectSame(*network, Floats, Shapes, 0.0, backends);
        }
    }
}

TEST(FuseActivations, IntegerWeightsBesideFloats)
{
    for (const Maker& maker : {Maker(MakeConvolution), Maker(MakeDepthwise), Maker(MakeProduct)})
    {
        const Maker hybrid = [&](INetwork& network, IConnectableLayer* input, const TensorInfo&)
        { return maker(network, input, Signed8); };
        const INetworkPtr network = MakeActivated(hybrid, ReluN1To1, Floats, Floats, Floats);
        EXPECT_FALSE(HasActivation(*network));
        ExpectSame(*network, Floats, Shapes);
    }
}

TEST(FuseActivations, HalfPrecision)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        const TensorInfo half(TensorShape(), type);
        for (const Maker& maker : {Maker(MakeBinary<BinaryOperation::Add>), Maker(MakeBinary<BinaryOperation::Mul>)})
        {
            const INetworkPtr network = MakeActivated(maker, ReluN1To1, half, half, half);
            EXPECT_FALSE(HasActivation(*network));
            ExpectSame(*network, half, Shapes); // any bits, so infinities and NaN too
        }
    }
}

TEST(FuseActivations, FloatsThatAreNoNumbersComeOutAlike)
{
    // x - y of infinities and NaN, through each activation.
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> values{infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -0.0f, 0.0f, 7.0f};
    for (const ActivationDescriptor& activation :
         {Relu, Relu6, ReluN1To1, ActivationDescriptor(ActivationFunction::BoundedReLu, 1.0f, 2.0f)})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* layer =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Mul), "layer");
        IConnectableLayer* last = network->AddActivationLayer(activation, "activation");
        IConnectableLayer* input = AddInput(*network, 0, FloatInfo({6}));
        Connect(input, layer);
        Connect(AddFloatConstant(*network, TensorShape({1}), {-1.0f}), layer, 1);
        Connect(layer, last);
        Connect(last, network->AddOutputLayer(0));
        std::vector<std::byte> bytes(values.size() * sizeof(float));
        std::memcpy(bytes.data(), values.data(), bytes.size());
        EXPECT_FALSE(HasActivation(*network));
        EXPECT_EQ(RunOnce(*network, true, FloatInfo({6}), bytes).m_Bytes,
                  RunOnce(*network, false, FloatInfo({6}), bytes).m_Bytes);
    }
}

TEST(FuseActivations, QuantizationMustStay)
{
    const TensorInfo other(TensorShape(), DataType::QAsymmS8, 0.03f, 3);
    const TensorInfo result = ResultOf(Signed8);
    const TensorInfo moved(TensorShape(), DataType::QAsymmS8, 0.06f, 4);
    for (const TensorInfo& after : {other, moved})
    {
        const INetworkPtr network = MakeActivated(MakeConvolution, Relu, Signed8, result, after);
        EXPECT_TRUE(HasActivation(*network));
        ExpectSame(*network, Signed8, Shapes);
    }
}

TEST(FuseActivations, OtherActivationsStay)
{
    for (const ActivationFunction function : {ActivationFunction::TanH, ActivationFunction::Sigmoid})
    {
        EXPECT_TRUE(HasActivation(
            *MakeActivated(MakeConvolution, ActivationDescriptor(function, 1, 1), Floats, Floats, Floats)));
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const ActivationDescriptor unbounded(ActivationFunction::BoundedReLu, nan, 0.0f);
    EXPECT_TRUE(HasActivation(*MakeActivated(MakeConvolution, unbounded, Floats, Floats, Floats)));
    // Bounds that leave nothing, but not those outside of the type, which leave one value.
    const ActivationDescriptor none(ActivationFunction::BoundedReLu, 1.0f, 2.0f);
    const ActivationDescriptor outside(ActivationFunction::BoundedReLu, 200.0f, 100.0f);
    const TensorInfo result = ResultOf(Signed8);
    EXPECT_TRUE(HasActivation(*MakeActivated(MakeConvolution, none, Signed8, result, result)));
    EXPECT_FALSE(HasActivation(*MakeActivated(MakeConvolution, outside, Signed8, result, result)));
    const Maker maximum = MakeBinary<BinaryOperation::Maximum>;
    EXPECT_TRUE(HasActivation(*MakeActivated(maximum, Relu, Floats, Floats, Floats)));
}

TEST(FuseActivations, OtherReadersKeepTheResult)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = MakeConvolution(*network, AddInput(*network, 0, FloatInfo({1, 4, 4, 4})), Floats);
    IConnectableLayer* activation = network->AddActivationLayer(Relu);
    Connect(layer, activation);
    Connect(activation, network->AddOutputLayer(0));
    Connect(layer, network->AddOutputLayer(1));
    EXPECT_TRUE(HasActivation(*network));
}

TEST(FuseActivations, OverriddenInputsAndHintsElsewhereStay)
{
    for (const bool overrides : {true, false})
    {
        const INetworkPtr network = MakeActivated(MakeConvolution, Relu, Floats, Floats, Floats);
        for (const auto& layer : static_cast<const Network&>(*network).GetGraph().Layers())
        {
            if (layer->GetType() == LayerType::Activation)
            {
                overrides ? layer->Input(0).SetTensorInfo(FloatInfo({1, 20, 4}))
                          : layer->BackendSelectionHint(Optional<BackendId>(BackendId("CpuRef")));
            }
        }
        EXPECT_TRUE(HasActivation(*network, {"CpuAcc", "CpuRef"}));
    }
}

TEST(FuseActivations, OneActivationPerLayer)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = MakeConvolution(*network, AddInput(*network, 0, FloatInfo({1, 4, 4, 4})), Floats);
    IConnectableLayer* first = network->AddActivationLayer(Relu);
    IConnectableLayer* second = network->AddActivationLayer(ReluN1To1);
    Connect(layer, first);
    Connect(first, second);
    Connect(second, network->AddOutputLayer(0));
    EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d, LayerType::Activation));
    ExpectSame(*network, FloatInfo({1, 4, 4, 4}), Shapes);
}

TEST(FuseActivations, ShowsInDumpsAssignmentAndProfile)
{
    const INetworkPtr network = MakeActivated(MakeConvolution, Relu6, Floats, Floats, Floats);
    auto optimized = OptimizeFor(*network, true);
    std::ostringstream json;
    std::ostringstream dot;
    optimized->SerializeToJson(json);
    optimized->SerializeToDot(dot);
    EXPECT_THAT(json.str(), HasSubstr("\"fused_activation\": \"BoundedReLu(6, 0)\""));
    EXPECT_THAT(dot.str(), HasSubstr("FusedActivation : BoundedReLu(6,\\ 0)"));
    std::string text;
    for (const LayerAssignment& layer : optimized->GetAssignment())
    {
        text += layer.m_FusedActivation;
    }
    EXPECT_EQ(text, "BoundedReLu(6, 0)");
    const Graph& graph = static_cast<const OptimizedNetwork&>(*optimized).GetGraph();
    const auto clone = graph.Clone();
    for (const auto& layer : clone->Layers())
    {
        EXPECT_EQ(layer->GetFusedActivationText(),
                  layer->GetType() == LayerType::Convolution2d ? "BoundedReLu(6, 0)" : "");
    }
}

TEST(FuseActivations, BackendsThatDoNotKnowOfThemSeeNone)
{
    auto fake = std::make_shared<FakeBackend>("Fake", std::set<LayerType>{LayerType::Convolution2d});
    IRuntime::CreationOptions options;
    options.m_Backends = {fake};
    const IRuntimePtr runtime = IRuntime::Create(options);
    const INetworkPtr network = MakeActivated(MakeConvolution, Relu6, Floats, Floats, Floats);
    const auto optimized = Optimize(*network, {"Fake", "CpuRef"}, runtime->GetDeviceSpec());
    EXPECT_THAT(ComputingTypes(static_cast<const OptimizedNetwork&>(*optimized).GetGraph()),
                ElementsAre(LayerType::Convolution2d, LayerType::Activation));

    // One that is there already is refused in their name.
    LayerView view;
    view.m_Type = LayerType::Convolution2d;
    EXPECT_TRUE(AskSupport(*fake->GetLayerSupport({}), view).IsSupported());
    view.m_FusedActivation = &Relu6;
    EXPECT_FALSE(AskSupport(*fake->GetLayerSupport({}), view).IsSupported());
}

TEST(FuseActivations, KernelsWithoutThemRefuseToBeMade)
{
    const auto backend = ref::MakeCpuRefBackend();
    const TensorInfo info = FloatInfo({4});
    const TensorInfo* infos[] = {&info};
    const NullDescriptor null;
    const std::string name = "floor";
    LayerView view;
    view.m_Type = LayerType::Floor;
    view.m_Name = &name;
    view.m_Descriptor = &null;
    view.m_Inputs = {infos, 1};
    view.m_Outputs = {infos, 1};
    const auto factory = backend->CreateWorkloadFactory({});
    EXPECT_NE(factory->CreateWorkload(view), nullptr);
    view.m_FusedActivation = &Relu;
    EXPECT_THROW(factory->CreateWorkload(view), UnimplementedException);
    EXPECT_FALSE(AskSupport(*backend->GetLayerSupport({}), view).IsSupported());
}

TEST(FuseActivations, InNestedNetworks)
{
    INetworkPtr branches[2] = {INetwork::Create(), INetwork::Create()};
    for (const INetworkPtr& branch : branches)
    {
        IConnectableLayer* add = branch->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
        IConnectableLayer* activation = branch->AddActivationLayer(Relu);
        IConnectableLayer* input = AddInput(*branch, 0, FloatInfo({4}));
        Connect(input, add);
        Connect(input, add, 1);
        Connect(add, activation);
        Connect(activation, branch->AddOutputLayer(0));
    }
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = network->AddIfLayer(*branches[0], *branches[1], "if");
    const TensorInfo flag(TensorShape(Dimensionality::Scalar), DataType::Boolean);
    Connect(AddOwnedConstant(*network, flag, std::vector<uint8_t>{1}), layer);
    Connect(AddInput(*network, 0, FloatInfo({4})), layer, 1);
    Connect(layer, network->AddOutputLayer(0));
    const auto optimized = OptimizeFor(*network, true);
    size_t bodies = 0;
    for (const auto& one : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
    {
        for (const auto& body : one->Bodies())
        {
            EXPECT_THAT(ComputingTypes(*body), ElementsAre(LayerType::ElementwiseBinary));
            ++bodies;
        }
    }
    EXPECT_EQ(bodies, 2u);
    ExpectSame(*network, FloatInfo({4}), {{4}, {2, 3}});
}

namespace
{

/// input 0 -> convolution -> first with a -> second with b -> output 0. The data are these inputs of the two layers.
INetworkPtr MakeClamped(BinaryOperation first, float a, BinaryOperation second, float b, const TensorShape& constant,
                        unsigned int firstData = 1, unsigned int secondData = 1)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = MakePointwise(*network, AddInput(*network, 0, FloatInfo({1, 4, 4, 4})), Floats);
    IConnectableLayer* inner = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(first), "inner");
    IConnectableLayer* outer = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(second), "outer");
    Connect(layer, inner, firstData);
    Connect(AddFloatConstant(*network, constant, {a}), inner, 1 - firstData);
    Connect(AddFloatConstant(*network, constant, {b}), outer, 1 - secondData);
    Connect(inner, outer, secondData);
    Connect(outer, network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(FoldMaxMin, BecomesABoundedReluThatIsFused)
{
    using enum BinaryOperation;
    const TensorShape scalar(Dimensionality::Scalar);
    for (const INetworkPtr& network :
         {MakeClamped(Maximum, -1.0f, Minimum, 1.5f, scalar), MakeClamped(Minimum, 1.5f, Maximum, -1.0f, scalar),
          MakeClamped(Minimum, 0.5f, Maximum, 0.5f, TensorShape({1, 1, 1, 1}))})
    {
        EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d));
        ExpectSame(*network, FloatInfo({1, 4, 4, 4}), Shapes);
    }
}

// Maximum and Minimum give their second operand where one of them is NaN, a BoundedReLu gives NaN.
TEST(FoldMaxMin, NaNGivesWhatTheLayersGive)
{
    using enum BinaryOperation;
    const TensorInfo info = FloatInfo({1, 2, 2, 4});
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> x = {nan, 0.5f, infinity, -infinity, 2, -2, nan, 1, -0.0f, 0, nan, nan, 3, -3, 0.25f, -1};
    std::vector<std::byte> bytes(x.size() * sizeof(float));
    std::memcpy(bytes.data(), x.data(), bytes.size());
    for (const Backends& backends : {Backends{"CpuRef"}, Backends{"CpuAcc", "CpuRef"}})
    {
        for (unsigned int i = 0; i < 16; ++i)
        {
            const bool isMinimumFirst = i % 2 == 1;
            const unsigned int innerData = i / 2 % 2;
            const unsigned int outerData = i / 4 % 2;
            const bool hasRelu = i / 8 == 1;
            INetworkPtr network = INetwork::Create();
            IConnectableLayer* last = AddInput(*network, 0, info);
            if (hasRelu)
            {
                IConnectableLayer* relu = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu));
                Connect(last, relu);
                last = relu;
            }
            for (const bool isInner : {true, false})
            {
                const bool isMinimum = isMinimumFirst == isInner;
                IConnectableLayer* layer =
                    network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(isMinimum ? Minimum : Maximum));
                const unsigned int data = isInner ? innerData : outerData;
                Connect(last, layer, data);
                Connect(AddFloatConstant(*network, TensorShape({1}), {isMinimum ? 1.5f : -1.0f}), layer, 1 - data);
                last = layer;
            }
            Connect(last, network->AddOutputLayer(0));
            const RunResult result = RunOnce(*network, true, info, bytes, backends);
            for (size_t k = 0; k < x.size(); ++k)
            {
                float want = hasRelu && x[k] < 0 ? 0 : x[k];
                for (const bool isInner : {true, false})
                {
                    const bool isMinimum = isMinimumFirst == isInner;
                    const float bound = isMinimum ? 1.5f : -1.0f;
                    const unsigned int data = isInner ? innerData : outerData;
                    const float a = data == 0 ? want : bound;
                    const float b = data == 0 ? bound : want;
                    want = (isMinimum ? a < b : a > b) ? a : b;
                }
                float got = 0;
                std::memcpy(&got, result.m_Bytes.data() + k * sizeof(float), sizeof(float));
                EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
                    << "case " << i << ", " << x[k] << " gives " << got << " in place of " << want;
            }
        }
    }
}

TEST(FoldMaxMin, PairsThatMakeABoundOfNaNStay)
{
    using enum BinaryOperation;
    for (const auto& [innerData, outerData] : {std::pair{0u, 0u}, {0u, 1u}, {1u, 0u}})
    {
        for (const INetworkPtr& network :
             {MakeClamped(Maximum, -1.0f, Minimum, 1.5f, TensorShape({1}), innerData, outerData),
              MakeClamped(Minimum, 1.5f, Maximum, -1.0f, TensorShape({1}), innerData, outerData)})
        {
            EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d, LayerType::ElementwiseBinary,
                                                          LayerType::ElementwiseBinary));
            ExpectSame(*network, FloatInfo({1, 4, 4, 4}), Shapes);
        }
    }
}

TEST(FoldMaxMin, WhatIsNoClampStays)
{
    using enum BinaryOperation;
    const TensorShape scalar(Dimensionality::Scalar);
    const auto stays = [&](const INetworkPtr& network)
    {
        EXPECT_THAT(FusedTypes(*network),
                    ElementsAre(LayerType::Convolution2d, LayerType::ElementwiseBinary, LayerType::ElementwiseBinary));
        ExpectSame(*network, FloatInfo({1, 4, 4, 4}), Shapes);
    };
    stays(MakeClamped(Maximum, 2.0f, Minimum, 1.0f, scalar));
    stays(MakeClamped(Maximum, 0.0f, Maximum, 1.0f, scalar));
    stays(MakeClamped(Maximum, 0.0f, Minimum, 1.0f, TensorShape({1, 1, 1, 1, 1}))); // one more dimension
}

TEST(FoldMaxMin, TheRankMustBeSure)
{
    // A run may bring a scalar, which a constant of one dimension would give a dimension.
    for (const bool isScalar : {true, false})
    {
        INetworkPtr network = INetwork::Create();
        const TensorShape shape = isScalar ? TensorShape(Dimensionality::Scalar) : TensorShape({1});
        IConnectableLayer* last = AddInput(*network, 0, FloatInfo({4}));
        for (const BinaryOperation operation : {BinaryOperation::Maximum, BinaryOperation::Minimum})
        {
            IConnectableLayer* layer = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
            Connect(last, layer, 1);
            Connect(AddFloatConstant(*network, shape, {operation == BinaryOperation::Maximum ? 0.0f : 1.0f}), layer, 0);
            last = layer;
        }
        Connect(last, network->AddOutputLayer(0));
        EXPECT_EQ(HasActivation(*network), isScalar);
        ExpectSame(*network, FloatInfo({4}), {{4}, {2, 3}, TensorShape(Dimensionality::Scalar)});
    }
}

TEST(FoldMaxMin, QuantizedBoundsAreTheStoredOnes)
{
    for (const float scale : {0.05f, 0.1f})
    {
        INetworkPtr network = INetwork::Create();
        const TensorInfo data({4, 64}, DataType::QAsymmU8, 0.05f, 100);
        IConnectableLayer* last = AddInput(*network, 0, data);
        for (const auto& [operation, bound] :
             {std::pair<BinaryOperation, uint8_t>{BinaryOperation::Maximum, 37}, {BinaryOperation::Minimum, 203}})
        {
            IConnectableLayer* layer = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation));
            Connect(last, layer);
            const TensorInfo info(TensorShape(Dimensionality::Scalar), DataType::QAsymmU8, scale, 100);
            Connect(AddOwnedConstant(*network, info, std::vector<uint8_t>{bound}), layer, 1);
            layer->GetOutputSlot(0).SetTensorInfo(data);
            last = layer;
        }
        Connect(last, network->AddOutputLayer(0));
        EXPECT_EQ(HasActivation(*network), scale == 0.05f);
        ExpectSame(*network, data, {{4, 64}});
    }
}

} // namespace tenon::test::fuse_activations_test
