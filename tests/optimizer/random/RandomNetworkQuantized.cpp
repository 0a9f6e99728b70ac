// SPDX-License-Identifier: Apache-2.0
// The makers of RandomNetwork for int8 tensors: islands between Quantize and Dequantize, in both RequantizationModes.
#include "optimizer/random/RandomNetwork.hpp"
#include "optimizer/random/RandomShapes.hpp"

#include <vector>

namespace tenon::test
{

RequantizationMode RandomNetwork::RandomMode()
{
    return Flip() ? RequantizationMode::FixedPoint : RequantizationMode::FloatHalfEven;
}

void RandomNetwork::FinishInt8(IConnectableLayer* layer, const std::vector<Tensor>& inputs)
{
    constexpr float Bound = 8.0f;
    const float scale = Flip() ? 0.0625f : 0.125f;
    Finish(layer, inputs, DataType::QAsymmS8, true, Bound, scale, static_cast<int32_t>(Roll(7)) - 3);
}

void RandomNetwork::KeepQuantization(IConnectableLayer* layer, const Tensor& input)
{
    const TensorInfo info = input.m_Slot->GetTensorInfo();
    Finish(layer, {input}, DataType::QAsymmS8, true, input.m_Bound, info.GetQuantizationScale(),
           info.GetQuantizationOffset());
}

RandomNetwork::Tensor RandomNetwork::WeightsInt8(const TensorShape& shape, unsigned int axis)
{
    constexpr float Scale = 0.01f;
    if (Flip())
    {
        return Stored(TensorInfo(shape, DataType::QAsymmS8, Scale, static_cast<int32_t>(Roll(5)) - 2), -127, 127);
    }
    std::vector<float> scales;
    for (unsigned int i = 0; i < shape[axis]; ++i)
    {
        scales.push_back(Scale * static_cast<float>(1 + Roll(4)));
    }
    return Stored(scales.size() == 1 ? TensorInfo(shape, DataType::QSymmS8, Scale, 0)
                                     : TensorInfo(shape, DataType::QSymmS8, scales, axis),
                  -127, 127);
}

RandomNetwork::Tensor RandomNetwork::BiasInt32(unsigned int channels)
{
    return Stored(TensorInfo(TensorShape({channels}), DataType::Signed32), -2000, 2000);
}

TENON_RANDOM_KIND(Quantize)
{
    const Tensor* x = FindFloat(true);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const RequantizationMode mode = RandomMode();
    Finish(m_Network->AddQuantizeLayer(QuantizeDescriptor(mode), m_Name.c_str()), {input}, DataType::QAsymmS8, true,
           8.0f, 0.0625f, mode == RequantizationMode::FixedPoint ? 0 : 3);
    return true;
}

TENON_RANDOM_KIND(QuantizedActivation)
{
    const Tensor* x = FindType(DataType::QAsymmS8);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const ActivationFunction functions[] = {ActivationFunction::ReLu, ActivationFunction::BoundedReLu,
                                            ActivationFunction::LeakyReLu, ActivationFunction::Sigmoid};
    const ActivationFunction function = functions[Roll(4)];
    ActivationDescriptor descriptor(function, function == ActivationFunction::LeakyReLu ? 0.1f : 6.03f, -0.47f);
    descriptor.m_Requantization = RandomMode();
    IConnectableLayer* layer = m_Network->AddActivationLayer(descriptor, m_Name.c_str());
    if (Roll(3) != 0) // what other layers fuse
    {
        KeepQuantization(layer, input);
    }
    else
    {
        FinishInt8(layer, {input});
    }
    return true;
}

TENON_RANDOM_KIND(QuantizedBinary)
{
    const Tensor* x = FindType(DataType::QAsymmS8);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor* y = Find([&](const Tensor& t) { return t.m_Type == DataType::QAsymmS8 && t.m_Shape == x->m_Shape; });
    const Tensor first = *x;
    const bool isConstant = Flip();
    const Tensor second =
        isConstant ? Stored(TensorInfo(TensorShape({LastOf(first.m_Shape)}), DataType::QAsymmS8, 0.0625f, 2), -90, 90)
                   : *y;
    const BinaryOperation operations[] = {BinaryOperation::Add, BinaryOperation::Sub, BinaryOperation::Mul,
                                          BinaryOperation::Maximum, BinaryOperation::Minimum};
    ElementwiseBinaryDescriptor descriptor(operations[Roll(5)]);
    descriptor.m_Requantization = RandomMode();
    FinishInt8(m_Network->AddElementwiseBinaryLayer(descriptor, m_Name.c_str()), {first, second});
    return true;
}

TENON_RANDOM_KIND(QuantizedConvolution)
{
    const Tensor* x = FindType(DataType::QAsymmS8, 4);
    if (x == nullptr || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int channels = input.m_Shape[3];
    const bool isGrouped = Roll(3) == 0; // a channel a group, which becomes depthwise
    const unsigned int kernel = 1 + Roll(2);
    const unsigned int outputs = isGrouped ? channels : 1 + Roll(4);
    Convolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_BiasEnabled = Flip();
    descriptor.m_PadLeft = Roll(2);
    descriptor.m_PadBottom = Roll(2);
    descriptor.m_Requantization = RandomMode();
    std::vector<Tensor> inputs = {input,
                                  WeightsInt8(TensorShape({outputs, kernel, kernel, isGrouped ? 1 : channels}), 0)};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(BiasInt32(outputs));
    }
    FinishInt8(m_Network->AddConvolution2dLayer(descriptor, m_Name.c_str()), inputs);
    return true;
}

TENON_RANDOM_KIND(QuantizedDepthwise)
{
    const Tensor* x = FindType(DataType::QAsymmS8, 4);
    if (x == nullptr || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int outputs = input.m_Shape[3] * (1 + Roll(2));
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_Requantization = RandomMode();
    FinishInt8(m_Network->AddDepthwiseConvolution2dLayer(descriptor, m_Name.c_str()),
               {input, WeightsInt8(TensorShape({1, 2, 2, outputs}), 3)});
    return true;
}

TENON_RANDOM_KIND(QuantizedTransposedConvolution)
{
    const Tensor* x = FindType(DataType::QAsymmS8, 4);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = 1;
    descriptor.m_StrideY = 2;
    descriptor.m_Requantization = RandomMode();
    FinishInt8(m_Network->AddTransposeConvolution2dLayer(descriptor, m_Name.c_str()),
               {input, WeightsInt8(TensorShape({2, 2, 2, input.m_Shape[3]}), 0)});
    return true;
}

TENON_RANDOM_KIND(QuantizedFullyConnected)
{
    const Tensor* x = FindType(DataType::QAsymmS8, 2);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const unsigned int depth = input.m_Shape[1];
    const unsigned int outputs = 1 + Roll(5);
    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = Flip();
    descriptor.m_BiasEnabled = Flip();
    descriptor.m_Requantization = RandomMode();
    std::vector<Tensor> inputs = {input, descriptor.m_TransposeWeightMatrix
                                             ? WeightsInt8(TensorShape({outputs, depth}), 0)
                                             : WeightsInt8(TensorShape({depth, outputs}), 1)};
    if (descriptor.m_BiasEnabled)
    {
        inputs.push_back(BiasInt32(outputs));
    }
    FinishInt8(m_Network->AddFullyConnectedLayer(descriptor, m_Name.c_str()), inputs);
    return true;
}

TENON_RANDOM_KIND(QuantizedMatMul)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::QAsymmS8 && t.m_Shape.GetNumDimensions() >= 2; });
    if (x == nullptr)
    {
        return false;
    }
    const std::vector<Tensor> inputs = {*x, *x};
    BatchMatMulDescriptor descriptor(false, true);
    descriptor.m_Requantization = RandomMode();
    FinishInt8(m_Network->AddBatchMatMulLayer(descriptor, m_Name.c_str()), inputs);
    return true;
}

