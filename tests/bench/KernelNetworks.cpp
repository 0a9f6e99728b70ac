// SPDX-License-Identifier: Apache-2.0
// Networks of one layer: every tensor is random, with scales that keep most results within range.
#include "KernelNetworks.hpp"

#include "NetworkMaker.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace tenon::bench
{

namespace
{

unsigned int OutputSize(unsigned int size, Window window)
{
    return (size + window.m_Stride - 1) / window.m_Stride;
}

std::string WindowName(const char* what, unsigned int size, unsigned int channels, Window window)
{
    const std::string side = std::to_string(window.m_Size);
    return std::string(what) + side + "x" + side + "s" + std::to_string(window.m_Stride) + "/" + std::to_string(size) +
           "x" + std::to_string(size) + "x" + std::to_string(channels);
}

/// Keeps most sums of that many products within the output's range.
float SumScale(double terms)
{
    return static_cast<float>(0.5 * DataScale * std::sqrt(terms));
}

} // namespace

LayerNetwork MakeConvolution(Element element, unsigned int size, unsigned int inputs, unsigned int outputs,
                             Window window)
{
    Maker maker(element, WindowName("conv", size, inputs, window) + "to" + std::to_string(outputs));
    Convolution2dDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_StrideX = descriptor.m_StrideY = window.m_Stride;
    maker.SetLayer(maker.Network().AddConvolution2dLayer(descriptor, "layer"),
                   {DataInfo(element, {1, size, size, inputs})});
    maker.AddWeights({outputs, window.m_Size, window.m_Size, inputs}, 0);
    const TensorShape output({1, OutputSize(size, window), OutputSize(size, window), outputs});
    const double terms = static_cast<double>(inputs) * window.m_Size * window.m_Size;
    return maker.Finish(output, terms * output.GetNumElements(), SumScale(terms));
}

LayerNetwork MakeTransposeConvolution(Element element, unsigned int size, unsigned int inputs, unsigned int outputs,
                                      Window window)
{
    Maker maker(element, WindowName("transposeconv", size, inputs, window) + "to" + std::to_string(outputs));
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_StrideX = descriptor.m_StrideY = window.m_Stride;
    const TensorShape output({1, size * window.m_Stride, size * window.m_Stride, outputs});
    descriptor.m_OutputShapeEnabled = true;
    descriptor.m_OutputShape = {output[0], output[1], output[2], output[3]};
    const TensorInfo data = DataInfo(element, {1, size, size, inputs});
    maker.SetLayer(maker.Network().AddTransposeConvolution2dLayer(descriptor, "layer"), {data});
    maker.AddWeights({outputs, window.m_Size, window.m_Size, inputs}, 0);
    const double points = static_cast<double>(window.m_Size) * window.m_Size;
    const double terms = points * inputs / (static_cast<double>(window.m_Stride) * window.m_Stride);
    return maker.Finish(output, points * outputs * data.GetNumElements(), SumScale(terms));
}

LayerNetwork MakeDepthwise(Element element, unsigned int size, unsigned int channels, Window window)
{
    Maker maker(element, WindowName("depthwise", size, channels, window));
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_StrideX = descriptor.m_StrideY = window.m_Stride;
    maker.SetLayer(maker.Network().AddDepthwiseConvolution2dLayer(descriptor, "layer"),
                   {DataInfo(element, {1, size, size, channels})});
    maker.AddWeights({1, window.m_Size, window.m_Size, channels}, 3);
    maker.SetWindow({window.m_Size * window.m_Size, window.m_Stride * window.m_Stride});
    const TensorShape output({1, OutputSize(size, window), OutputSize(size, window), channels});
    const double terms = static_cast<double>(window.m_Size) * window.m_Size;
    return maker.Finish(output, terms * output.GetNumElements(), SumScale(terms));
}

namespace
{

/// So many sequences of channels, as images that are one pixel high, or wide.
TensorShape MakeSequences(const SequenceSizes& sizes, unsigned int count, unsigned int steps, unsigned int channels)
{
    return TensorShape({count, sizes.m_IsColumn ? steps : 1, sizes.m_IsColumn ? 1 : steps, channels});
}

template <typename D>
D MakeSequenceDescriptor()
{
    D descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    return descriptor;
}

} // namespace

LayerNetwork MakeDepthwiseSequence(Element element, const SequenceSizes& sizes)
{
    const TensorShape data = MakeSequences(sizes, sizes.m_Batches, sizes.m_Steps, sizes.m_Channels);
    Maker maker(element, "depthwise/" + ShapeName(data) + "/" + std::to_string(sizes.m_Taps) + " taps");
    const auto descriptor = MakeSequenceDescriptor<DepthwiseConvolution2dDescriptor>();
    maker.SetLayer(maker.Network().AddDepthwiseConvolution2dLayer(descriptor, "layer"), {DataInfo(element, data)});
    maker.AddWeights(MakeSequences(sizes, 1, sizes.m_Taps, sizes.m_Channels), 3);
    maker.SetWindow({sizes.m_Taps, 1});
    return maker.Finish(data, double{1} * sizes.m_Taps * data.GetNumElements(), SumScale(sizes.m_Taps));
}

LayerNetwork MakeConvolutionSequence(Element element, const SequenceSizes& sizes, unsigned int outputs)
{
    const TensorShape data = MakeSequences(sizes, sizes.m_Batches, sizes.m_Steps, sizes.m_Channels);
    Maker maker(element, "conv/" + ShapeName(data) + "to" + std::to_string(outputs) + "/" +
                             std::to_string(sizes.m_Taps) + " taps");
    const auto descriptor = MakeSequenceDescriptor<Convolution2dDescriptor>();
    maker.SetLayer(maker.Network().AddConvolution2dLayer(descriptor, "layer"), {DataInfo(element, data)});
    maker.AddWeights(MakeSequences(sizes, outputs, sizes.m_Taps, sizes.m_Channels), 0);
    const unsigned int depth = sizes.m_Taps * sizes.m_Channels;
    return maker.Finish(MakeSequences(sizes, sizes.m_Batches, sizes.m_Steps, outputs),
                        double{1} * sizes.m_Batches * sizes.m_Steps * outputs * depth, SumScale(depth));
}

LayerNetwork MakePoolingSequence(Element element, PoolingAlgorithm algorithm, const SequenceSizes& sizes)
{
    const TensorShape data = MakeSequences(sizes, sizes.m_Batches, sizes.m_Steps, sizes.m_Channels);
    Maker maker(element, (algorithm == PoolingAlgorithm::Max ? "maxpool/" : "avgpool/") + ShapeName(data) + "/" +
                             std::to_string(sizes.m_Taps) + " taps");
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_PoolWidth = sizes.m_IsColumn ? 1 : sizes.m_Taps;
    descriptor.m_PoolHeight = sizes.m_IsColumn ? sizes.m_Taps : 1;
    descriptor.m_StrideX = descriptor.m_PoolWidth;
    descriptor.m_StrideY = descriptor.m_PoolHeight;
    descriptor.m_PaddingScheme = PaddingScheme::Valid;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddPooling2dLayer(descriptor), {DataInfo(element, data)});
    return maker.Finish(MakeSequences(sizes, sizes.m_Batches, sizes.m_Steps / sizes.m_Taps, sizes.m_Channels));
}

