// SPDX-License-Identifier: Apache-2.0
// Pass FoldPad: borders that become paddings, and those that must not.
#include "optimizer/passes/Fusing.hpp"

#include <functional>
#include <limits>

namespace tenon::test::fold_pad_test
{

using testing::ElementsAre;

namespace
{

constexpr float Infinity = std::numeric_limits<float>::infinity();

using Pads = std::vector<std::pair<unsigned int, unsigned int>>;
const Pads Around = {{0, 0}, {1, 2}, {2, 1}, {0, 0}};     // NHWC
const Pads AroundNchw = {{0, 0}, {0, 0}, {1, 2}, {2, 1}}; // NCHW
const Pads ThinAround = {{0, 0}, {1, 1}, {1, 0}, {0, 0}}; // less than a window of 3

/// input 0 -> pad -> layer -> output 0
INetworkPtr MakePadded(const TensorInfo& input, const PadDescriptor& pad, IConnectableLayer* (*add)(INetwork&))
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* padding = network->AddPadLayer(pad, "pad");
    IConnectableLayer* layer = add(*network);
    Connect(AddInput(*network, 0, input), padding);
    Connect(padding, layer);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

Convolution2dDescriptor MakeConvolution(DataLayout layout, PaddingScheme scheme, bool hasPadding)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = layout;
    descriptor.m_PaddingScheme = scheme;
    descriptor.m_PadTop = hasPadding ? 1 : 0;
    descriptor.m_PadRight = hasPadding ? 2 : 0;
    descriptor.m_StrideX = 2;
    return descriptor;
}

template <DataLayout layout, PaddingScheme scheme, bool hasPadding>
IConnectableLayer* AddConvolution(INetwork& network)
{
    IConnectableLayer* layer =
        network.AddConvolution2dLayer(MakeConvolution(layout, scheme, hasPadding), "convolution");
    const TensorShape weights = layout == DataLayout::NHWC ? TensorShape({4, 3, 3, 2}) : TensorShape({4, 2, 3, 3});
    Connect(AddFloatConstant(network, weights, Spread(72)), layer, 1);
    return layer;
}

constexpr auto AddNhwcConvolution = &AddConvolution<DataLayout::NHWC, PaddingScheme::Explicit, true>;

IConnectableLayer* AddDepthwise(INetwork& network)
{
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    IConnectableLayer* layer = network.AddDepthwiseConvolution2dLayer(descriptor, "depthwise");
    Connect(AddFloatConstant(network, TensorShape({1, 3, 3, 4}), Spread(36)), layer, 1);
    return layer;
}

Pooling2dDescriptor MakePool(PoolingAlgorithm type)
{
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = type;
    descriptor.m_PoolHeight = descriptor.m_PoolWidth = 3;
    descriptor.m_StrideX = descriptor.m_StrideY = 2;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

INetworkPtr MakePaddedPool(const TensorInfo& input, const PadDescriptor& pad, const Pooling2dDescriptor& pool)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* padding = network->AddPadLayer(pad, "pad");
    IConnectableLayer* layer = network->AddPooling2dLayer(pool, "pool");
    if (input.IsQuantized())
    {
        padding->GetOutputSlot(0).SetTensorInfo(TensorInfo(
            TensorShape(), input.GetDataType(), input.GetQuantizationScale(), input.GetQuantizationOffset()));
    }
    Connect(AddInput(*network, 0, input), padding);
    Connect(padding, layer);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

bool HasPad(const INetwork& network)
{
    const std::vector<LayerType> types = FusedTypes(network);
    return std::find(types.begin(), types.end(), LayerType::Pad) != types.end();
}

} // namespace

TEST(FoldPad, BordersBecomePaddingsOfConvolutions)
{
    const TensorInfo nhwc = FloatInfo({2, 5, 6, 2});
    const TensorInfo nchw = FloatInfo({2, 2, 5, 6});
    // An image without rows still has a border.
    const std::vector<TensorShape> shapes = {{2, 5, 6, 2}, {1, 9, 4, 2}, {1, 0, 4, 2}};
    using enum PaddingScheme;
    for (const auto add : {AddNhwcConvolution, &AddConvolution<DataLayout::NHWC, Explicit, false>,
                           &AddConvolution<DataLayout::NHWC, Valid, true>})
    {
        const INetworkPtr network = MakePadded(nhwc, PadDescriptor(Around), add);
        EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d));
        ExpectSame(*network, nhwc, shapes);
    }
    const INetworkPtr turned =
        MakePadded(nchw, PadDescriptor(AroundNchw), &AddConvolution<DataLayout::NCHW, Explicit, true>);
    EXPECT_FALSE(HasPad(*turned));
    ExpectSame(*turned, nchw, {{2, 2, 5, 6}, {1, 2, 3, 3}});
    const INetworkPtr depthwise = MakePadded(nhwc, PadDescriptor(Around), &AddDepthwise);
    EXPECT_THAT(FusedTypes(*depthwise), ElementsAre(LayerType::DepthwiseConvolution2d));
    ExpectSame(*depthwise, nhwc, shapes);
}

