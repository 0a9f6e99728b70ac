// SPDX-License-Identifier: Apache-2.0
// Passes MoveTransposes and BakeParameters: networks of layout NCHW end without Transposes inside, their number never
// grows, and results stay the same for shapes and ranks that Optimize() was not told.
#include "harness/Passes.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::move_transposes_test
{

namespace
{

IConnectableLayer* AddConvolution(INetwork& network, IConnectableLayer* input, unsigned int channels,
                                  const char* name = "conv")
{
    Convolution2dDescriptor descriptor; // NCHW
    descriptor.m_PadLeft = 1;
    descriptor.m_PadRight = 1;
    descriptor.m_PadTop = 1;
    descriptor.m_PadBottom = 1;
    IConnectableLayer* conv = network.AddConvolution2dLayer(descriptor, name);
    Connect(input, conv);
    Connect(AddFloats(network, {channels, channels, 3, 3}, Ramp(channels * channels * 9, -0.7f, 0.04f), "weights"),
            conv, 1);
    return conv;
}

IConnectableLayer* AddBatchNormalization(INetwork& network, IConnectableLayer* input, unsigned int channels)
{
    BatchNormalizationDescriptor descriptor; // NCHW
    descriptor.m_DataLayout = DataLayout::NCHW;
    const auto constant = [&](float first)
    {
        static std::vector<std::shared_ptr<std::vector<float>>> keep;
        keep.push_back(std::make_shared<std::vector<float>>(Ramp(channels, first, 0.25f)));
        return ConstTensor(TensorInfo({channels}, DataType::Float32, 0.0f, 0, true), *keep.back());
    };
    IConnectableLayer* layer = network.AddBatchNormalizationLayer(descriptor, constant(0.1f), constant(1.0f),
                                                                  constant(-0.2f), constant(0.5f), "bn");
    Connect(input, layer);
    return layer;
}

IConnectableLayer* AddRelu(INetwork& network, IConnectableLayer* input)
{
    IConnectableLayer* relu = network.AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu), "relu");
    Connect(input, relu);
    return relu;
}

/// input 0 -> Transpose {0,3,1,2} -> what `make` adds -> Transpose {0,2,3,1} -> output 0
INetworkPtr MakeSandwich(const std::function<IConnectableLayer*(INetwork&, IConnectableLayer*)>& make)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = network->AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}), "first");
    Connect(AddInput(*network, 0, FloatInfo({1, 4, 6, 2})), first);
    IConnectableLayer* second = network->AddTransposeLayer(TransposeDescriptor({0, 2, 3, 1}), "second");
    Connect(make(*network, first), second);
    Connect(second, network->AddOutputLayer(0));
    return network;
}

} // namespace

TEST(MoveTransposes, NchwNetworkHasNoneInside)
{
    // conv - bn - relu - (+ conv of it) - concat - conv - leaky - global mean
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* input = AddInput(*network, 0, FloatInfo({1, 2, 5, 7}));
    IConnectableLayer* first =
        AddRelu(*network, AddBatchNormalization(*network, AddConvolution(*network, input, 2, "conv1"), 2));
    IConnectableLayer* second = AddConvolution(*network, first, 2, "conv2");
    IConnectableLayer* scaled = network->AddMultiplicationLayer("scale"); // by a constant of NCHW, [C, 1, 1]
    Connect(second, scaled, 0);
    Connect(AddFloats(*network, {2, 1, 1}, {0.5f, -1.5f}), scaled, 1);
    IConnectableLayer* sum = network->AddAdditionLayer("sum");
    Connect(first, sum, 0);
    Connect(scaled, sum, 1);
    OriginsDescriptor axis(2, 4);
    axis.SetConcatAxis(1);
    IConnectableLayer* concat = network->AddConcatLayer(axis, "concat");
    Connect(sum, concat, 0);
    Connect(first, concat, 1);
    IConnectableLayer* last = AddRelu(*network, AddConvolution(*network, concat, 4, "conv3"));
    IConnectableLayer* mean = network->AddMeanLayer(MeanDescriptor({2, 3}, false), "mean");
    Connect(last, mean);
    Connect(mean, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 1u) << "that of the input";
    EXPECT_EQ(Find(both.Optimized(), "concat", LayerType::Concat)->Descriptor<ConcatDescriptor>().GetConcatAxis(), 3u);
    both.ExpectEqual({TensorShape({1, 2, 5, 7})}, 1e-4f);
    both.ExpectEqual({TensorShape({3, 2, 8, 4})}, 1e-4f);
    both.ExpectRefused({TensorShape({1, 3, 5, 7})});
}

