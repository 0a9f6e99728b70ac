// SPDX-License-Identifier: Apache-2.0
// Networks of one layer: every tensor is random, with scales that keep most results within range.
#include "KernelNetworks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace tenon::bench
{

namespace
{

constexpr float DataScale = 1.0f / 128.0f;
constexpr float WeightScale = 1.0f / 256.0f;

DataType DataTypeOf(Element element)
{
    switch (element)
    {
    case Element::Float32: return DataType::Float32;
    case Element::Int8: return DataType::QAsymmS8;
    case Element::UInt8: return DataType::QAsymmU8;
    }
    return DataType::Float32;
}

std::string ShapeName(const TensorShape& shape)
{
    std::string name;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        name.append(i == 0 ? "" : "x").append(std::to_string(shape[i]));
    }
    return name;
}

TensorInfo DataInfo(Element element, const TensorShape& shape, float scale = DataScale)
{
    const int32_t zeroPoint = element == Element::UInt8 ? 125 : -3;
    return element == Element::Float32 ? TensorInfo(shape, DataType::Float32)
                                       : TensorInfo(shape, DataTypeOf(element), scale, zeroPoint);
}

/// Puts a network together around one layer.
class Maker
{
public:
    Maker(Element element, std::string name)
    {
        m_Result.m_Name = std::move(name) + "/" + GetName(element);
        m_Result.m_Network = INetwork::Create();
        m_Result.m_Element = element;
    }

    INetwork& Network() { return *m_Result.m_Network; }

    /// An input of the network for each of the first inputs of the layer.
    void SetLayer(IConnectableLayer* layer, const std::vector<TensorInfo>& inputs)
    {
        m_Layer = layer;
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            IConnectableLayer* input = Network().AddInputLayer(static_cast<LayerBindingId>(i), "input");
            input->GetOutputSlot(0).SetTensorInfo(inputs[i]);
            input->GetOutputSlot(0).Connect(layer->GetInputSlot(i));
            m_Result.m_Bytes += static_cast<double>(inputs[i].GetNumBytes());
        }
        m_Result.m_Inputs = inputs;
    }

    /// Random values: floats in [-0.1, 0.1], 8-bit integers of the whole range.
    void AddWeights(const TensorShape& shape, unsigned int channelDimension)
    {
        std::mt19937 random(11);
        const TensorShape channels({shape[channelDimension]});
        const Element element = m_Result.m_Element;
        if (element == Element::Float32)
        {
            std::vector<float> values(shape.GetNumElements());
            std::uniform_real_distribution<float> distribution(-0.1f, 0.1f);
            std::generate(values.begin(), values.end(), [&] { return distribution(random); });
            AddConstant(1, TensorInfo(shape, DataType::Float32), values);
            AddConstant(2, TensorInfo(channels, DataType::Float32), std::vector<float>(channels[0], 0.5f));
            return;
        }
        const bool isSigned = element == Element::Int8;
        std::vector<int8_t> values(shape.GetNumElements());
        // A signed weight is never -128; an unsigned one has any byte.
        std::uniform_int_distribution<int> distribution(isSigned ? -127 : -128, 127);
        std::generate(values.begin(), values.end(), [&] { return static_cast<int8_t>(distribution(random)); });
        const std::vector<float> scales(channels[0], WeightScale);
        AddConstant(1,
                    isSigned ? TensorInfo(shape, DataType::QSymmS8, scales, channelDimension)
                             : TensorInfo(shape, DataType::QAsymmU8, WeightScale, 128),
                    values);
        const std::vector<float> biasScales(channels[0], WeightScale * DataScale);
        AddConstant(2,
                    isSigned ? TensorInfo(channels, DataType::Signed32, biasScales, 0)
                             : TensorInfo(channels, DataType::Signed32, WeightScale * DataScale),
                    std::vector<int32_t>(channels[0], 100));
    }

    LayerNetwork Finish(const TensorShape& output, double macs = 0.0, float scale = DataScale)
    {
        const TensorInfo info = DataInfo(m_Result.m_Element, output, scale);
        m_Layer->GetOutputSlot(0).SetTensorInfo(info);
        m_Layer->GetOutputSlot(0).Connect(Network().AddOutputLayer(0, "output")->GetInputSlot(0));
        m_Result.m_Bytes += static_cast<double>(info.GetNumBytes());
        m_Result.m_Macs = macs;
        return std::move(m_Result);
    }

    /// Weights count as traffic where an inference uses each of them once.
    void CountWeights(const TensorShape& shape)
    {
        m_Result.m_Bytes +=
            static_cast<double>(shape.GetNumElements()) * GetDataTypeSize(DataTypeOf(m_Result.m_Element));
    }

private:
    template <typename T>
    void AddConstant(unsigned int slot, TensorInfo info, const std::vector<T>& values)
    {
        info.SetConstant();
        auto memory = std::make_unique<std::vector<char>>(values.size() * sizeof(T));
        std::memcpy(memory->data(), values.data(), memory->size());
        IConnectableLayer* constant = Network().AddConstantLayer(ConstTensor(info, memory->data()), "constant");
        constant->GetOutputSlot(0).SetTensorInfo(info);
        constant->GetOutputSlot(0).Connect(m_Layer->GetInputSlot(slot));
        m_Result.m_Constants.push_back(std::move(memory));
    }

    LayerNetwork m_Result;
    IConnectableLayer* m_Layer = nullptr;
};

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

