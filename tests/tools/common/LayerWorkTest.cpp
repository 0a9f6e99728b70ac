// SPDX-License-Identifier: Apache-2.0
// The work of layers, against numbers counted by hand.
#include "tools/common/LayerWork.hpp"

#include <tenon/INetwork.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

TensorInfo F32(std::initializer_list<unsigned int> shape)
{
    return {TensorShape(shape), DataType::Float32};
}

TensorInfo Int8(std::initializer_list<unsigned int> shape)
{
    return {TensorShape(shape), DataType::QAsymmS8, 0.5f};
}

TensorInfo Constant(TensorInfo info)
{
    info.SetConstant();
    return info;
}

/// Input i of a layer where it is not connected.
const TensorInfo Absent;

/// The layers are of one network, each with inputs of its own.
class Layers
{
public:
    LayerWork Work(LayerType type, const BaseDescriptor& descriptor, const std::vector<TensorInfo>& inputs,
                   const std::vector<TensorInfo>& outputs)
    {
        return Work(m_Network->AddLayer(type, descriptor), inputs, outputs);
    }

    LayerWork Work(IConnectableLayer* layer, const std::vector<TensorInfo>& inputs,
                   const std::vector<TensorInfo>& outputs)
    {
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            if (inputs[i] != Absent)
            {
                Source(inputs[i]).Connect(layer->GetInputSlot(i));
            }
        }
        for (unsigned int i = 0; i < outputs.size(); ++i)
        {
            layer->GetOutputSlot(i).SetTensorInfo(outputs[i]);
        }
        return ComputeWork(*layer);
    }

    INetwork& Get() { return *m_Network; }

    ConstTensor Zeros(const TensorInfo& info) { return {Constant(info), m_Memory.emplace_back(info.GetNumBytes())}; }

private:
    IOutputSlot& Source(const TensorInfo& info)
    {
        IConnectableLayer* const source =
            info.IsConstant() ? m_Network->AddConstantLayer(Zeros(info)) : m_Network->AddInputLayer(m_NumInputs++);
        source->GetOutputSlot(0).SetTensorInfo(info);
        return source->GetOutputSlot(0);
    }

    std::list<std::vector<std::byte>> m_Memory;
    INetworkPtr m_Network = INetwork::Create();
    LayerBindingId m_NumInputs = 0;
};

TEST(LayerWork, OfConvolutions)
{
    Layers layers;
    Convolution2dDescriptor convolution;
    convolution.m_BiasEnabled = true;
    convolution.m_DataLayout = DataLayout::NHWC;
    const LayerWork work = layers.Work(
        LayerType::Convolution2d, convolution,
        {Int8({1, 8, 8, 4}), Constant(Int8({16, 3, 3, 4})), Constant({TensorShape({16}), DataType::Signed32, 0.25f})},
        {Int8({1, 4, 4, 16})});
    EXPECT_EQ(work.m_Macs, 4U * 4 * 16 * 3 * 3 * 4);
    EXPECT_EQ(work.m_Operations, 4U * 4 * 16);
    EXPECT_EQ(work.m_InputBytes, 8U * 8 * 4);
    EXPECT_EQ(work.m_ConstantBytes, 16U * 3 * 3 * 4 + 16 * 4);
    EXPECT_EQ(work.m_OutputBytes, 4U * 4 * 16);
    EXPECT_EQ(work.CountOperations(), 2U * 9216 + 256);
    EXPECT_EQ(work.CountBytes(), 256U + 640 + 256);

    // Two groups, and channels first.
    convolution.m_BiasEnabled = false;
    convolution.m_DataLayout = DataLayout::NCHW;
    const LayerWork grouped = layers.Work(LayerType::Convolution2d, convolution,
                                          {F32({1, 4, 8, 8}), F32({16, 2, 3, 3})}, {F32({1, 16, 6, 6})});
    EXPECT_EQ(grouped.m_Macs, 6U * 6 * 16 * 3 * 3 * 2);
    EXPECT_EQ(grouped.m_Operations, 0U);
    EXPECT_EQ(grouped.m_InputBytes, 4U * (4 * 8 * 8 + 16 * 2 * 3 * 3)) << "weights that are no constants";
    EXPECT_EQ(grouped.m_ConstantBytes, 0U);

    EXPECT_EQ(layers
                  .Work(LayerType::DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor(),
                        {F32({1, 8, 8, 4}), F32({1, 3, 3, 8})}, {F32({1, 6, 6, 8})})
                  .m_Macs,
              6U * 6 * 8 * 3 * 3);
    EXPECT_EQ(layers
                  .Work(LayerType::Convolution3d, Convolution3dDescriptor(),
                        {F32({1, 4, 4, 4, 2}), F32({3, 3, 3, 2, 5})}, {F32({1, 2, 2, 2, 5})})
                  .m_Macs,
              2U * 2 * 2 * 5 * 27 * 2);
}