TEST(FoldPad, ShapesNeedNotBeKnown)
{
    const TensorInfo unknown(TensorShape(), DataType::Float32);
    const INetworkPtr network = MakePadded(unknown, PadDescriptor(Around), AddNhwcConvolution);
    EXPECT_THAT(FusedTypes(*network), ElementsAre(LayerType::Convolution2d));
    ExpectSame(*network, unknown, {{1, 4, 4, 2}, {2, 5, 3, 2}});
}

TEST(FoldPad, WhatIsNoPaddingStays)
{
    const TensorInfo nhwc = FloatInfo({2, 5, 6, 2});
    using enum PaddingScheme;
    const auto stays = [&](const PadDescriptor& pad, IConnectableLayer* (*add)(INetwork&))
    {
        INetworkPtr network = MakePadded(nhwc, pad, add);
        EXPECT_TRUE(HasPad(*network));
        return network;
    };
    stays(PadDescriptor(Around, 1.0f), AddNhwcConvolution);
    stays(PadDescriptor(Around, 0.0f, PaddingMode::Reflect), AddNhwcConvolution);
    stays(PadDescriptor({{0, 1}, {1, 1}, {1, 1}, {0, 0}}), AddNhwcConvolution);
    ExpectSame(*stays(PadDescriptor(Around), &AddConvolution<DataLayout::NHWC, Same, false>), nhwc, {{2, 5, 6, 2}});
    PadDescriptor huge({{0, 0}, {0xFFFFFFFF, 0}, {0, 0}, {0, 0}});
    const INetworkPtr network = MakePadded(TensorInfo(TensorShape(), DataType::Float32), huge, AddNhwcConvolution);
    EXPECT_TRUE(HasPad(*network)); // 1 + 0xFFFFFFFF
}

TEST(FoldPad, ParametersMayArriveAsConstants)
{
    const TensorInfo nhwc = FloatInfo({1, 4, 4, 2});
    const std::vector<int32_t> pads{0, 0, 1, 2, 0, 1, 0, 0};
    const TensorInfo padsInfo({4, 2}, DataType::Signed32, 0.0f, 0, true);
    for (const bool isConstant : {true, false})
    {
        for (const float value : {0.0f, 0.5f})
        {
            INetworkPtr network = INetwork::Create();
            PadDescriptor descriptor;
            descriptor.m_ParametersAsInputs = true;
            descriptor.m_ValueAsInput = true;
            IConnectableLayer* pad = network->AddPadLayer(descriptor, "pad");
            IConnectableLayer* layer = AddNhwcConvolution(*network);
            Connect(AddInput(*network, 0, nhwc), pad);
            IConnectableLayer* given = isConstant ? AddOwnedConstant(*network, padsInfo, pads)
                                                  : AddInput(*network, 1, TensorInfo({4, 2}, DataType::Signed32));
            Connect(given, pad, 1);
            Connect(AddFloatConstant(*network, TensorShape({1}), {value}), pad, 2);
            Connect(pad, layer);
            Connect(layer, network->AddOutputLayer(0));
            EXPECT_EQ(HasPad(*network), !isConstant || value != 0.0f);
            if (isConstant)
            {
                ExpectSame(*network, nhwc, {{1, 4, 4, 2}, {3, 2, 5, 2}});
            }
        }
    }
}