const char* GetName(Element element)
{
    switch (element)
    {
    case Element::Float32: return "f32";
    case Element::Int8: return "int8";
    case Element::UInt8: return "uint8";
    }
    return "";
}

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
    const TensorShape output({1, OutputSize(size, window), OutputSize(size, window), channels});
    const double terms = static_cast<double>(window.m_Size) * window.m_Size;
    return maker.Finish(output, terms * output.GetNumElements(), SumScale(terms));
}

LayerNetwork MakeDepthwiseSequence(Element element, const SequenceSizes& sizes)
{
    const auto image = [&](unsigned int count, unsigned int length) {
        return TensorShape({count, sizes.m_IsColumn ? length : 1, sizes.m_IsColumn ? 1 : length, sizes.m_Channels});
    };
    const TensorShape data = image(sizes.m_Batches, sizes.m_Steps);
    const TensorShape weights = image(1, sizes.m_Taps);
    Maker maker(element, "depthwise/" + ShapeName({data[0], data[1], data[2], data[3]}) + "/" +
                             std::to_string(sizes.m_Taps) + " taps");
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PaddingScheme = PaddingScheme::Same;
    descriptor.m_StrideX = descriptor.m_StrideY = 1;
    maker.SetLayer(maker.Network().AddDepthwiseConvolution2dLayer(descriptor, "layer"), {DataInfo(element, data)});
    maker.AddWeights(weights, 3);
    return maker.Finish(data, double{1} * sizes.m_Taps * data.GetNumElements(), SumScale(sizes.m_Taps));
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
                             (sizes.m_SharesY ? "/one y" : ""));
    const auto info = [&](unsigned int count, unsigned int rows, unsigned int columns, bool isTransposed) {
        return DataInfo(element, {count, isTransposed ? columns : rows, isTransposed ? rows : columns});
    };
    maker.SetLayer(maker.Network().AddBatchMatMulLayer(BatchMatMulDescriptor(sizes.m_TransposeX, sizes.m_TransposeY)),
                   {info(sizes.m_Batches, sizes.m_Rows, sizes.m_Depth, sizes.m_TransposeX),
                    info(sizes.m_SharesY ? 1 : sizes.m_Batches, sizes.m_Depth, sizes.m_Columns, sizes.m_TransposeY)});
    return maker.Finish({sizes.m_Batches, sizes.m_Rows, sizes.m_Columns},
                        static_cast<double>(sizes.m_Batches) * sizes.m_Rows * sizes.m_Depth * sizes.m_Columns,
                        SumScale(sizes.m_Depth));
}

LayerNetwork MakeAdd(Element element, const TensorShape& shape)
{
    Maker maker(element, "add/" + ShapeName(shape));
    const TensorInfo info = DataInfo(element, shape);
    maker.SetLayer(maker.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add)),
                   {info, info});
    return maker.Finish(shape, 0.0, 2 * DataScale);
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

LayerNetwork MakeSoftmax(Element element, const TensorShape& shape)
{
    Maker maker(element, "softmax/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddSoftmaxLayer(SoftmaxDescriptor()), {DataInfo(element, shape)});
    return maker.Finish(shape, 0.0, 1.0f / 256.0f);
}

LayerNetwork MakeTranspose(Element element, const TensorShape& shape)
{
    Maker maker(element, "transpose/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddTransposeLayer(TransposeDescriptor(PermutationVector({0, 3, 1, 2}))),
                   {DataInfo(element, shape)});
    return maker.Finish({shape[0], shape[3], shape[1], shape[2]});
}

LayerNetwork MakeConcat(Element element, const TensorShape& shape, unsigned int axis)
{
    Maker maker(element, "concat_axis" + std::to_string(axis) + "/" + ShapeName(shape));
    ConcatDescriptor descriptor(2, shape.GetNumDimensions());
    descriptor.SetConcatAxis(axis);
    const TensorInfo info = DataInfo(element, shape);
    maker.SetLayer(maker.Network().AddConcatLayer(descriptor), {info, info});
    std::vector<unsigned int> output;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        output.push_back(i == axis ? 2 * shape[i] : shape[i]);
    }
    return maker.Finish(TensorShape(shape.GetNumDimensions(), output.data()));
}

LayerNetwork MakePad(Element element, const TensorShape& shape)
{
    Maker maker(element, "pad/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddPadLayer(PadDescriptor({{0, 0}, {1, 1}, {1, 1}, {0, 0}})),
                   {DataInfo(element, shape)});
    return maker.Finish({shape[0], shape[1] + 2, shape[2] + 2, shape[3]});
}

LayerNetwork MakeResize(Element element, ResizeMethod method, const TensorShape& shape)
{
    Maker maker(element,
                (method == ResizeMethod::Bilinear ? "resize_bilinear/" : "resize_nearest/") + ShapeName(shape));
    ResizeDescriptor descriptor;
    descriptor.m_TargetHeight = 2 * shape[1];
    descriptor.m_TargetWidth = 2 * shape[2];
    descriptor.m_Method = method;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddResizeLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish({shape[0], 2 * shape[1], 2 * shape[2], shape[3]});
}

} // namespace tenon::bench