TEST(LayerWork, OfTransposedConvolutions)
{
    Layers layers;
    TransposeConvolution2dDescriptor transposed;
    transposed.m_BiasEnabled = true;
    for (const DataLayout layout : {DataLayout::NHWC, DataLayout::NCHW})
    {
        transposed.m_DataLayout = layout;
        const bool isNhwc = layout == DataLayout::NHWC;
        const TensorInfo weights = isNhwc ? F32({6, 2, 2, 3}) : F32({6, 3, 2, 2});
        const LayerWork work = layers.Work(
            layers.Get().AddTransposeConvolution2dLayer(transposed, layers.Zeros(weights),
                                                        Optional<ConstTensor>(layers.Zeros(F32({6})))),
            {isNhwc ? F32({1, 5, 5, 3}) : F32({1, 3, 5, 5})}, {isNhwc ? F32({1, 10, 10, 6}) : F32({1, 6, 10, 10})});
        EXPECT_EQ(work.m_Macs, 5U * 5 * 3 * 6 * 2 * 2);
        EXPECT_EQ(work.m_Operations, 600U);
        EXPECT_EQ(work.m_ConstantBytes, 4U * (6 * 2 * 2 * 3 + 6)) << "constants without slots of their own";
        EXPECT_EQ(work.m_InputBytes, 4U * 75);
    }
    EXPECT_EQ(layers
                  .Work(LayerType::TransposeConvolution3d, TransposeConvolution3dDescriptor(),
                        {F32({1, 2, 2, 2, 3}), F32({2, 2, 2, 6, 3})}, {F32({1, 4, 4, 4, 6})})
                  .m_Macs,
              8U * 3 * 6 * 8);
}

TEST(LayerWork, OfMatrixProducts)
{
    Layers layers;
    FullyConnectedDescriptor connected;
    EXPECT_EQ(layers.Work(LayerType::FullyConnected, connected, {F32({2, 3, 10}), F32({10, 7})}, {F32({6, 7})}).m_Macs,
              6U * 10 * 7);
    connected.m_TransposeWeightMatrix = true;
    EXPECT_EQ(layers
                  .Work(LayerType::FullyConnected, connected,
                        {F32({6, 10}), Constant({TensorShape({7, 10}), DataType::QSymmS4, 0.5f})}, {F32({6, 7})})
                  .m_ConstantBytes,
              35U);

    EXPECT_EQ(layers
                  .Work(LayerType::BatchMatMul, BatchMatMulDescriptor(), {F32({2, 3, 4, 5}), F32({5, 6})},
                        {F32({2, 3, 4, 6})})
                  .m_Macs,
              2U * 3 * 4 * 5 * 6);
    EXPECT_EQ(
        layers
            .Work(LayerType::BatchMatMul, BatchMatMulDescriptor(true, true), {F32({5, 4}), F32({6, 5})}, {F32({4, 6})})
            .m_Macs,
        4U * 5 * 6);

    // Four heads of queries share two of keys: 4 * 8 * 16 scores of 32 products, then sums over 16 keys.
    AttentionDescriptor attention;
    const LayerWork work =
        layers.Work(LayerType::Attention, attention, {F32({1, 4, 8, 32}), F32({1, 2, 16, 32}), F32({1, 2, 16, 24})},
                    {F32({1, 4, 8, 24})});
    EXPECT_EQ(work.m_Macs, 4U * 8 * 16 * 32 + 4 * 8 * 24 * 16);
    EXPECT_EQ(work.m_Operations, 4U * 8 * 16 * 5);
    attention.m_RowsBeforeHeads = true;
    EXPECT_EQ(layers
                  .Work(LayerType::Attention, attention, {F32({1, 8, 4, 32}), F32({1, 16, 2, 32}), F32({1, 16, 2, 24})},
                        {F32({1, 8, 4, 24})})
                  .m_Macs,
              work.m_Macs);
}