TEST(FoldPad, OtherReadersKeepTheBorder)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* pad = network->AddPadLayer(PadDescriptor(Around), "pad");
    IConnectableLayer* layer = AddNhwcConvolution(*network);
    Connect(AddInput(*network, 0, FloatInfo({1, 4, 4, 2})), pad);
    Connect(pad, layer);
    Connect(layer, network->AddOutputLayer(0));
    Connect(pad, network->AddOutputLayer(1));
    EXPECT_THAT(FusedTypes(*network), testing::UnorderedElementsAre(LayerType::Pad, LayerType::Convolution2d));

    // An input whose info is overridden reads something else.
    const INetworkPtr overridden = MakePadded(FloatInfo({1, 4, 4, 2}), PadDescriptor(Around), AddNhwcConvolution);
    for (const auto& one : static_cast<const Network&>(*overridden).GetGraph().Layers())
    {
        if (one->GetType() == LayerType::Convolution2d)
        {
            one->GetInputSlot(0).SetTensorInfo(FloatInfo({1, 7, 7, 2}));
        }
    }
    EXPECT_TRUE(HasPad(*overridden));
}

TEST(FoldPad, QuantizedConvolutionsPadWithTheZeroPoint)
{
    for (const float value : {5.0f, 0.0f})
    {
        INetworkPtr network = INetwork::Create();
        const TensorInfo data({1, 5, 5, 2}, DataType::QAsymmS8, 0.5f, 5);
        IConnectableLayer* pad = network->AddPadLayer(PadDescriptor(Around, value), "pad");
        pad->GetOutputSlot(0).SetTensorInfo(TensorInfo({1, 8, 8, 2}, DataType::QAsymmS8, 0.5f, 5));
        Convolution2dDescriptor descriptor = MakeConvolution(DataLayout::NHWC, PaddingScheme::Explicit, true);
        IConnectableLayer* layer = network->AddConvolution2dLayer(descriptor, "convolution");
        std::vector<int8_t> weights(4 * 3 * 3 * 2);
        for (size_t i = 0; i < weights.size(); ++i)
        {
            weights[i] = static_cast<int8_t>(i * 29 % 255);
        }
        const TensorInfo weightsInfo({4, 3, 3, 2}, DataType::QSymmS8, 0.25f, 0, true);
        Connect(AddOwnedConstant(*network, weightsInfo, weights), layer, 1);
        layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::QAsymmS8, 40.0f, -3));
        Connect(AddInput(*network, 0, data), pad);
        Connect(pad, layer);
        Connect(layer, network->AddOutputLayer(0));
        EXPECT_EQ(HasPad(*network), value != 5.0f);
        ExpectSame(*network, data, {{1, 5, 5, 2}, {2, 3, 6, 2}});
    }
}

TEST(FoldPad, MaximaIgnoreTheLeastValue)
{
    const TensorInfo floats = FloatInfo({1, 6, 7, 2});
    const TensorInfo bytes({1, 6, 7, 2}, DataType::QAsymmS8, 0.5f, 5);
    const std::vector<TensorShape> shapes = {{1, 6, 7, 2}, {2, 2, 3, 2}};
    const Pooling2dDescriptor pool = MakePool(PoolingAlgorithm::Max);
    for (const float least : {-Infinity, std::numeric_limits<float>::lowest()})
    {
        const INetworkPtr network = MakePaddedPool(floats, PadDescriptor(ThinAround, least), pool);
        EXPECT_FALSE(HasPad(*network));
        ExpectSame(*network, floats, shapes);
    }
    const INetworkPtr quantized = MakePaddedPool(bytes, PadDescriptor(ThinAround, -128.0f), pool);
    EXPECT_FALSE(HasPad(*quantized));
    ExpectSame(*quantized, bytes, shapes);

    EXPECT_TRUE(HasPad(*MakePaddedPool(floats, PadDescriptor(ThinAround, 0.0f), pool)));
    EXPECT_TRUE(HasPad(*MakePaddedPool(bytes, PadDescriptor(ThinAround, 5.0f), pool)));
    // A window may lie in the border alone.
    const INetworkPtr wide = MakePaddedPool(floats, PadDescriptor(Around, -Infinity), pool);
    EXPECT_TRUE(HasPad(*wide));
    Pooling2dDescriptor ceiling = pool;
    ceiling.m_OutputShapeRounding = OutputShapeRounding::Ceiling;
    EXPECT_TRUE(HasPad(*MakePaddedPool(floats, PadDescriptor(ThinAround, -Infinity), ceiling)));
}

