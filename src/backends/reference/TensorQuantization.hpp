// SPDX-License-Identifier: Apache-2.0
// The one scale and zero point of a tensor, read by the quantized kernels in their prepare step, and the conversion
// between stored and real values where the arithmetic is not TFLite's.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::ref
{

/// real = m_Scale * (stored - m_ZeroPoint)
struct TensorQuantization
{
    float m_Scale = 0.0f;    ///< positive and finite
    int32_t m_ZeroPoint = 0; ///< a value that the type can store; any value for ToReal and ToStored

    friend bool operator==(const TensorQuantization&, const TensorQuantization&) = default;
};

/// Precondition: the layer's support has checked the quantization of the tensor, by Scales::PerTensor or
/// CheckPerTensor.
inline TensorQuantization GetTensorQuantization(const TensorInfo& info)
{
    return {info.GetQuantizationScale(), info.GetQuantizationOffset()};
}

/// The real value of a stored value. The zero point may be any number.
inline float ToReal(int64_t stored, const TensorQuantization& quantization)
{
    return quantization.m_Scale * static_cast<float>(stored - quantization.m_ZeroPoint);
}

/// The nearest stored value, half away from zero, saturated to T; NaN becomes the lowest value. The zero point may be
/// any number.
template <typename T>
T ToStored(float real, const TensorQuantization& quantization)
{
    constexpr double Low = std::numeric_limits<T>::min();
    constexpr double High = std::numeric_limits<T>::max();
    const double stored =
        double{std::round(real / quantization.m_Scale)} + static_cast<double>(quantization.m_ZeroPoint);
    return stored > Low ? static_cast<T>(std::min(stored, High)) : std::numeric_limits<T>::min();
}

/// The stored value of a number of steps, in a range of at most 16 bits: rounded half to even, then the zero point is
/// added; NaN becomes the lowest value.
template <typename T>
T StepsToStoredHalfEven(float steps, int32_t zeroPoint, backends::QuantizedRange range)
{
    const double zero = zeroPoint;
    const double low = range.m_Min - zero;
    const double high = range.m_Max - zero;
    // The bounds are whole numbers, so that the number may be clamped before it is rounded.
    const double bounded = double{steps} > low ? std::min(double{steps}, high) : low;
    return static_cast<T>(std::nearbyint(bounded) + zero);
}

/// The nearest stored value in a range of at most 16 bits, half to even, as ONNX's QuantizeLinear; NaN becomes the
/// lowest value.
template <typename T>
T ToStoredHalfEven(float real, const TensorQuantization& quantization, backends::QuantizedRange range)
{
    return StepsToStoredHalfEven<T>(real / quantization.m_Scale, quantization.m_ZeroPoint, range);
}

/// A factor of exact sums for RequantizationMode::FloatHalfEven: an infinite quotient of scales becomes the largest
/// finite number, so that a sum of 0 stays 0.
inline float BoundFactor(float factor)
{
    return std::min(factor, std::numeric_limits<float>::max());
}

/// The stored value of an exact sum with such a factor.
template <typename T>
T RescaleHalfEven(int64_t sum, float factor, int32_t zeroPoint, backends::QuantizedRange range)
{
    return StepsToStoredHalfEven<T>(static_cast<float>(sum) * factor, zeroPoint, range);
}

/// The stored mean of `count` elements for RequantizationMode::FloatHalfEven, from the sum of their stored values.
class HalfEvenMean
{
public:
    HalfEvenMean(const TensorQuantization& input, const TensorQuantization& output, size_t count)
        : m_Factor(BoundFactor(input.m_Scale / (output.m_Scale * static_cast<float>(count)))),
          m_ZeroPoints(int64_t{input.m_ZeroPoint} * static_cast<int64_t>(count)), m_ZeroOutput(output.m_ZeroPoint)
    {
    }

    template <typename T>
    T Apply(int64_t sum) const
    {
        return RescaleHalfEven<T>(sum - m_ZeroPoints, m_Factor, m_ZeroOutput,
                                  {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()});
    }

    /// stored = nearbyint(float(sum - GetZeroPoints()) * GetFactor()) + GetZeroOutput(), saturated.
    float GetFactor() const { return m_Factor; }
    int64_t GetZeroPoints() const { return m_ZeroPoints; }
    int32_t GetZeroOutput() const { return m_ZeroOutput; }

private:
    float m_Factor;
    int64_t m_ZeroPoints; ///< sum of the zero points of all elements
    int32_t m_ZeroOutput;
};

/// a + b, wrapping on overflow as the hardware does. Used for sums that are clamped to a type's range afterwards.
inline int32_t WrappingAdd(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// a - b, wrapping likewise.
inline int32_t WrappingSubtract(int32_t a, int32_t b)
{
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

} // namespace tenon::ref
