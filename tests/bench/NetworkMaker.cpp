// SPDX-License-Identifier: Apache-2.0
// Maker's weights and outputs.
#include "NetworkMaker.hpp"

#include "RandomValues.hpp"

#include <algorithm>
#include <random>

namespace tenon::bench
{

namespace
{

/// What weights are called beside the data.
struct WeightType
{
    DataType m_Weights;
    DataType m_Bias;
    bool m_IsPerChannel = false;
};

WeightType WeightTypeOf(Element element)
{
    switch (element)
    {
    case Element::Float32: break;
    case Element::Int8: return {DataType::QSymmS8, DataType::Signed32, true};
    case Element::UInt8: return {DataType::QAsymmU8, DataType::Signed32};
    case Element::Float16: return {DataType::Float16, DataType::Float16};
    case Element::BFloat16: return {DataType::BFloat16, DataType::BFloat16};
    case Element::Int16: return {DataType::QSymmS8, DataType::Signed64, true};
    case Element::HybridInt8: return {DataType::QSymmS8, DataType::Float32, true};
    case Element::HybridFloat16: return {DataType::Float16, DataType::Float32};
    }
    return {DataType::Float32, DataType::Float32};
}

} // namespace

const char* GetName(Element element)
{
    switch (element)
    {
    case Element::Float32: return "f32";
    case Element::Int8: return "int8";
    case Element::UInt8: return "uint8";
    case Element::Float16: return "f16";
    case Element::BFloat16: return "bf16";
    case Element::Int16: return "int16xint8";
    case Element::HybridInt8: return "f32xint8";
    case Element::HybridFloat16: return "f32xf16";
    }
    return "";
}

DataType DataTypeOf(Element element)
{
    switch (element)
    {
    case Element::Int8: return DataType::QAsymmS8;
    case Element::UInt8: return DataType::QAsymmU8;
    case Element::Float16: return DataType::Float16;
    case Element::BFloat16: return DataType::BFloat16;
    case Element::Int16: return DataType::QSymmS16;
    case Element::Float32:
    case Element::HybridInt8:
    case Element::HybridFloat16: break;
    }
    return DataType::Float32;
}

bool IsQuantized(Element element)
{
    return element == Element::Int8 || element == Element::UInt8 || element == Element::Int16;
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

TensorInfo DataInfo(Element element, const TensorShape& shape, float scale)
{
    const int32_t zeroPoint = element == Element::UInt8 ? 125 : element == Element::Int8 ? -3 : 0;
    return IsQuantized(element) ? TensorInfo(shape, DataTypeOf(element), scale, zeroPoint)
                                : TensorInfo(shape, DataTypeOf(element));
}

void Maker::AddMatrix(unsigned int slot, const TensorShape& shape, std::optional<unsigned int> channelDimension)
{
    std::mt19937 random(11);
    const WeightType type = WeightTypeOf(m_Result.m_Element);
    TensorInfo info(shape, type.m_Weights);
    if (type.m_Weights == DataType::QAsymmU8)
    {
        info = TensorInfo(shape, type.m_Weights, WeightScale, 128);
    }
    else if (type.m_Weights == DataType::QSymmS8)
    {
        info = type.m_IsPerChannel && channelDimension
                   ? TensorInfo(shape, type.m_Weights, std::vector<float>(shape[*channelDimension], WeightScale),
                                *channelDimension)
                   : TensorInfo(shape, type.m_Weights, WeightScale);
    }
    std::vector<char> bytes(info.GetNumBytes());
    FillRandom(type.m_Weights, bytes.data(), bytes.size(), random, 0.125f);
    if (type.m_Weights == DataType::QSymmS8)
    {
        std::replace(bytes.begin(), bytes.end(), static_cast<char>(-128), static_cast<char>(-127));
    }
    AddConstant(slot, info, bytes);
}

void Maker::AddWeights(const TensorShape& shape, unsigned int channelDimension)
{
    AddMatrix(1, shape, channelDimension);
    const WeightType type = WeightTypeOf(m_Result.m_Element);
    const TensorShape channels({shape[channelDimension]});
    if (!IsQuantized(m_Result.m_Element))
    {
        std::mt19937 random(13);
        const TensorInfo info(channels, type.m_Bias);
        std::vector<char> bytes(info.GetNumBytes());
        FillRandom(type.m_Bias, bytes.data(), bytes.size(), random);
        AddConstant(2, info, bytes);
        return;
    }
    const std::vector<float> scales(channels[0], WeightScale * DataScale);
    const TensorInfo info = type.m_IsPerChannel ? TensorInfo(channels, type.m_Bias, scales, 0)
                                                : TensorInfo(channels, type.m_Bias, scales[0]);
    if (type.m_Bias == DataType::Signed64)
    {
        AddConstant(2, info, std::vector<int64_t>(channels[0], 100));
    }
    else
    {
        AddConstant(2, info, std::vector<int32_t>(channels[0], 100));
    }
}

LayerNetwork Maker::Finish(const TensorShape& output, double macs, float scale)
{
    m_Result.m_Macs = macs;
    return Finish({DataInfo(m_Result.m_Element, output, scale)});
}

LayerNetwork Maker::Finish(const std::vector<TensorInfo>& outputs)
{
    for (const TensorInfo& info : outputs)
    {
        AddOutput(info);
    }
    return std::move(m_Result);
}

void Maker::CountWeights(const TensorShape& shape)
{
    m_Result.m_Bytes +=
        static_cast<double>(shape.GetNumElements()) * GetDataTypeSize(WeightTypeOf(m_Result.m_Element).m_Weights);
}

void Maker::AddOutput(const TensorInfo& info)
{
    IOutputSlot& slot = m_Layer->GetOutputSlot(m_Result.m_Outputs);
    slot.SetTensorInfo(info);
    slot.Connect(Network().AddOutputLayer(static_cast<LayerBindingId>(m_Result.m_Outputs), "output")->GetInputSlot(0));
    const auto bytes = static_cast<double>(info.GetNumBytes());
    m_Result.m_Bytes += bytes;
    m_Result.m_OutputBytes += bytes;
    ++m_Result.m_Outputs;
}

} // namespace tenon::bench