LayerNetwork MakeFullyConnected(Element element, unsigned int rows, unsigned int inputs, unsigned int outputs)
{
    Maker maker(element, "dense/" + ShapeName({rows, inputs, outputs}));
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_TransposeWeightMatrix = true;
    maker.SetLayer(maker.Network().AddFullyConnectedLayer(descriptor, "layer"), {DataInfo(element, {rows, inputs})});
    maker.AddWeights({outputs, inputs}, 0);
    if (rows == 1)
    {
        maker.CountWeights({outputs, inputs});
    }
    return maker.Finish({rows, outputs}, static_cast<double>(rows) * inputs * outputs, SumScale(inputs));
}

LayerNetwork MakeMatMul(Element element, const MatMulSizes& sizes)
{
    Maker maker(element, "matmul/" + ShapeName({sizes.m_Batches, sizes.m_Rows, sizes.m_Depth, sizes.m_Columns}) +
                             (sizes.m_TransposeX ? "/x transposed" : "") + (sizes.m_TransposeY ? "/y transposed" : "") +
                             (sizes.m_SharesY ? "/one y" : "") + (sizes.m_IsConstant ? "/constant y" : ""));
    const auto info = [&](unsigned int count, unsigned int rows, unsigned int columns, bool isTransposed) {
        return DataInfo(element, {count, isTransposed ? columns : rows, isTransposed ? rows : columns});
    };
    std::vector<TensorInfo> inputs = {info(sizes.m_Batches, sizes.m_Rows, sizes.m_Depth, sizes.m_TransposeX)};
    const TensorInfo y =
        info(sizes.m_SharesY ? 1 : sizes.m_Batches, sizes.m_Depth, sizes.m_Columns, sizes.m_TransposeY);
    if (!sizes.m_IsConstant)
    {
        inputs.push_back(y);
    }
    maker.SetLayer(maker.Network().AddBatchMatMulLayer(BatchMatMulDescriptor(sizes.m_TransposeX, sizes.m_TransposeY)),
                   inputs);
    if (sizes.m_IsConstant)
    {
        maker.AddMatrix(1, y.GetShape());
    }
    return maker.Finish({sizes.m_Batches, sizes.m_Rows, sizes.m_Columns},
                        static_cast<double>(sizes.m_Batches) * sizes.m_Rows * sizes.m_Depth * sizes.m_Columns,
                        SumScale(sizes.m_Depth));
}

LayerNetwork MakePooling(Element element, PoolingAlgorithm algorithm, unsigned int size, unsigned int channels,
                         Window window)
{
    Maker maker(element,
                WindowName(algorithm == PoolingAlgorithm::Max ? "maxpool" : "avgpool", size, channels, window));
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = algorithm;
    descriptor.m_PoolWidth = descriptor.m_PoolHeight = window.m_Size;
    descriptor.m_StrideX = descriptor.m_StrideY = window.m_Stride;
    descriptor.m_PaddingScheme = PaddingScheme::Valid;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddPooling2dLayer(descriptor), {DataInfo(element, {1, size, size, channels})});
    const unsigned int outputSize = (size - window.m_Size) / window.m_Stride + 1;
    return maker.Finish({1, outputSize, outputSize, channels});
}

} // namespace tenon::bench
