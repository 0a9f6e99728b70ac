// SPDX-License-Identifier: Apache-2.0
// Pass GroupedToDepthwise: convolutions with a group for each channel, and those that have others.
#include "harness/Passes.hpp"
#include "optimizer/passes/Fusing.hpp"

#include <string>

namespace tenon::test::grouped_to_depthwise_test
{

namespace
{

struct Grouped
{
    DataLayout m_Layout = DataLayout::NHWC;
    unsigned int m_Channels = 6;
    unsigned int m_GroupChannels = 1;
    unsigned int m_Outputs = 12;
    DataType m_Data = DataType::Float32;
    DataType m_Weights = DataType::Float32;
    bool m_HasBias = true;
};

TensorShape ShapeOf(const Grouped& grouped, unsigned int batches, unsigned int height, unsigned int width,
                    unsigned int channels)
{
    return grouped.m_Layout == DataLayout::NHWC ? TensorShape({batches, height, width, channels})
                                                : TensorShape({batches, channels, height, width});
}

bool Is16BitFloat(DataType type)
{
    return type == DataType::Float16 || type == DataType::BFloat16;
}

TensorInfo DataInfo(const Grouped& grouped, float scale)
{
    return TensorInfo(ShapeOf(grouped, 2, 7, 5, grouped.m_Channels), grouped.m_Data,
                      grouped.m_Data == DataType::Float32 || Is16BitFloat(grouped.m_Data) ? 0.0f : scale,
                      grouped.m_Data == DataType::QAsymmS8   ? -7
                      : grouped.m_Data == DataType::QAsymmU8 ? 121
                                                             : 0);
}

IConnectableLayer* AddWeights(INetwork& network, const Grouped& grouped)
{
    const TensorShape shape = ShapeOf(grouped, grouped.m_Outputs, 3, 2, grouped.m_GroupChannels);
    if (grouped.m_Weights == DataType::Float32)
    {
        return AddFloatConstant(network, shape, Spread(shape.GetNumElements()));
    }
    if (Is16BitFloat(grouped.m_Weights))
    {
        return AddOwnedConstant(network, TensorInfo(shape, grouped.m_Weights),
                                std::vector<uint16_t>(shape.GetNumElements(), 0x3C00));
    }
    TensorInfo info(shape, grouped.m_Weights, 0.02f, 0);
    if (grouped.m_Weights == DataType::QSymmS8)
    {
        std::vector<float> scales;
        for (unsigned int i = 0; i < grouped.m_Outputs; ++i)
        {
            scales.push_back(0.01f + 0.001f * static_cast<float>(i));
        }
        info = TensorInfo(shape, grouped.m_Weights, scales, 0);
    }
    std::vector<uint8_t> values(shape.GetNumElements());
    for (size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<uint8_t>(i * 71 + 5);
    }
    return AddOwnedConstant(network, info, values);
}

INetworkPtr MakeNetwork(const Grouped& grouped)
{
    INetworkPtr network = INetwork::Create();
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = grouped.m_Layout;
    descriptor.m_PadTop = 1;
    descriptor.m_PadLeft = 2;
    descriptor.m_PadRight = 1;
    descriptor.m_StrideY = 2;
    descriptor.m_DilationX = 2;
    descriptor.m_BiasEnabled = grouped.m_HasBias;
    IConnectableLayer* layer = network->AddConvolution2dLayer(descriptor, "convolution");
    Connect(AddInput(*network, 0, DataInfo(grouped, 0.05f)), layer);
    Connect(AddWeights(*network, grouped), layer, 1);
    if (grouped.m_HasBias)
    {
        const TensorShape shape({grouped.m_Outputs});
        Connect(grouped.m_Data == DataType::Float32 ? AddFloatConstant(*network, shape, Spread(grouped.m_Outputs))
                                                    : AddOwnedConstant(*network, TensorInfo(shape, DataType::Signed32),
                                                                       std::vector<int32_t>(grouped.m_Outputs, -300)),
                layer, 2);
    }
    TensorInfo output = DataInfo(grouped, 0.07f);
    output.SetShape(ShapeOf(grouped, 2, 3, 6, grouped.m_Outputs));
    layer->GetOutputSlot(0).SetTensorInfo(output);
    Connect(layer, network->AddOutputLayer(0));
    return network;
}

bool BecomesDepthwise(const Grouped& grouped)
{
    const std::vector<LayerType> types = FusedTypes(*MakeNetwork(grouped));
    return std::find(types.begin(), types.end(), LayerType::DepthwiseConvolution2d) != types.end() &&
           std::find(types.begin(), types.end(), LayerType::Convolution2d) == types.end();
}

} // namespace

TEST(GroupedToDepthwise, AGroupForEachChannel)
{
    const std::pair<DataType, DataType> types[] = {{DataType::Float32, DataType::Float32},
                                                   {DataType::QAsymmS8, DataType::QSymmS8},
                                                   {DataType::QAsymmS8, DataType::QAsymmS8},
                                                   {DataType::QAsymmU8, DataType::QAsymmU8}};
    for (const auto& [data, weights] : types)
    {
        for (const DataLayout layout : {DataLayout::NHWC, DataLayout::NCHW})
        {
            for (const unsigned int outputs : {6U, 12U})
            {
                const Grouped grouped = {layout, 6, 1, outputs, data, weights, outputs == 12};
                SCOPED_TRACE(std::string(GetDataTypeName(data)) + " by " + GetDataTypeName(weights) + ", " +
                             std::to_string(outputs) + " outputs");
                EXPECT_TRUE(BecomesDepthwise(grouped));
                const INetworkPtr network = MakeNetwork(grouped);
                TensorInfo info = DataInfo(grouped, 0.05f);
                info.SetConstant();
                const std::vector<std::byte> bytes = MakeInput(info);
                BothWays(*network).ExpectEqual({{0, ConstTensor(info, bytes.data())}}, 1e-5f);
            }
        }
    }
}

TEST(GroupedToDepthwise, OfSixteenBits)
{
    for (const DataType type : {DataType::Float16, DataType::BFloat16})
    {
        EXPECT_TRUE(BecomesDepthwise({DataLayout::NCHW, 6, 1, 6, type, type, false})) << GetDataTypeName(type);
    }
    EXPECT_FALSE(BecomesDepthwise({DataLayout::NCHW, 6, 1, 6, DataType::Float32, DataType::Float16, false}));
}

// Channels follow from the weights of other convolutions where no size of the images is known.
TEST(GroupedToDepthwise, OfOpenSizes)
{
    for (const bool isBatchAlone : {false, true})
    {
        INetworkPtr network = INetwork::Create();
        const TensorShape images({1, 4, 7, 5}, {false, true, isBatchAlone, isBatchAlone});
        IConnectableLayer* last = AddInput(*network, 0, TensorInfo(images, DataType::Float32));
        const auto convolve = [&](const TensorShape& weights)
        {
            Convolution2dDescriptor descriptor;
            descriptor.m_StrideX = descriptor.m_StrideY = 1;
            descriptor.m_DataLayout = DataLayout::NCHW;
            IConnectableLayer* const layer = network->AddConvolution2dLayer(descriptor);
            Connect(last, layer);
            Connect(AddFloatConstant(*network, weights, Spread(weights.GetNumElements())), layer, 1);
            layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::Float32));
            last = layer;
        };
        convolve({6, 4, 1, 1});
        IConnectableLayer* const root = network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Sqrt));
        Connect(last, root);
        IConnectableLayer* const sum =
            network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
        Connect(root, sum);
        Connect(AddFloatConstant(*network, TensorShape({1, 6, 1, 1}), Spread(6)), sum, 1);
        last = sum;
        convolve({12, 1, 3, 2});
        convolve({12, 1, 2, 2});
        Connect(last, network->AddOutputLayer(0));
        const std::vector<LayerType> types = FusedTypes(*network);
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::DepthwiseConvolution2d), 2);
        EXPECT_EQ(std::count(types.begin(), types.end(), LayerType::Convolution2d), 1);
    }
}

TEST(GroupedToDepthwise, OthersStay)
{
    Grouped pairs;
    pairs.m_GroupChannels = 2;
    EXPECT_FALSE(BecomesDepthwise(pairs));
    Grouped one;
    one.m_Channels = 1;
    EXPECT_FALSE(BecomesDepthwise(one));
    Grouped hybrid; // the results would be rounded otherwise
    hybrid.m_Weights = DataType::QSymmS8;
    EXPECT_FALSE(BecomesDepthwise(hybrid));
}

} // namespace tenon::test::grouped_to_depthwise_test
