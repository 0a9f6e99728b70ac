// SPDX-License-Identifier: Apache-2.0
// The one scale and zero point of a tensor. Read by the quantized kernels in their prepare step.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstdint>

namespace tenon::ref
{

/// real = m_Scale * (stored - m_ZeroPoint)
struct TensorQuantization
{
    float m_Scale = 0.0f;    ///< positive and finite
    int32_t m_ZeroPoint = 0; ///< a value that the type can store

    friend bool operator==(const TensorQuantization&, const TensorQuantization&) = default;
};

/// Of a tensor whose quantization the layer's support has checked: Scales::PerTensor, or CheckPerTensor.
inline TensorQuantization GetTensorQuantization(const TensorInfo& info)
{
    return {info.GetQuantizationScale(), info.GetQuantizationOffset()};
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