TENON_RANDOM_KIND(QuantizedMean)
{
    const Tensor* x =
        Find([](const Tensor& t) { return t.m_Type == DataType::QAsymmS8 && t.m_Shape.GetNumDimensions() >= 2; });
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    const bool keeps = Flip();
    MeanDescriptor descriptor({Roll(input.m_Shape.GetNumDimensions())}, keeps);
    descriptor.m_Requantization = RandomMode();
    FinishInt8(m_Network->AddMeanLayer(descriptor, m_Name.c_str()), {input});
    return true;
}

TENON_RANDOM_KIND(QuantizedPool)
{
    const Tensor* x = FindType(DataType::QAsymmS8, 4);
    if (x == nullptr || x->m_Shape[1] < 2 || x->m_Shape[2] < 2)
    {
        return false;
    }
    const Tensor input = *x;
    Pooling2dDescriptor descriptor;
    descriptor.m_PoolType = Roll(3) == 0 ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
    descriptor.m_PaddingMethod = Flip() ? PaddingMethod::IgnoreValue : PaddingMethod::Exclude;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_PoolHeight = descriptor.m_PoolWidth = 2;
    descriptor.m_StrideX = descriptor.m_StrideY = 1 + Roll(2);
    descriptor.m_PadLeft = descriptor.m_PadTop = Roll(2);
    descriptor.m_Requantization = RandomMode();
    IConnectableLayer* layer = m_Network->AddPooling2dLayer(descriptor, m_Name.c_str());
    if (descriptor.m_PoolType == PoolingAlgorithm::Average &&
        descriptor.m_Requantization == RequantizationMode::FloatHalfEven)
    {
        FinishInt8(layer, {input});
    }
    else
    {
        KeepQuantization(layer, input);
    }
    return true;
}

TENON_RANDOM_KIND(Requantize)
{
    const Tensor* x = FindType(DataType::QAsymmS8);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    IConnectableLayer* layer = m_Network->AddQuantizeLayer(QuantizeDescriptor(RandomMode()), m_Name.c_str());
    if (Flip())
    {
        KeepQuantization(layer, input);
    }
    else
    {
        FinishInt8(layer, {input});
    }
    return true;
}

TENON_RANDOM_KIND(Dequantize)
{
    const Tensor* x = FindType(DataType::QAsymmS8);
    if (x == nullptr)
    {
        return false;
    }
    const Tensor input = *x;
    Finish(m_Network->AddDequantizeLayer(m_Name.c_str()), {input}, DataType::Float32, true, 33.0f);
    return true;
}

} // namespace tenon::test
