// SPDX-License-Identifier: Apache-2.0
// Channels-first networks as exporters write them: no more Transposes are left than the one of the input, which has
// several channels, and those that the network's mathematics need.
#include "harness/Passes.hpp"

#include <tenon/Descriptors.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace tenon::test::channels_first_networks_test
{

namespace
{

constexpr float Tolerance = 1e-3f;

/// A network of one image [N, channels, 8, 8], whose batch may be open.
class Images
{
public:
    explicit Images(bool hasOpenBatch, unsigned int channels = 3)
        : m_Network(INetwork::Create()), m_HasOpenBatch(hasOpenBatch), m_Shape({2, channels, 8, 8})
    {
        m_Input = m_Network->AddInputLayer(0, InputDescriptor(true), "image");
        m_Input->GetOutputSlot(0).SetTensorInfo(TensorInfo(Batched(m_Shape), DataType::Float32));
    }

    TensorShape Batched(TensorShape shape) const
    {
        m_HasOpenBatch ? shape.SetDimensionUnknown(0) : void();
        return shape;
    }
    IConnectableLayer* After(IConnectableLayer* layer, const std::vector<IConnectableLayer*>& inputs)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            tenon::test::Connect(inputs[i], layer, i);
        }
        return layer;
    }
    IConnectableLayer* Floats(const TensorShape& shape)
    {
        std::vector<float> values(shape.GetNumElements());
        for (size_t i = 0; i < values.size(); ++i)
        {
            values[i] = std::sin(static_cast<float>(i) * 0.7f + 0.3f) * 0.3f;
        }
        return AddFloats(*m_Network, shape, values);
    }
    IConnectableLayer* Conv(IConnectableLayer* x, unsigned int inputs, unsigned int outputs, unsigned int window = 3,
                            unsigned int stride = 1)
    {
        Convolution2dDescriptor d;
        d.m_BiasEnabled = true;
        d.m_StrideX = d.m_StrideY = stride;
        d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = window == 3 ? 1 : 0;
        return After(m_Network->AddConvolution2dLayer(d, "conv"),
                     {x, Floats({outputs, inputs, window, window}), Floats({outputs})});
    }
    IConnectableLayer* Activation(IConnectableLayer* x, ActivationFunction function = ActivationFunction::ReLu)
    {
        return After(m_Network->AddActivationLayer(ActivationDescriptor(function, 1.0f)), {x});
    }
    IConnectableLayer* Binary(BinaryOperation operation, IConnectableLayer* a, IConnectableLayer* b)
    {
        return After(m_Network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation)), {a, b});
    }
    IConnectableLayer* Reshape(IConnectableLayer* x, const TensorShape& shape)
    {
        return After(m_Network->AddReshapeLayer(ReshapeDescriptor(Batched(shape)), "reshape"), {x});
    }
    IConnectableLayer* Transpose(IConnectableLayer* x, const PermutationVector& mappings)
    {
        return After(m_Network->AddTransposeLayer(TransposeDescriptor(mappings), "transpose"), {x});
    }
    IConnectableLayer* Concat(const std::vector<IConnectableLayer*>& parts, unsigned int axis)
    {
        OriginsDescriptor d(static_cast<uint32_t>(parts.size()), 4);
        d.SetConcatAxis(axis);
        return After(m_Network->AddConcatLayer(d, "concat"), parts);
    }
    IConnectableLayer* Mean(IConnectableLayer* x, const std::vector<unsigned int>& axes)
    {
        return After(m_Network->AddMeanLayer(MeanDescriptor(axes, true)), {x});
    }
    IConnectableLayer* Connected(IConnectableLayer* x, unsigned int inputs, unsigned int outputs, bool isTransposed)
    {
        FullyConnectedDescriptor d;
        d.m_TransposeWeightMatrix = isTransposed;
        return After(m_Network->AddFullyConnectedLayer(d, "connected"),
                     {x, Floats(isTransposed ? TensorShape({outputs, inputs}) : TensorShape({inputs, outputs}))});
    }
    void Output(IConnectableLayer* x, unsigned int slot = 0)
    {
        x->GetOutputSlot(slot).Connect(m_Network->AddOutputLayer(m_NumOutputs++)->GetInputSlot(0));
    }

    INetworkPtr m_Network;
    IConnectableLayer* m_Input = nullptr;
    bool m_HasOpenBatch;
    TensorShape m_Shape;