TEST(LayerWork, OfRecurrentLayers)
{
    Layers layers;
    // One gate of 5 units without the input gate: 3 matrices of each kind, peepholes and biases that do not count.
    std::vector<TensorInfo> inputs(24);
    inputs[0] = F32({2, 7, 3});
    inputs[1] = F32({2, 5});
    inputs[2] = F32({2, 5});
    for (const size_t gate : {4U, 5U, 6U})
    {
        inputs[gate] = Constant(F32({5, 3}));
        inputs[gate + 4] = Constant(F32({5, 5}));
        inputs[gate + 11] = Constant(F32({5}));
    }
    const LayerWork work = layers.Work(LayerType::UnidirectionalSequenceLstm, LstmDescriptor(), inputs,
                                       {F32({2, 5}), F32({2, 5}), F32({2, 7, 5})});
    EXPECT_EQ(work.m_Macs, 2U * 7 * 3 * (5 * 3 + 5 * 5));
    EXPECT_EQ(work.m_Operations, 2U * 7 * 6 * 5 * 2);
    EXPECT_EQ(work.m_ConstantBytes, 4U * 3 * (5 * 3 + 5 * 5 + 5));

    EXPECT_EQ(layers
                  .Work(LayerType::BasicLstm, NullDescriptor(),
                        {F32({2, 3}), F32({2, 5}), F32({20, 8}), F32({20}), F32({2, 5})},
                        {F32({2, 5}), F32({2, 5}), F32({2, 8}), F32({2, 20})})
                  .m_Macs,
              2U * 20 * 8);
    EXPECT_EQ(layers
                  .Work(LayerType::Rnn, RnnDescriptor(),
                        {F32({2, 7, 3}), F32({5, 3}), F32({5, 5}), F32({5}), F32({2, 5})},
                        {F32({2, 5}), F32({2, 7, 5})})
                  .m_Macs,
              14U * (15 + 25));
    EXPECT_EQ(layers
                  .Work(LayerType::RecurrentSequence, RecurrentSequenceDescriptor(),
                        {F32({7, 2, 3}), F32({1, 20, 3}), F32({1, 20, 5})},
                        {F32({7, 1, 2, 5}), F32({1, 2, 5}), F32({1, 2, 5})})
                  .m_Macs,
              14U * (60 + 100));
    EXPECT_EQ(layers
                  .Work(LayerType::Svdf, SvdfDescriptor(),
                        {F32({2, 3}), F32({8, 3}), F32({8, 10}), F32({8}), F32({2, 80})}, {F32({2, 80}), F32({2, 8})})
                  .m_Macs,
              2U * (24 + 80));
}

TEST(LayerWork, OfLayersWithoutProducts)
{
    Layers layers;
    const LayerWork relu = layers.Work(LayerType::Activation, ActivationDescriptor(ActivationFunction::ReLu),
                                       {F32({2, 3})}, {F32({2, 3})});
    EXPECT_EQ(relu.m_Macs, 0U);
    EXPECT_EQ(relu.m_Operations, 6U);
    EXPECT_EQ(relu.CountBytes(), 48U);
    EXPECT_EQ(
        layers.Work(LayerType::ElementwiseBinary, ElementwiseBinaryDescriptor(), {F32({4, 1}), F32({5})}, {F32({4, 5})})
            .m_Operations,
        20U);
    Pooling2dDescriptor pooling;
    pooling.m_PoolWidth = 3;
    pooling.m_PoolHeight = 2;
    EXPECT_EQ(layers.Work(LayerType::Pooling2d, pooling, {F32({1, 6, 6, 2})}, {F32({1, 3, 2, 2})}).m_Operations,
              12U * 6);
    EXPECT_EQ(layers.Work(LayerType::Mean, MeanDescriptor(), {F32({1, 6, 6, 2})}, {F32({1})}).m_Operations, 72U);
    EXPECT_EQ(layers.Work(LayerType::Softmax, SoftmaxDescriptor(), {F32({1, 10})}, {F32({1, 10})}).m_Operations, 50U);
    const LayerWork transpose =
        layers.Work(LayerType::Transpose, TransposeDescriptor({1, 0}), {F32({4, 5})}, {F32({5, 4})});
    EXPECT_EQ(transpose.m_Operations, 0U);
    EXPECT_EQ(transpose.CountOperations(), 0U);
}

