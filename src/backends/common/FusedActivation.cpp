// SPDX-License-Identifier: Apache-2.0
// See FusedActivation.hpp.
#include "backends/common/FusedActivation.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace tenon::backends
{

namespace
{

struct Bounds
{
    float m_Low = 0.0f;
    float m_High = std::numeric_limits<float>::infinity();
};

Bounds GetBounds(const ActivationDescriptor& activation)
{
    return activation.m_Function == ActivationFunction::BoundedReLu ? Bounds{activation.m_B, activation.m_A} : Bounds();
}

SupportResult Refuse(std::string reason)
{
    return SupportResult::No(SupportCode::UnsupportedParameters, std::move(reason));
}

} // namespace

SupportResult FuseClamp(const LayerView& layer, const ActivationDescriptor& activation)
{
    if (activation.m_Function != ActivationFunction::ReLu && activation.m_Function != ActivationFunction::BoundedReLu)
    {
        return Refuse("fuses ReLu and BoundedReLu only");
    }
    const Bounds bounds = GetBounds(activation);
    if (std::isnan(bounds.m_Low) || std::isnan(bounds.m_High))
    {
        return Refuse("the bounds of a BoundedReLu must be numbers");
    }
    const TensorInfo& output = layer.GetOutput(0);
    switch (output.GetDataType())
    {
    case DataType::Float32:
    case DataType::Float64:
    case DataType::Float16:
    case DataType::BFloat16: return SupportResult::Yes();
    case DataType::QAsymmU8:
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::QSymmS16: break;
    default: return Refuse(std::string("fuses no activation behind ") + GetDataTypeName(output.GetDataType()));
    }
    const float scale = output.GetQuantizationScale();
    const QuantizedRange type = GetTypeRange(output.GetDataType());
    const int32_t zeroPoint = output.GetQuantizationOffset();
    if (output.HasMultipleQuantizationScales() || !(scale > 0.0f) || !std::isfinite(scale) || zeroPoint < type.m_Min ||
        zeroPoint > type.m_Max)
    {
        return Refuse("the output needs one scale, positive and finite, and a zero point within its type");
    }
    const QuantizedRange range = GetFusedRange(output, &activation);
    return range.m_Min <= range.m_Max ? SupportResult::Yes() : Refuse("the lower bound lies above the upper one");
}

FloatClamp::FloatClamp(const ActivationDescriptor* activation)
{
    if (activation != nullptr)
    {
        const Bounds bounds = GetBounds(*activation);
        m_IsActive = true;
        m_Low = bounds.m_Low;
        m_High = bounds.m_High;
    }
}

QuantizedRange GetFusedRange(const TensorInfo& output, const ActivationDescriptor* activation)
{
    if (activation == nullptr)
    {
        return GetTypeRange(output.GetDataType());
    }
    const Bounds bounds = GetBounds(*activation);
    return GetClampRange(output.GetDataType(), output.GetQuantizationScale(), output.GetQuantizationOffset(),
                         bounds.m_Low, bounds.m_High, activation->m_Requantization);
}

} // namespace tenon::backends