TEST(MoveTransposes, LayersWithAxes)
{
    const auto same = [](IConnectableLayer* layer, IConnectableLayer* input)
    {
        Connect(input, layer);
        return layer;
    };
    std::vector<INetworkPtr> networks;
    const auto add = [&](const std::function<IConnectableLayer*(INetwork&)>& make)
    {
        networks.push_back(
            MakeSandwich([&](INetwork& network, IConnectableLayer* input) { return same(make(network), input); }));
    };
    for (const int softmaxAxis : {1, -1, 2})
    {
        SoftmaxDescriptor softmax;
        softmax.m_Axis = softmaxAxis;
        add([=](INetwork& network) { return network.AddSoftmaxLayer(softmax); });
        add([=](INetwork& network) { return network.AddLogSoftmaxLayer(softmax); });
    }
    add([](INetwork& network) { return network.AddPadLayer(PadDescriptor({{0, 0}, {1, 2}, {3, 0}, {0, 1}}, 2.5f)); });
    add([](INetwork& network) { return network.AddMeanLayer(MeanDescriptor({1, 3}, true)); });
    ReduceDescriptor reduce;
    reduce.m_vAxis = {2};
    reduce.m_KeepDims = true;
    reduce.m_ReduceOperation = ReduceOperation::Max;
    add([=](INetwork& network) { return network.AddReduceLayer(reduce); });
    add([](INetwork& network) { return network.AddSliceLayer(SliceDescriptor({0, 1, 2, 3}, {1, 1, 2, 2})); });
    StridedSliceDescriptor strided({0, 1, 3, 5}, {1, 2, 0, 1}, {1, 1, -1, -2});
    strided.m_EndMask = 4;
    add([=](INetwork& network) { return network.AddStridedSliceLayer(strided); });
    add([](INetwork& network) { return network.AddTileLayer(TileDescriptor({1, 2, 1, 3})); });
    InterpolateDescriptor interpolate; // of axes, in any order; or of all dimensions
    interpolate.m_Mode = InterpolationMode::Linear;
    interpolate.m_Axes = {3, 2};
    interpolate.m_Scales = {2.0f, 1.5f};
    add([=](INetwork& network) { return network.AddInterpolateLayer(interpolate); });
    interpolate.m_Axes = {};
    interpolate.m_Scales = {1.0f, 0.5f, 1.5f, 2.0f};
    add([=](INetwork& network) { return network.AddInterpolateLayer(interpolate); });
    add([](INetwork& network) { return network.AddFloorLayer(); });
    add([](INetwork& network) { return network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor()); });
    for (const INetworkPtr& network : networks)
    {
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
        both.ExpectEqual({TensorShape({1, 4, 6, 2})}, 1e-5f);
        both.ExpectEqual({TensorShape({1, 5, 7, 3})}, 1e-5f);
    }
}

TEST(MoveTransposes, SeveralOutputsAndInputs)
{
    // Split channels, work on the parts, join them again; a slope for each channel, and a bias of lower rank.
    for (const bool sized : {false, true})
    {
        const auto network = MakeSandwich(
            [&](INetwork& net, IConnectableLayer* input)
            {
                ViewsDescriptor views(2, 4);
                views.SetAxis(-3);
                for (uint32_t i = 0; sized && i < 2; ++i)
                {
                    views.SetViewOriginCoord(i, 1, i);
                    views.SetViewSize(i, 1, 1);
                }
                IConnectableLayer* split = net.AddSplitterLayer(views, "split");
                Connect(input, split);
                IConnectableLayer* prelu = net.AddPreluLayer("prelu");
                Connect(split, prelu, 0, 0);
                Connect(AddFloats(net, {1, 4, 1}, {0.1f, 0.2f, 0.3f, 0.4f}), prelu, 1); // one a row
                OriginsDescriptor axis(2, 4);
                axis.SetConcatAxis(1);
                axis.SetViewOriginCoord(1, 1, 1);
                IConnectableLayer* concat = net.AddConcatLayer(axis, "concat");
                Connect(prelu, concat, 0);
                Connect(split, concat, 1, 1);
                IConnectableLayer* sum = net.AddAdditionLayer("sum");
                Connect(concat, sum, 1);
                Connect(AddFloats(net, {6}, Ramp(6)), sum, 0); // one a column
                IConnectableLayer* scale = net.AddMultiplicationLayer("scale");
                Connect(sum, scale, 0);
                Connect(AddFloats(net, {1}, {3.0f}), scale, 1);
                return scale;
            });
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Reshape), 0u) << "constants are brought into order here";
        both.ExpectEqual({TensorShape({1, 4, 6, 2})});
        both.ExpectEqual({TensorShape({3, 4, 6, 2})});
        both.ExpectRefused({TensorShape({1, 4, 5, 2})});
    }
}