TEST(LayerWork, LookupsReadWhatTheyGive)
{
    Layers layers;
    const LayerWork lookup =
        layers.Work(LayerType::EmbeddingLookup, NullDescriptor(),
                    {{TensorShape({6}), DataType::Signed32}, Constant(F32({1000, 8}))}, {F32({6, 8})});
    EXPECT_EQ(lookup.m_InputBytes, 24U);
    EXPECT_EQ(lookup.m_ConstantBytes, 6U * 8 * 4);
    const LayerWork repeated = layers.Work(LayerType::Gather, GatherDescriptor(),
                                           {F32({2, 8}), {TensorShape({6}), DataType::Signed32}}, {F32({6, 8})});
    EXPECT_EQ(repeated.m_InputBytes, 2U * 8 * 4 + 24);
}

TEST(LayerWork, WhatIsUnknownIsAbsent)
{
    Layers layers;
    const TensorInfo open(TensorShape({1, 3}, {true, false}), DataType::Float32);
    const LayerWork work = layers.Work(LayerType::FullyConnected, FullyConnectedDescriptor(),
                                       {open, Constant(F32({3, 4}))}, {F32({1, 4})});
    EXPECT_EQ(work.m_Macs, 12U);
    EXPECT_EQ(work.m_ConstantBytes, 48U);
    EXPECT_EQ(work.m_InputBytes, std::nullopt);
    EXPECT_EQ(work.CountBytes(), std::nullopt);
    EXPECT_EQ(layers.Work(LayerType::Softmax, SoftmaxDescriptor(), {open}, {open}).m_Operations, std::nullopt);
    EXPECT_EQ(layers.Work(LayerType::Softmax, SoftmaxDescriptor(), {open}, {open}).m_Macs, 0U);
    EXPECT_EQ(layers.Work(LayerType::Where, NullDescriptor(), {F32({4})}, {Absent}).m_OutputBytes, std::nullopt);

    CustomDescriptor custom;
    custom.m_NumInputs = 1;
    custom.m_NumOutputs = 1;
    EXPECT_EQ(layers.Work(LayerType::Custom, custom, {F32({4})}, {F32({4})}).m_Macs, std::nullopt);
    EXPECT_EQ(layers.Work(LayerType::Custom, custom, {F32({4})}, {F32({4})}).CountBytes(), 32U);
    EXPECT_EQ(layers.Work(LayerType::TopK, TopKDescriptor(), {F32({9}), F32({})}, {F32({2}), F32({2})}).m_Operations,
              std::nullopt);
}

TEST(LayerWork, ShapesThatDoNotFitHaveNone)
{
    Layers layers;
    EXPECT_EQ(layers.Work(LayerType::BatchMatMul, BatchMatMulDescriptor(), {F32({4}), F32({4})}, {F32({1})}).m_Macs,
              std::nullopt);
    EXPECT_EQ(layers.Work(LayerType::Convolution2d, Convolution2dDescriptor(), {F32({1, 2, 2, 1}), Absent}, {F32({1})})
                  .m_Macs,
              std::nullopt);
    EXPECT_EQ(layers
                  .Work(LayerType::TransposeConvolution2d, TransposeConvolution2dDescriptor(),
                        {F32({1, 2, 2, 1}), F32({1})}, {F32({1})})
                  .m_Macs,
              std::nullopt);
    // More products than 64 bits count.
    const unsigned int large = 1U << 31;
    EXPECT_EQ(layers
                  .Work(LayerType::BatchMatMul, BatchMatMulDescriptor(), {F32({large, large}), F32({large, large})},
                        {F32({large, large})})
                  .m_Macs,
              std::nullopt);
    EXPECT_EQ(
        layers.Work(LayerType::FullyConnected, FullyConnectedDescriptor(), {F32({0, 3}), F32({3, 0})}, {F32({0, 0})})
            .m_Macs,
        0U);
}

