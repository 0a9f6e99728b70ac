// SPDX-License-Identifier: Apache-2.0
// Rows of convolutions and matrix products.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

template <typename Descriptor>
void ReadPads(const LayerView& op, Descriptor& descriptor)
{
    descriptor.m_PadLeft = op.Number("padLeft");
    descriptor.m_PadRight = op.Number("padRight");
    descriptor.m_PadTop = op.Number("padTop");
    descriptor.m_PadBottom = op.Number("padBottom");
    descriptor.m_StrideX = op.Number("strideX");
    descriptor.m_StrideY = op.Number("strideY");
    descriptor.m_BiasEnabled = op.Bool("biasEnabled", false);
}

template <typename Descriptor>
Descriptor ReadWindow(const LayerView& op)
{
    Descriptor descriptor;
    ReadPads(op, descriptor);
    descriptor.m_DilationX = op.Number("dilationX", 1);
    descriptor.m_DilationY = op.Number("dilationY", 1);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NCHW);
    return descriptor;
}

IConnectableLayer* AddConvolution2d(const LayerView& op, NetworkBuilder& network)
{
    IConnectableLayer* const layer =
        network->AddConvolution2dLayer(ReadWindow<Convolution2dDescriptor>(op), op.LayerName());
    network.FeedWeights(op, *layer);
    return layer;
}

IConnectableLayer* AddDepthwiseConvolution2d(const LayerView& op, NetworkBuilder& network)
{
    IConnectableLayer* const layer =
        network->AddDepthwiseConvolution2dLayer(ReadWindow<DepthwiseConvolution2dDescriptor>(op), op.LayerName());
    network.FeedWeights(op, *layer);
    return layer;
}

IConnectableLayer* AddConvolution3d(const LayerView& op, NetworkBuilder& network)
{
    Convolution3dDescriptor descriptor;
    ReadPads(op, descriptor);
    descriptor.m_PadFront = op.Number("padFront");
    descriptor.m_PadBack = op.Number("padBack");
    descriptor.m_StrideZ = op.Number("strideZ");
    descriptor.m_DilationX = op.Number("dilationX", 1);
    descriptor.m_DilationY = op.Number("dilationY", 1);
    descriptor.m_DilationZ = op.Number("dilationZ", 1);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NDHWC);
    return network->AddConvolution3dLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddTransposeConvolution2d(const LayerView& op, NetworkBuilder& network)
{
    TransposeConvolution2dDescriptor descriptor;
    ReadPads(op, descriptor);
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NCHW);
    Optional<ConstTensor> biases;
    if (descriptor.m_BiasEnabled)
    {
        biases = network.Keep(op.Constant("biases"));
    }
    return network->AddTransposeConvolution2dLayer(descriptor, network.Keep(op.Constant("weights")), biases,
                                                   op.LayerName());
}

IConnectableLayer* AddFullyConnected(const LayerView& op, NetworkBuilder& network)
{
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = op.Bool("biasEnabled", false);
    descriptor.m_TransposeWeightMatrix = op.Bool("transposeWeightsMatrix", false);
    descriptor.m_ConstantWeights = op.Bool("constantWeights", true);
    IConnectableLayer* const layer = network->AddFullyConnectedLayer(descriptor, op.LayerName());
    network.FeedWeights(op, *layer);
    return layer;
}

IConnectableLayer* AddBatchMatMul(const LayerView& op, NetworkBuilder& network)
{
    const BatchMatMulDescriptor descriptor(op.Bool("transposeX", false), op.Bool("transposeY", false),
                                           op.Bool("adjointX", false), op.Bool("adjointY", false),
                                           op.Enumerator("dataLayoutX", DataLayout::NCHW),
                                           op.Enumerator("dataLayoutY", DataLayout::NCHW));
    return network->AddBatchMatMulLayer(descriptor, op.LayerName());
}

constexpr LayerRow ConvolutionRows[] = {
    {"BatchMatMul", AddBatchMatMul},       {"Convolution2d", AddConvolution2d},
    {"Convolution3d", AddConvolution3d},   {"DepthwiseConvolution2d", AddDepthwiseConvolution2d},
    {"FullyConnected", AddFullyConnected}, {"TransposeConvolution2d", AddTransposeConvolution2d},
};

} // namespace

Span<const LayerRow> GetConvolutionRows()
{
    return {ConvolutionRows, std::size(ConvolutionRows)};
}

} // namespace tenon::arm_nn