TEST(MoveTransposes, ParametersThatAreConstantTensorsMoveToo)
{
    const auto network = MakeSandwich(
        [](INetwork& net, IConnectableLayer* input)
        {
            PadDescriptor pad;
            pad.m_ParametersAsInputs = true;
            IConnectableLayer* padded = net.AddPadLayer(pad, "pad");
            Connect(input, padded);
            Connect(AddInts(net, {4, 2}, {0, 0, 0, 0, 1, 1, 2, 0}), padded, 1);
            ReduceDescriptor reduce;
            reduce.m_KeepDims = true;
            reduce.m_ParametersAsInputs = true;
            IConnectableLayer* reduced = net.AddReduceLayer(reduce, "reduce");
            Connect(padded, reduced);
            Connect(AddInts(net, {1}, {2}), reduced, 1);
            InterpolateDescriptor interpolate;
            interpolate.m_Axes = {3};
            interpolate.m_ParametersAsInputs = true;
            IConnectableLayer* sized = net.AddInterpolateLayer(interpolate, "sized");
            Connect(reduced, sized);
            Connect(AddInts(net, {1}, {5}), sized, 1);
            IConnectableLayer* scaled = net.AddInterpolateLayer(interpolate, "scaled");
            Connect(sized, scaled);
            Connect(AddFloats(net, {1}, {1.5f}), scaled, 1);
            return scaled;
        });
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Constant), 0u);
    both.ExpectEqual({TensorShape({1, 4, 6, 2})}, 1e-5f);
    both.ExpectEqual({TensorShape({2, 2, 3, 1})}, 1e-5f);
}

TEST(MoveTransposes, OperandsWhoseRankIsNotFixedStay)
{
    // The second operand has rank 4 in Optimize(), but a run may bring one of rank 1: it must not be transposed.
    for (const bool isRelu : {false, true})
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* second = AddInput(*network, 1, FloatInfo({1, 1, 1, 6}));
        second = isRelu ? AddRelu(*network, second) : second;
        const auto make = [&](INetwork& net, IConnectableLayer* input)
        {
            IConnectableLayer* sum = net.AddAdditionLayer("sum");
            Connect(input, sum, 0);
            Connect(second, sum, 1);
            return sum;
        };
        IConnectableLayer* first = network->AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}), "first");
        Connect(AddInput(*network, 0, FloatInfo({1, 4, 6, 2})), first);
        IConnectableLayer* last = network->AddTransposeLayer(TransposeDescriptor({0, 2, 3, 1}), "last");
        Connect(make(*network, first), last);
        Connect(last, network->AddOutputLayer(0));
        BothWays both(*network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 2u);
        both.ExpectEqual({TensorShape({1, 4, 6, 2}), TensorShape({1, 1, 1, 6})});
        both.ExpectEqual({TensorShape({1, 4, 6, 2}), TensorShape({6})});
    }
}

TEST(MoveTransposes, ATensorThatMeetsItsOwnTranspose)
{
    // y = |x|; out = (y + yT) T: the region stands on both sides of a Transpose.
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* turned = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "turned");
    Connect(AddInput(*network, 0, FloatInfo({3, 3})), turned);
    IConnectableLayer* abs = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(turned, abs);
    IConnectableLayer* again = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "again");
    Connect(abs, again);
    IConnectableLayer* difference = network->AddSubtractionLayer("difference");
    Connect(abs, difference, 0);
    Connect(again, difference, 1);
    IConnectableLayer* last = network->AddTransposeLayer(TransposeDescriptor({1, 0}), "last");
    Connect(difference, last);
    Connect(last, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_LE(Count(both.Optimized(), LayerType::Transpose), 2u);
    both.ExpectEqual({TensorShape({3, 3})});
    both.ExpectEqual({TensorShape({5, 5})});
}

