// SPDX-License-Identifier: Apache-2.0
// Pass MoveStrides: strides of 1x1 convolutions that move to the layers before them, and those that must not.
#include "optimizer/passes/Fusing.hpp"

#include <functional>

namespace tenon::test::move_strides_test
{

using testing::ElementsAre;
using testing::IsEmpty;

namespace
{

using enum PaddingScheme;

constexpr unsigned int Channels = 3;
const TensorInfo Image = FloatInfo({1, 11, 14, Channels});
const std::vector<TensorShape> Shapes = {
    {1, 11, 14, Channels}, {2, 8, 9, Channels}, {1, 1, 1, Channels}, {1, 2, 3, Channels}, {1, 0, 4, Channels}};

Convolution2dDescriptor MakeDescriptor(unsigned int stride, PaddingScheme scheme)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = descriptor.m_StrideY = stride;
    descriptor.m_PaddingScheme = scheme;
    return descriptor;
}

IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* from, unsigned int filter,
                                  const Convolution2dDescriptor& descriptor)
{
    IConnectableLayer* layer = network.AddConvolution2dLayer(descriptor, "convolution");
    const TensorShape weights({Channels, filter, filter, Channels});
    Connect(from, layer);
    Connect(AddFloatConstant(network, weights, Spread(weights.GetNumElements())), layer, 1);
    return layer;
}

IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* from, unsigned int filter, unsigned int stride,
                                  PaddingScheme scheme = Same)
{
    return AddConvolution(network, from, filter, MakeDescriptor(stride, scheme));
}

IConnectableLayer* AddRelu(INetwork& network, IConnectableLayer* from)
{
    ActivationDescriptor descriptor;
    descriptor.m_Function = ActivationFunction::ReLu;
    IConnectableLayer* layer = network.AddActivationLayer(descriptor, "relu");
    Connect(from, layer);
    return layer;
}

IConnectableLayer* AddSum(INetwork& network, IConnectableLayer* a, IConnectableLayer* b)
{
    IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add));
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return layer;
}

/// input 0 -> what `add` adds -> output 0
INetworkPtr Make(const std::function<IConnectableLayer*(INetwork&, IConnectableLayer*)>& add)
{
    INetworkPtr network = INetwork::Create();
    Connect(add(*network, AddInput(*network, 0, Image)), network->AddOutputLayer(0));
    return network;
}

/// The strides of convolutions along x, in the order in which they run.
std::vector<unsigned int> Strides(const INetwork& network)
{
    std::vector<unsigned int> strides;
    const auto optimized = OptimizeFor(network, true);
    for (const auto& layer : static_cast<const OptimizedNetwork&>(*optimized).GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Convolution2d)
        {
            strides.push_back(layer->Descriptor<Convolution2dDescriptor>().m_StrideX);
        }
        else if (layer->GetType() == LayerType::DepthwiseConvolution2d)
        {
            strides.push_back(layer->Descriptor<DepthwiseConvolution2dDescriptor>().m_StrideX);
        }
    }
    return strides;
}

size_t CountSlices(const INetwork& network)
{
    const std::vector<LayerType> types = FusedTypes(network);
    return static_cast<size_t>(std::count(types.begin(), types.end(), LayerType::StridedSlice));
}

void ExpectMoved(const INetwork& network, const std::vector<unsigned int>& strides, size_t slices = 0)
{
    EXPECT_EQ(Strides(network), strides);
    EXPECT_EQ(CountSlices(network), slices);
    // Sums of products are taken in the same order: floats are the same too.
    ExpectSame(network, Image, Shapes);
}

} // namespace

TEST(MoveStrides, ConvolutionsComputeWhatIsRead)
{
    for (const unsigned int filter : {1u, 2u, 3u, 4u, 5u})
    {
        for (const unsigned int stride : {2u, 3u})
        {
            ExpectMoved(*Make([&](INetwork& network, IConnectableLayer* from)
                              { return AddConvolution(network, AddConvolution(network, from, filter, 1), 1, stride); }),
                        {stride, 1});
        }
    }
}

TEST(MoveStrides, StridesAreMultiplied)
{
    Convolution2dDescriptor padded = MakeDescriptor(2, Explicit);
    padded.m_StrideY = 3;
    padded.m_PadTop = 2;
    padded.m_PadRight = 1;
    padded.m_PadBottom = 2;
    padded.m_DilationX = 2;
    padded.m_PadLeft = 4;
    const INetworkPtr network = Make([&](INetwork& n, IConnectableLayer* from)
                                     { return AddConvolution(n, AddConvolution(n, from, 3, padded), 1, 2, Valid); });
    EXPECT_THAT(Strides(*network), ElementsAre(4, 1));
    ExpectSame(*network, Image, {{1, 11, 14, Channels}, {2, 8, 9, Channels}, {1, 1, 1, Channels}});
}