TEST(LayerWork, ShapesOfARunInPlaceOfTheSlots)
{
    Layers layers;
    IConnectableLayer* const layer =
        layers.Get().AddLayer(LayerType::Activation, ActivationDescriptor(ActivationFunction::ReLu));
    layers.Work(layer, {F32({1, 3})}, {F32({1, 3})});
    EXPECT_EQ(ComputeWork(*layer, [](const IOutputSlot&) { return F32({4, 3}); }).m_Operations, 12U);
}

/// Products of whole networks, whose numbers the field knows.
class Products
{
public:
    Products(unsigned int size, unsigned int channels) : m_Size(size), m_Channels(channels) {}

    void Convolve(unsigned int channels, unsigned int kernel, unsigned int stride)
    {
        const TensorInfo data = F32({1, m_Size, m_Size, m_Channels});
        const TensorInfo weights = F32({channels, kernel, kernel, m_Channels});
        m_Size /= stride;
        m_Channels = channels;
        Add(LayerType::Convolution2d, Convolution2dDescriptor(), {data, weights}, F32({1, m_Size, m_Size, m_Channels}));
    }

    void ConvolveByChannels(unsigned int stride)
    {
        const TensorInfo data = F32({1, m_Size, m_Size, m_Channels});
        m_Size /= stride;
        Add(LayerType::DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor(), {data, F32({1, 3, 3, m_Channels})},
            F32({1, m_Size, m_Size, m_Channels}));
    }

    uint64_t Classify()
    {
        Add(LayerType::FullyConnected, FullyConnectedDescriptor(), {F32({1, m_Channels}), F32({m_Channels, 1000})},
            F32({1, 1000}));
        return m_Macs;
    }

    unsigned int m_Size;
    unsigned int m_Channels;

private:
    void Add(LayerType type, const BaseDescriptor& descriptor, const std::vector<TensorInfo>& inputs,
             const TensorInfo& output)
    {
        m_Macs += m_Layers.Work(type, descriptor, inputs, {output}).m_Macs.value();
    }

    Layers m_Layers;
    uint64_t m_Macs = 0;
};

TEST(LayerWork, OfMobileNetV2)
{
    Products network(224, 3);
    network.Convolve(32, 3, 2);
    struct Stage
    {
        unsigned int m_Expansion;
        unsigned int m_Channels;
        unsigned int m_Count;
        unsigned int m_Stride;
    };
    for (const Stage& stage : {Stage{1, 16, 1, 1},
                               {6, 24, 2, 2},
                               {6, 32, 3, 2},
                               {6, 64, 4, 2},
                               {6, 96, 3, 1},
                               {6, 160, 3, 2},
                               {6, 320, 1, 1}})
    {
        for (unsigned int i = 0; i < stage.m_Count; ++i)
        {
            if (stage.m_Expansion != 1)
            {
                network.Convolve(network.m_Channels * stage.m_Expansion, 1, 1);
            }
            network.ConvolveByChannels(i == 0 ? stage.m_Stride : 1);
            network.Convolve(stage.m_Channels, 1, 1);
        }
    }
    network.Convolve(1280, 1, 1);
    EXPECT_EQ(network.Classify(), 300'774'272U);
}

/// With strides in the convolutions of 3x3, as nearly all exported ones have them: "4.1 G".
TEST(LayerWork, OfResNet50)
{
    Products network(224, 3);
    network.Convolve(64, 7, 2);
    network.m_Size /= 2; // pooling
    uint64_t shortcuts = 0;
    for (const auto& [channels, count] : {std::pair{64U, 3U}, {128U, 4U}, {256U, 6U}, {512U, 3U}})
    {
        for (unsigned int i = 0; i < count; ++i)
        {
            const unsigned int stride = i == 0 && channels != 64 ? 2 : 1;
            const unsigned int before = network.m_Channels;
            network.Convolve(channels, 1, 1);
            network.Convolve(channels, 3, stride);
            network.Convolve(channels * 4, 1, 1);
            shortcuts += i == 0 ? uint64_t{network.m_Size} * network.m_Size * before * channels * 4 : 0;
        }
    }
    EXPECT_EQ(network.Classify() + shortcuts, 4'089'184'256U);
}

} // namespace
} // namespace tenon::tools
