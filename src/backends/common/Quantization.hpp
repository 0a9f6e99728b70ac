// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic of quantized operators, bit for bit as TFLite's reference kernels have it: a real multiplier is a
// 31-bit fraction and a power of two; it is applied by a doubling high multiply, then a rounding shift, see
// Rescale.hpp. Used by the kernels of all backends: multipliers are made in their prepare step.
#pragma once

#include <tenon/Types.hpp>

#include <cstdint>
#include <limits>

namespace tenon::backends
{

/// real = m_Multiplier * 2^(m_Shift - 31). The magnitude of m_Multiplier is in [2^30, 2^31), or it is 0.
/// m_Shift is in [-31, 30]; positive shifts left.
struct QuantizedMultiplier
{
    int32_t m_Multiplier = 0;
    int m_Shift = 0;
};

/// The nearest QuantizedMultiplier. A number that is too small for a 31-bit right shift becomes 0 as in TFLite; a
/// number that is too large for a 30-bit left shift, even infinite, becomes the largest multiplier. Throws
/// InvalidArgumentException for NaN.
QuantizedMultiplier QuantizeMultiplier(double real);

/// High 32 bits of 2 * a * b, rounded to nearest (half towards +infinity). min * min saturates to max.
inline int32_t SaturatingRoundingDoublingHighMul(int32_t a, int32_t b)
{
    if (a == std::numeric_limits<int32_t>::min() && a == b)
    {
        return std::numeric_limits<int32_t>::max();
    }
    const int64_t product = static_cast<int64_t>(a) * b;
    return static_cast<int32_t>((product + (int64_t{1} << 30)) >> 31);
}

/// x / 2^exponent, rounded to nearest, half away from zero. exponent in [0, 31].
inline int32_t RoundingDivideByPot(int32_t x, int exponent)
{
    const int64_t half = (int64_t{1} << exponent) >> 1;
    const int64_t towardsZero = half != 0 && x < 0 ? 1 : 0;
    return static_cast<int32_t>((x + half - towardsZero) >> exponent);
}

/// Inclusive bounds of stored values.
struct QuantizedRange
{
    int32_t m_Min = 0;
    int32_t m_Max = 0;
};

/// The values that an 8- or 16-bit integer type can store, whether it is one that carries a scale or a plain one;
/// for Signed32 those of int32. Throws InvalidArgumentException for other types.
QuantizedRange GetTypeRange(DataType type);

/// The stored values of the real interval [lower, upper] within the type's range. Infinite bounds leave that side to
/// the type. `mode`: how the bounds are rounded. Throws InvalidArgumentException when the scale is not positive or a
/// bound does not fit 32 bits.
QuantizedRange CalculateActivationRange(DataType type, float scale, int32_t zeroPoint, float lower, float upper,
                                        RequantizationMode mode = RequantizationMode::FixedPoint);

/// The same for the bounds of a ReLu or BoundedReLu. Bounds far outside any type are left to the type, and both ends
/// are values of the type, even of an interval that has none of them. Throws LayerValidationException for a bound that
/// is no number.
QuantizedRange GetClampRange(DataType type, float scale, int32_t zeroPoint, float lower, float upper,
                             RequantizationMode mode = RequantizationMode::FixedPoint);

} // namespace tenon::backends