TEST(MoveTransposes, TheirNumberNeverGrows)
{
    // Random graphs of elementwise layers and Transposes, from a fixed seed.
    uint32_t state = 7;
    const auto random = [&](uint32_t below)
    {
        state = state * 1664525U + 1013904223U;
        return (state >> 16) % below;
    };
    const std::vector<std::vector<unsigned int>> orders{{1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}, {2, 1, 0}};
    for (int round = 0; round < 150; ++round)
    {
        INetworkPtr network = INetwork::Create();
        std::vector<IConnectableLayer*> layers{AddInput(*network, 0, FloatInfo({3, 3, 3})),
                                               AddInput(*network, 1, FloatInfo({3, 3, 3}))};
        for (IConnectableLayer*& layer : layers) // gives them a rank that no run changes
        {
            IConnectableLayer* first = network->AddTransposeLayer(TransposeDescriptor({2, 1, 0}));
            Connect(layer, first);
            layer = first;
        }
        size_t transposes = 2;
        for (int i = 0; i < 20; ++i)
        {
            IConnectableLayer* one = layers[layers.size() - 1 - random(std::min<uint32_t>(4, uint32_t(layers.size())))];
            IConnectableLayer* other =
                layers[layers.size() - 1 - random(std::min<uint32_t>(4, uint32_t(layers.size())))];
            IConnectableLayer* made = nullptr;
            switch (random(4))
            {
            case 0: made = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs)); break;
            case 1:
                made = network->AddSubtractionLayer();
                Connect(other, made, 1);
                break;
            case 2:
            {
                SoftmaxDescriptor softmax;
                softmax.m_Axis = static_cast<int>(random(3));
                made = network->AddSoftmaxLayer(softmax);
                break;
            }
            default:
            {
                const auto& order = orders[random(static_cast<uint32_t>(orders.size()))];
                made = network->AddTransposeLayer(TransposeDescriptor(PermutationVector(order.data(), 3)));
                ++transposes;
                break;
            }
            }
            Connect(one, made, 0);
            layers.push_back(made);
        }
        for (int i = 0; i < 2; ++i)
        {
            Connect(layers[layers.size() - 1 - static_cast<size_t>(i)], network->AddOutputLayer(i));
        }
        BothWays both(*network);
        EXPECT_LE(Count(both.Optimized(), LayerType::Transpose), transposes) << "round " << round;
        both.ExpectEqual({TensorShape({3, 3, 3}), TensorShape({3, 3, 3})}, 1e-5f);
        both.ExpectEqual({TensorShape({2, 2, 2}), TensorShape({2, 2, 2})}, 1e-5f);
    }
}

TEST(MoveTransposes, QuantizedTensorsKeepTheirQuantization)
{
    INetworkPtr network = INetwork::Create();
    const TensorInfo in({1, 2, 3, 2}, DataType::QAsymmU8, 0.5f, 10);
    IConnectableLayer* first = network->AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}), "first");
    Connect(AddInput(*network, 0, in), first);
    IConnectableLayer* relu = AddRelu(*network, first);
    relu->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), DataType::QAsymmU8, 0.25f, 3));
    IConnectableLayer* second = network->AddTransposeLayer(TransposeDescriptor({0, 2, 3, 1}), "second");
    Connect(relu, second);
    Connect(second, network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 0u);
    std::vector<uint8_t> values(12);
    for (size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<uint8_t>(i * 3);
    }
    TensorInfo constant = in;
    constant.SetConstant(true);
    EXPECT_EQ(both.ExpectEqual({{0, ConstTensor(constant, values)}})[0].m_Info.GetQuantizationScale(), 0.25f);

    // One whose output is declared with another quantization gives the values another meaning, and stays.
    INetworkPtr declared = INetwork::Create();
    IConnectableLayer* there = declared->AddTransposeLayer(TransposeDescriptor({0, 3, 1, 2}), "there");
    IConnectableLayer* back = declared->AddTransposeLayer(TransposeDescriptor({0, 2, 3, 1}), "back");
    Connect(AddInput(*declared, 0, in), there);
    TensorInfo other({1, 2, 2, 3}, DataType::QAsymmU8, 2.0f, 0);
    there->GetOutputSlot(0).SetTensorInfo(other);
    Connect(there, back);
    Connect(back, declared->AddOutputLayer(0));
    BothWays bothDeclared(*declared);
    EXPECT_EQ(bothDeclared.ExpectEqual({{0, ConstTensor(constant, values)}})[0].m_Info.GetQuantizationScale(), 2.0f);
}

} // namespace tenon::test::move_transposes_test