// Behind the first one they are 1x1 convolutions with a stride themselves.
TEST(MoveStrides, GoOnThroughConvolutionsOf1x1)
{
    ExpectMoved(*Make(
                    [](INetwork& network, IConnectableLayer* from)
                    {
                        IConnectableLayer* first = AddRelu(network, AddConvolution(network, from, 3, 1));
                        IConnectableLayer* second = AddRelu(network, AddConvolution(network, first, 1, 1));
                        return AddConvolution(network, second, 1, 2);
                    }),
                {2, 1, 1});
}

// As in ResNets: what others read too is sliced.
TEST(MoveStrides, GoThroughSums)
{
    const INetworkPtr network = Make(
        [](INetwork& n, IConnectableLayer* from)
        {
            IConnectableLayer* shortcut = AddRelu(n, AddConvolution(n, from, 1, 1));
            IConnectableLayer* branch = AddConvolution(n, AddRelu(n, AddConvolution(n, shortcut, 3, 1)), 1, 1);
            IConnectableLayer* sum = AddRelu(n, AddSum(n, branch, shortcut));
            // Of two schemes, or they would be one layer.
            IConnectableLayer* next = AddConvolution(n, AddRelu(n, AddConvolution(n, sum, 1, 2, Valid)), 3, 1);
            return AddSum(n, AddConvolution(n, sum, 1, 2), next);
        });
    const std::vector<unsigned int> strides = Strides(*network);
    ASSERT_EQ(strides.size(), 6u);
    EXPECT_EQ(strides[0], 1u);
    EXPECT_EQ(strides[1], 2u); // the one of 3x3
    EXPECT_EQ(std::count(strides.begin(), strides.end(), 1u), 5);
    EXPECT_EQ(CountSlices(*network), 1u);
    ExpectSame(*network, Image, {{1, 11, 14, Channels}, {2, 8, 9, Channels}, {1, 1, 1, Channels}, {1, 2, 3, Channels}});
}

TEST(MoveStrides, ConstantsOfOneDimensionStayAsTheyAre)
{
    ExpectMoved(*Make(
                    [](INetwork& network, IConnectableLayer* from)
                    {
                        IConnectableLayer* data = AddConvolution(network, from, 3, 1);
                        IConnectableLayer* perChannel = AddFloatConstant(network, {Channels}, {1.5f, -2.0f, 0.5f});
                        return AddConvolution(network, AddRelu(network, AddSum(network, perChannel, data)), 1, 2);
                    }),
                {2, 1});
}

TEST(MoveStrides, DepthwiseConvolutionsTakeThem)
{
    ExpectMoved(*Make(
                    [](INetwork& network, IConnectableLayer* from)
                    {
                        DepthwiseConvolution2dDescriptor descriptor;
                        descriptor.m_DataLayout = DataLayout::NHWC;
                        descriptor.m_PaddingScheme = Same;
                        IConnectableLayer* layer = network.AddDepthwiseConvolution2dLayer(descriptor, "depthwise");
                        Connect(from, layer);
                        Connect(AddFloatConstant(network, {1, 3, 3, Channels}, Spread(9 * Channels)), layer, 1);
                        return AddConvolution(network, layer, 1, 2);
                    }),
                {2, 1});
}

TEST(MoveStrides, StayWhereOthersRead)
{
    // Another stride, a window of more than a pixel, and an output.
    for (const auto& [filter, stride] : {std::pair(1u, 3u), std::pair(1u, 1u), std::pair(3u, 2u)})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* data = AddConvolution(*network, AddInput(*network, 0, Image), 3, 1);
        Connect(AddConvolution(*network, data, 1, 2), network->AddOutputLayer(0));
        Connect(AddConvolution(*network, data, filter, stride), network->AddOutputLayer(1));
        EXPECT_THAT(Strides(*network), testing::UnorderedElementsAre(1, 2, stride));
    }
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* data = AddConvolution(*network, AddInput(*network, 0, Image), 3, 1);
    Connect(AddConvolution(*network, data, 1, 2), network->AddOutputLayer(0));
    Connect(data, network->AddOutputLayer(1));
    EXPECT_THAT(Strides(*network), ElementsAre(1, 2));
}