private:
    LayerBindingId m_NumOutputs = 0;
};

/// The layers that compute, with what each gives, for messages.
std::string Describe(const Graph& graph)
{
    std::string text;
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetConstant() == nullptr && layer->GetNumOutputSlots() != 0)
        {
            text += '\n' + layer->Describe() + ' ' + layer->Output(0).GetTensorInfo().GetShape().ToString();
        }
    }
    return text;
}

/// The network gives the same as with the necessary passes alone, and so many Transposes are left.
void Expect(const std::function<void(Images&)>& make, size_t numTransposes, unsigned int channels = 3)
{
    for (const bool hasOpenBatch : {false, true})
    {
        SCOPED_TRACE(hasOpenBatch ? "open batch" : "fixed batch");
        Images images(hasOpenBatch, channels);
        make(images);
        BothWays both(*images.m_Network);
        EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), numTransposes) << Describe(both.Optimized());
        both.ExpectEqual({images.m_Shape}, Tolerance);
        TensorShape one = images.m_Shape;
        one.SetDimensionSize(0, 1);
        hasOpenBatch ? void(both.ExpectEqual({one}, Tolerance)) : void();
    }
}

} // namespace

TEST(Images, ResidualNetworkWithAGlobalPool)
{
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Activation(n.Conv(n.m_Input, 3, 8, 3, 2));
            IConnectableLayer* y = n.Conv(n.Activation(n.Conv(x, 8, 8)), 8, 8);
            x = n.Activation(n.Binary(BinaryOperation::Add, x, y));
            n.Output(n.Connected(n.Reshape(n.Mean(x, {2, 3}), {2, 8}), 8, 5, true));
        },
        1);
}

// A layer that takes any rank has that of what is broadcast, also where no size is known.
TEST(Images, ANormalizationBehindASum)
{
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Activation(n.Conv(n.m_Input, 3, 8), ActivationFunction::TanH);
            IConnectableLayer* y = n.Activation(n.Conv(x, 8, 8), ActivationFunction::TanH);
            BatchNormalizationDescriptor d;
            d.m_Eps = 1.0f; // more than what the variances lack
            d.m_DataLayout = DataLayout::NCHW;
            IConnectableLayer* normalized =
                n.After(n.m_Network->AddLayer(LayerType::BatchNormalization, d, "norm"),
                        {n.Binary(BinaryOperation::Add, x, y), n.Floats(TensorShape({8})), n.Floats(TensorShape({8})),
                         n.Floats(TensorShape({8})), n.Floats(TensorShape({8}))});
            n.Output(n.Connected(n.Reshape(n.Mean(normalized, {2, 3}), {2, 8}), 8, 5, true));
        },
        1);
}

TEST(Images, FlatProductsTakeTheirMatrixInAnotherOrder)
{
    for (const bool isTransposed : {true, false})
    {
        Expect(
            [&](Images& n)
            {
                IConnectableLayer* x = n.Activation(n.Conv(n.m_Input, 3, 4, 3, 2));
                n.Output(n.Connected(n.Reshape(x, {2, 64}), 64, 5, isTransposed));
            },
            1);
    }
}

TEST(Images, PatchesBecomeRows)
{
    // As in a vision transformer, and back.
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Conv(n.m_Input, 3, 6, 2, 2);
            IConnectableLayer* rows = n.Transpose(n.Reshape(x, {2, 6, 16}), {0, 2, 1});
            rows = n.Activation(rows, ActivationFunction::Sigmoid);
            x = n.Reshape(n.Transpose(rows, {0, 2, 1}), {2, 6, 4, 4});
            n.Output(n.Reshape(n.Mean(n.Conv(x, 6, 4), {2, 3}), {2, 4}));
        },
        1);
}

