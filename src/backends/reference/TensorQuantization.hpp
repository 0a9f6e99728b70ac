// SPDX-License-Identifier: Apache-2.0
// The one scale and zero point of a tensor, checked. Read by the quantized kernels in their prepare step.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace tenon::ref
{

/// real = m_Scale * (stored - m_ZeroPoint)
struct TensorQuantization
{
    float m_Scale = 0.0f;    ///< positive and finite
    int32_t m_ZeroPoint = 0; ///< a value that the type can store

    friend bool operator==(const TensorQuantization&, const TensorQuantization&) = default;
};

/// `what` names the tensor in a message: "input 0". Throws InvalidArgumentException for several scales, a scale that is
/// not positive and finite, or a zero point outside the type, so that integer arithmetic needs no further checks.
inline TensorQuantization GetTensorQuantization(const TensorInfo& info, const char* what)
{
    const auto fail = [&](const std::string& why)
    { throw InvalidArgumentException(std::string(what) + " (" + info.ToString() + ") " + why); };
    if (info.HasMultipleQuantizationScales())
    {
        fail("has a scale per channel; this operator takes one scale per tensor");
    }
    const TensorQuantization quantization{info.GetQuantizationScale(), info.GetQuantizationOffset()};
    if (!(quantization.m_Scale > 0.0f) || !std::isfinite(quantization.m_Scale))
    {
        fail("needs a quantization scale that is positive and finite");
    }
    const backends::QuantizedRange range = backends::GetTypeRange(info.GetDataType());
    if (quantization.m_ZeroPoint < range.m_Min || quantization.m_ZeroPoint > range.m_Max)
    {
        fail("has a zero point outside the values of its type");
    }
    return quantization;
}

/// a + b as the hardware does it: what overflows wraps. For sums that are clamped to a type's range afterwards.
inline int32_t WrappingAdd(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// a - b, likewise.
inline int32_t WrappingSubtract(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

} // namespace tenon::ref