TEST(MoveStrides, StayWhereNothingIsSaved)
{
    // No convolution before them; paddings that follow from the size; a 1x1 convolution with a border.
    const auto stays = [](const auto& add, const std::vector<unsigned int>& strides)
    { EXPECT_EQ(Strides(*Make(add)), strides); };
    stays([](INetwork& n, IConnectableLayer* from) { return AddConvolution(n, AddRelu(n, from), 1, 2); }, {2});
    stays([](INetwork& n, IConnectableLayer* from) { return AddConvolution(n, AddConvolution(n, from, 3, 2), 1, 2); },
          {2, 2});
    Convolution2dDescriptor padded = MakeDescriptor(2, Explicit);
    padded.m_PadTop = 1;
    stays([&](INetwork& n, IConnectableLayer* from)
          { return AddConvolution(n, AddConvolution(n, from, 3, 1), 1, padded); },
          {1, 2});
}

// A value for each pixel may have any rank, of which only what is sure counts: an operand of two dimensions would have
// to be sliced along one of them.
TEST(MoveStrides, StayWhereOperandsAreNoImages)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* data = AddConvolution(*network, AddInput(*network, 0, Image), 3, 1);
    IConnectableLayer* columns = AddFloatConstant(*network, {14, 1}, Spread(14));
    Connect(AddConvolution(*network, AddSum(*network, data, columns), 1, 2), network->AddOutputLayer(0));
    EXPECT_THAT(Strides(*network), ElementsAre(1, 2));
    EXPECT_EQ(CountSlices(*network), 0u);
}

// Images of 11 and 12 rows do not fit, but every second row of both would.
TEST(MoveStrides, StayWhereOperandsMayNotFit)
{
    const std::function<IConnectableLayer*(INetwork&, IConnectableLayer*)> others[] = {
        [](INetwork& n, IConnectableLayer*) { return AddInput(n, 1, Image); }, [](INetwork& n, IConnectableLayer*)
        { return AddFloatConstant(n, Image.GetShape(), Spread(Image.GetNumElements())); }};
    for (const auto& other : others)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* input = AddInput(*network, 0, Image);
        IConnectableLayer* sum = AddSum(*network, AddConvolution(*network, input, 3, 1), other(*network, input));
        Connect(AddConvolution(*network, sum, 1, 2), network->AddOutputLayer(0));
        const std::vector<unsigned int> strides = Strides(*network);
        EXPECT_EQ(strides.back(), 2u);
        EXPECT_EQ(std::count(strides.begin(), strides.end(), 1u), static_cast<std::ptrdiff_t>(strides.size() - 1));
        EXPECT_EQ(CountSlices(*network), 0u);
    }
    // One pixel fits all.
    ExpectMoved(*Make(
                    [](INetwork& n, IConnectableLayer* from)
                    {
                        IConnectableLayer* pixel = AddFloatConstant(n, {1, 1, 1, Channels}, {1.5f, -2.0f, 0.5f});
                        return AddConvolution(n, AddSum(n, AddConvolution(n, from, 3, 1), pixel), 1, 2);
                    }),
                {2, 1});
}

TEST(MoveStrides, HoldForBytes)
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo info({1, 11, 14, Channels}, DataType::QAsymmS8, 0.5f, 5);
    const auto add = [&](IConnectableLayer* from, unsigned int filter, unsigned int stride)
    {
        IConnectableLayer* layer = network->AddConvolution2dLayer(MakeDescriptor(stride, Same), "convolution");
        std::vector<int8_t> weights(Channels * filter * filter * Channels);
        for (size_t i = 0; i < weights.size(); ++i)
        {
            weights[i] = static_cast<int8_t>(i * 29 % 255);
        }
        const TensorInfo weightsInfo({Channels, filter, filter, Channels}, DataType::QSymmS8, 0.25f, 0, true);
        Connect(from, layer);
        Connect(AddOwnedConstant(*network, weightsInfo, weights), layer, 1);
        layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::QAsymmS8, 20.0f, -3));
        return layer;
    };
    IConnectableLayer* shortcut = add(AddInput(*network, 0, info), 1, 1);
    IConnectableLayer* sum = AddSum(*network, add(shortcut, 3, 1), shortcut);
    sum->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::QAsymmS8, 30.0f, 7));
    Connect(add(sum, 1, 2), network->AddOutputLayer(0));
    EXPECT_THAT(Strides(*network), ElementsAre(1, 2, 1));
    EXPECT_EQ(CountSlices(*network), 1u);
    ExpectSame(*network, info, {{1, 11, 14, Channels}, {2, 8, 9, Channels}, {1, 1, 1, Channels}});
    ExpectSame(*network, info, {{1, 11, 14, Channels}, {2, 8, 9, Channels}}, 0.0, {"CpuAcc", "CpuRef"});
}

} // namespace tenon::test::move_strides_test