// As frameworks write the first layers of a ResNet.
TEST(FoldPad, MaximaIgnoreZerosBesideWhatIsNeverBelow)
{
    struct Case
    {
        ActivationFunction m_Function;
        float m_Upper;
        float m_Lower;
        float m_Value;
        bool m_Stays;
    };
    const Case cases[] = {{ActivationFunction::ReLu, 0.0f, 0.0f, 0.0f, false},
                          {ActivationFunction::BoundedReLu, 6.0f, 0.0f, 0.0f, false},
                          {ActivationFunction::BoundedReLu, 6.0f, 0.5f, 0.0f, false},
                          {ActivationFunction::BoundedReLu, 1.0f, -1.0f, 0.0f, true},
                          {ActivationFunction::BoundedReLu, -1.0f, 0.0f, 0.0f, true},
                          {ActivationFunction::TanH, 1.0f, 1.0f, 0.0f, true},
                          {ActivationFunction::ReLu, 0.0f, 0.0f, 0.25f, true}};
    for (const TensorInfo& info : {FloatInfo({1, 6, 7, 2}), TensorInfo({1, 6, 7, 2}, DataType::QAsymmS8, 0.5f, 5)})
    {
        for (const Case& c : cases)
        {
            INetworkPtr network = INetwork::Create();
            IConnectableLayer* activation =
                network->AddActivationLayer(ActivationDescriptor(c.m_Function, c.m_Upper, c.m_Lower), "activation");
            const float value = info.IsQuantized() ? c.m_Value / info.GetQuantizationScale() + 5.0f : c.m_Value;
            IConnectableLayer* pad = network->AddPadLayer(PadDescriptor(ThinAround, value), "pad");
            IConnectableLayer* pool = network->AddPooling2dLayer(MakePool(PoolingAlgorithm::Max), "pool");
            for (IConnectableLayer* layer : {activation, pad})
            {
                layer->GetOutputSlot(0).SetTensorInfo(info.IsQuantized()
                                                          ? TensorInfo(TensorShape(), info.GetDataType(), 0.5f, 5)
                                                          : TensorInfo(TensorShape(), DataType::Float32));
            }
            Connect(AddInput(*network, 0, info), activation);
            Connect(activation, pad);
            Connect(pad, pool);
            Connect(pool, network->AddOutputLayer(0));
            SCOPED_TRACE(std::to_string(static_cast<int>(c.m_Function)) + " of " + info.ToString());
            EXPECT_EQ(HasPad(*network), c.m_Stays);
            ExpectSame(*network, info, {{1, 6, 7, 2}, {2, 2, 3, 2}});
        }
    }
}

TEST(FoldPad, AveragesCountTheBorder)
{
    const TensorInfo floats = FloatInfo({1, 6, 7, 2});
    const TensorInfo bytes({1, 6, 7, 2}, DataType::QAsymmU8, 0.5f, 9);
    const std::vector<TensorShape> shapes = {{1, 6, 7, 2}, {2, 2, 3, 2}};
    for (const PoolingAlgorithm type : {PoolingAlgorithm::Average, PoolingAlgorithm::L2})
    {
        const INetworkPtr network = MakePaddedPool(floats, PadDescriptor(ThinAround), MakePool(type));
        EXPECT_FALSE(HasPad(*network));
        ExpectSame(*network, floats, shapes);
    }
    const INetworkPtr quantized =
        MakePaddedPool(bytes, PadDescriptor(ThinAround, 9.0f), MakePool(PoolingAlgorithm::Average));
    EXPECT_FALSE(HasPad(*quantized));
    ExpectSame(*quantized, bytes, shapes);
    EXPECT_TRUE(HasPad(*MakePaddedPool(bytes, PadDescriptor(ThinAround, 0.0f), MakePool(PoolingAlgorithm::Average))));

    for (const PaddingMethod method : {PaddingMethod::Exclude, PaddingMethod::IgnoreValue})
    {
        Pooling2dDescriptor padded = MakePool(PoolingAlgorithm::Average);
        padded.m_PadRight = 1;
        padded.m_PaddingMethod = method;
        const INetworkPtr network = MakePaddedPool(floats, PadDescriptor(ThinAround), padded);
        EXPECT_EQ(HasPad(*network), method == PaddingMethod::Exclude);
        ExpectSame(*network, floats, shapes);
    }
}

} // namespace tenon::test::fold_pad_test
