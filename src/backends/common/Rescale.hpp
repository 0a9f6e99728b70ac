// SPDX-License-Identifier: Apache-2.0
// Products by QuantizedMultipliers, with the roundings of TFLite's reference kernels. Where TFLite's arithmetic of 32
// bits overflows, which no result that it defines needs, these saturate: a product that a multiplier above 1 takes
// beyond every stored type is stored as that type's bound. The kernels of all backends use them in inner loops (hence
// inline).
#pragma once

#include "backends/common/Quantization.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tenon::backends
{

/// The nearest number of 32 bits.
inline int32_t SaturateToInt32(int64_t x)
{
    return static_cast<int32_t>(
        std::clamp<int64_t>(x, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

/// a + b, saturated: the sum of a rescaled value, which may be saturated itself, and a zero point.
inline int32_t SaturatingAdd(int32_t a, int32_t b)
{
    return SaturateToInt32(int64_t{a} + b);
}

/// x * 2^left, saturated at a magnitude of 2^32: by a multiplier of a QuantizedMultiplier that makes 2^30 and more,
/// which the product of 64 bits has room for. left in [0, 30].
inline int64_t ShiftLeftSaturating(int32_t x, int left)
{
    constexpr int64_t Max = int64_t{1} << 32;
    return std::clamp(int64_t{x} * (int64_t{1} << left), -Max, Max);
}

/// x * m with TFLite's two roundings. Products beyond 32 bits saturate; TFLite's left shift wraps for them.
inline int32_t MultiplySaturating(int32_t x, QuantizedMultiplier m)
{
    if (m.m_Shift > 0)
    {
        const int64_t shifted = ShiftLeftSaturating(x, m.m_Shift);
        return SaturateToInt32((shifted * m.m_Multiplier + (int64_t{1} << 30)) >> 31);
    }
    return RoundingDivideByPot(SaturatingRoundingDoublingHighMul(x, m.m_Multiplier), -m.m_Shift);
}

/// The same product and roundings for sums that may need more than 32 bits.
inline int32_t MultiplySumSaturating(int64_t x, QuantizedMultiplier m)
{
    if (x == static_cast<int32_t>(x))
    {
        return MultiplySaturating(static_cast<int32_t>(x), m);
    }
    // Past 2^60 even the smallest multiplier that is not shifted out leaves a number beyond all stored types.
    constexpr int64_t Max = int64_t{1} << 60;
    const int left = m.m_Shift > 0 ? m.m_Shift : 0;
    const int right = m.m_Shift > 0 ? 0 : -m.m_Shift;
    const int64_t bounded = std::clamp(x, -(Max >> left), Max >> left) * (int64_t{1} << left);
    // The product in two parts: of the bits from 2^31 on, and of the bits below.
    const int64_t low = bounded & 0x7FFFFFFF;
    const int64_t high = (bounded >> 31) * m.m_Multiplier + ((low * m.m_Multiplier + (int64_t{1} << 30)) >> 31);
    const int64_t half = (int64_t{1} << right) >> 1;
    const int64_t towardsZero = half != 0 && high < 0 ? 1 : 0;
    return SaturateToInt32((high + half - towardsZero) >> right);
}

/// MultiplySaturating for inner loops: the same results in one multiplication and one shift. Both roundings are
/// floor divisions after an addition, and nested floor divisions merge into one; the rest of "half away from zero"
/// is the step down for negative x. Only for multipliers that are not negative.
class SumRescaler
{
public:
    SumRescaler() = default;
    explicit SumRescaler(QuantizedMultiplier m)
        : m_Multiplier(m), m_Left(m.m_Shift > 0 ? m.m_Shift : 0), m_Right(31 + (m.m_Shift > 0 ? 0 : -m.m_Shift)),
          m_Addend((int64_t{1} << 30) + (m_Right > 31 ? int64_t{1} << (m_Right - 1) : 0)),
          m_NegativeStep(m_Right > 31 ? int64_t{1} << 31 : 0)
    {
    }

    int32_t operator()(int32_t x) const
    {
        const int64_t shifted = ShiftLeftSaturating(x, m_Left);
        const int64_t step = (shifted >> 63) & m_NegativeStep;
        return SaturateToInt32((shifted * m_Multiplier.m_Multiplier + m_Addend - step) >> m_Right);
    }

    /// The same for sums that may need more than 32 bits.
    int32_t operator()(int64_t x) const
    {
        return x == static_cast<int32_t>(x) ? (*this)(static_cast<int32_t>(x)) : MultiplySumSaturating(x, m_Multiplier);
    }

private:
    QuantizedMultiplier m_Multiplier;
    int m_Left = 0;
    int m_Right = 31;
    int64_t m_Addend = 0;
    int64_t m_NegativeStep = 0;
};

/// The product as TFLite has it for the 64-bit sums of 16-bit activations: the multiplier is reduced to 16 bits and
/// rounding happens once. m >= 0. Products beyond 32 bits saturate.
inline int32_t MultiplyReducedSaturating(int64_t x, QuantizedMultiplier m)
{
    const int64_t reduced = m.m_Multiplier < 0x7FFF0000 ? (m.m_Multiplier + (1 << 15)) >> 16 : 0x7FFF;
    int shift = 15 - m.m_Shift;
    // TFLite takes sums below 2^47. The last bits of larger sums are less than the rounding of the multiplier.
    constexpr int64_t MaxSum = int64_t{1} << 47;
    constexpr int LastBits = 16;
    if (x >= MaxSum || x <= -MaxSum)
    {
        x >>= LastBits;
        shift -= LastBits;
    }
    if (shift > 0)
    {
        return SaturateToInt32((x * reduced + (int64_t{1} << (shift - 1))) >> shift);
    }
    // A multiplier, which is no less than 2^14 if it is not 0, takes larger numbers beyond 32 bits.
    constexpr int64_t Max = int64_t{1} << 18;
    return SaturateToInt32(std::clamp(x, -Max, Max) * reduced * (int64_t{1} << std::min(-shift, 15)));
}

} // namespace tenon::backends