TEST(Images, HeadsOfADetector)
{
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Activation(n.Conv(n.m_Input, 3, 6), ActivationFunction::Swish);
            IConnectableLayer* y = n.Activation(n.Conv(x, 6, 8, 3, 2), ActivationFunction::Swish);
            IConnectableLayer* large = n.Reshape(n.Conv(x, 6, 10, 1), {2, 10, 64});
            IConnectableLayer* small = n.Reshape(n.Conv(y, 8, 10, 1), {2, 10, 16});
            ViewsDescriptor views(2, 3);
            views.SetAxis(1);
            for (unsigned int view = 0; view < 2; ++view)
            {
                views.SetViewSize(view, 0, 2);
                views.SetViewSize(view, 1, view == 0 ? 4 : 6);
                views.SetViewSize(view, 2, 80);
                views.SetViewOriginCoord(view, 1, view == 0 ? 0 : 4);
            }
            IConnectableLayer* all = n.Concat({large, small}, 2);
            if (n.m_HasOpenBatch) // a splitter of boxes has a batch
            {
                n.Output(n.Activation(all, ActivationFunction::Sigmoid));
                return;
            }
            IConnectableLayer* parts = n.After(n.m_Network->AddSplitterLayer(views, "split"), {all});
            n.Output(parts, 0);
            n.Output(parts, 1);
        },
        2);
}

TEST(Images, LayersAlongTheChannels)
{
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Conv(n.m_Input, 3, 4);
            // Slices, borders, a softmax, means and constants of channels.
            StridedSliceDescriptor slice({0, 0, 0, 0}, {0, 2, 0, 0}, {1, 1, 1, 1});
            slice.m_BeginMask = 15;
            slice.m_EndMask = 13;
            IConnectableLayer* half = n.After(n.m_Network->AddStridedSliceLayer(slice), {x});
            x = n.Concat({x, half}, 1);
            SoftmaxDescriptor softmax;
            softmax.m_Axis = 1;
            x = n.After(n.m_Network->AddSoftmaxLayer(softmax), {x});
            x = n.Binary(BinaryOperation::Add, x, n.Mean(x, {1}));
            x = n.Binary(BinaryOperation::Mul, x, n.Floats({1, 6, 1, 1}));
            x = n.Binary(BinaryOperation::Sub, x, n.Floats({6, 1, 1}));
            x = n.After(n.m_Network->AddPreluLayer("prelu"), {x, n.Floats({6, 1, 1})});
            x = n.After(n.m_Network->AddPadLayer(PadDescriptor({{0, 0}, {0, 0}, {1, 1}, {2, 0}}, 0.5f)), {x});
            x = n.Conv(x, 6, 4);
            n.Output(n.Reshape(n.Mean(x, {2, 3}), {2, 4}));
        },
        1);
}

TEST(Images, NormalizationsBetweenPermutations)
{
    // ConvNeXt: channels go last for a normalization and two products, and back.
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Conv(n.m_Input, 3, 6);
            IConnectableLayer* y = n.Transpose(n.Conv(x, 6, 6), {0, 2, 3, 1});
            LayerNormalizationDescriptor d;
            y = n.After(n.m_Network->AddLayerNormalizationLayer(d), {y, n.Floats({6}), n.Floats({6})});
            FullyConnectedDescriptor connected;
            connected.m_KeepDims = true;
            y = n.After(n.m_Network->AddFullyConnectedLayer(connected), {y, n.Floats({6, 6})});
            y = n.Transpose(n.Binary(BinaryOperation::Mul, y, n.Floats({6})), {0, 3, 1, 2});
            n.Output(n.Reshape(n.Mean(n.Binary(BinaryOperation::Add, x, y), {2, 3}), {2, 6}));
        },
        1);
}

TEST(Images, NormalizationsOfChannels)
{
    // Written out in the order of the images, with a scale and a bias for each channel.
    Images images(false);
    IConnectableLayer* x = images.Conv(images.m_Input, 3, 6);
    IConnectableLayer* difference = images.Binary(BinaryOperation::Sub, x, images.Mean(x, {1}));
    IConnectableLayer* variance = images.Mean(images.Binary(BinaryOperation::Mul, difference, difference), {1});
    IConnectableLayer* sum =
        images.Binary(BinaryOperation::Add, variance, AddFloats(*images.m_Network, TensorShape({1}), {1e-6f}));
    IConnectableLayer* root = images.After(
        images.m_Network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Sqrt)), {sum});
    IConnectableLayer* y = images.Binary(BinaryOperation::Div, difference, root);
    y = images.Binary(BinaryOperation::Mul, y, images.Floats({6, 1, 1}));
    y = images.Binary(BinaryOperation::Add, y, images.Floats({1, 6, 1, 1}));
    images.Output(images.Reshape(images.Mean(images.Conv(y, 6, 4), {2, 3}), {2, 4}));
    BothWays both(*images.m_Network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::LayerNormalization), 1u) << Describe(both.Optimized());
    EXPECT_EQ(Count(both.Optimized(), LayerType::ElementwiseBinary), 0u);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 1u);
    both.ExpectEqual({images.m_Shape}, Tolerance);
}

