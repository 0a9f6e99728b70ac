// SPDX-License-Identifier: Apache-2.0
// Maker's weights and outputs.
#include "NetworkMaker.hpp"

#include <algorithm>
#include <random>

namespace tenon::bench
{

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

TensorInfo DataInfo(Element element, const TensorShape& shape, float scale)
{
    const int32_t zeroPoint = element == Element::UInt8 ? 125 : -3;
    return element == Element::Float32 ? TensorInfo(shape, DataType::Float32)
                                       : TensorInfo(shape, DataTypeOf(element), scale, zeroPoint);
}

void Maker::AddWeights(const TensorShape& shape, unsigned int channelDimension)
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

LayerNetwork Maker::Finish(const TensorShape& output, double macs, float scale)
{
    AddOutput(DataInfo(m_Result.m_Element, output, scale));
    m_Result.m_Macs = macs;
    return std::move(m_Result);
}

LayerNetwork Maker::Finish(const std::vector<TensorShape>& outputs)
{
    for (const TensorShape& output : outputs)
    {
        AddOutput(DataInfo(m_Result.m_Element, output));
    }
    return std::move(m_Result);
}

void Maker::AddOutput(const TensorInfo& info)
{
    IOutputSlot& slot = m_Layer->GetOutputSlot(m_Result.m_Outputs);
    slot.SetTensorInfo(info);
    slot.Connect(Network().AddOutputLayer(static_cast<LayerBindingId>(m_Result.m_Outputs), "output")->GetInputSlot(0));
    m_Result.m_Bytes += static_cast<double>(info.GetNumBytes());
    ++m_Result.m_Outputs;
}

} // namespace tenon::bench