TEST(Images, PixelAndChannelShuffles)
{
    Expect(
        [](Images& n)
        {
            IConnectableLayer* x = n.Conv(n.m_Input, 3, 12);
            x = n.Reshape(x, {2, 3, 4, 8, 8});
            x = n.Reshape(n.Transpose(x, {0, 2, 1, 3, 4}), {2, 12, 8, 8});
            x = n.Reshape(n.Conv(x, 12, 12), {2, 3, 2, 2, 8, 8});
            x = n.Reshape(n.Transpose(x, {0, 1, 4, 2, 5, 3}), {2, 3, 16, 16});
            n.Output(n.Reshape(n.Mean(n.Conv(x, 3, 4), {2, 3}), {2, 4}));
        },
        1);
}

TEST(Images, QueriesKeysAndValuesOfOneProduct)
{
    // Rows of pixels, cut into heads in the orders of two frameworks.
    for (const bool isBatchFirst : {true, false})
    {
        Expect(
            [&](Images& n)
            {
                IConnectableLayer* rows = n.Transpose(n.Reshape(n.Conv(n.m_Input, 3, 8), {2, 8, 64}), {0, 2, 1});
                FullyConnectedDescriptor connected;
                connected.m_KeepDims = true;
                rows = n.After(n.m_Network->AddFullyConnectedLayer(connected), {rows, n.Floats({8, 24})});
                IConnectableLayer* all = isBatchFirst ? n.Transpose(n.Reshape(rows, {2, 64, 3, 2, 4}), {2, 0, 3, 1, 4})
                                                      : n.Transpose(n.Reshape(rows, {2, 64, 2, 3, 4}), {3, 0, 2, 1, 4});
                std::vector<IConnectableLayer*> parts;
                for (const int32_t index : {0, 1, 2})
                {
                    parts.push_back(
                        n.After(n.m_Network->AddGatherLayer(GatherDescriptor(0)),
                                {all, AddInts(*n.m_Network, TensorShape(Dimensionality::Scalar), {index})}));
                }
                IConnectableLayer* scores =
                    n.After(n.m_Network->AddBatchMatMulLayer(BatchMatMulDescriptor(false, true)), {parts[0], parts[1]});
                SoftmaxDescriptor softmax;
                scores = n.After(n.m_Network->AddSoftmaxLayer(softmax), {scores});
                IConnectableLayer* out =
                    n.After(n.m_Network->AddBatchMatMulLayer(BatchMatMulDescriptor()), {scores, parts[2]});
                n.Output(n.Reshape(n.Transpose(out, {0, 2, 1, 3}), {2, 64, 8}));
            },
            1);
    }
}

TEST(Images, ClassesOfPixels)
{
    for (const int axis : {1, -3})
    {
        Expect(
            [&](Images& n)
            {
                ArgMinMaxDescriptor d;
                d.m_Function = ArgMinMaxFunction::Max;
                d.m_Axis = axis;
                n.Output(n.After(n.m_Network->AddArgMinMaxLayer(d), {n.Conv(n.m_Input, 3, 5)}));
            },
            1);
    }
}

TEST(Images, TransposesOfOnesAreReshapes)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = network->AddInputLayer(0, InputDescriptor(true), "rows");
    last->GetOutputSlot(0).SetTensorInfo(FloatInfo({1, 5, 1, 6}));
    const auto then = [&](IConnectableLayer* layer)
    {
        Connect(last, layer);
        last = layer;
    };
    then(network->AddTransposeLayer(TransposeDescriptor({1, 0, 3, 2})));
    then(network->AddActivationLayer(ActivationDescriptor(ActivationFunction::Sigmoid)));
    then(network->AddTransposeLayer(TransposeDescriptor({2, 3, 1, 0}))); // rows and columns
    then(network->AddReshapeLayer(ReshapeDescriptor({6, 5})));
    then(network->AddOutputLayer(0));
    BothWays both(*network);
    EXPECT_EQ(Count(both.Optimized(), LayerType::Transpose), 1u) << Describe(both.Optimized());
    both.ExpectEqual({TensorShape({1, 5, 1, 6})});
}

} // namespace tenon::test::channels_first_networks_test
