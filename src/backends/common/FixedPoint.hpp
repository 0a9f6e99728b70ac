// SPDX-License-Identifier: Apache-2.0
// Fixed-point functions of quantized operators, bit for bit as TFLite's reference kernels have them: a 32-bit number
// whose type says how many bits stand left of the binary point, and exp, log, reciprocals and inverse square roots made
// of it. Used by the softmaxes, L2Normalization and quantized division and Rsqrt, in their prepare step or per element.
#pragma once

#include "backends/common/Quantization.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace tenon::backends
{

/// real = m_Raw * 2^(IntegerBits - 31), so values lie in [-2^IntegerBits, 2^IntegerBits).
template <int IntegerBits>
struct Fixed
{
    static_assert(IntegerBits >= 0 && IntegerBits < 31);
    static constexpr int FractionBits = 31 - IntegerBits;

    int32_t m_Raw = 0;

    /// 1, or the largest number below it where 1 itself does not fit.
    static constexpr Fixed One()
    {
        return {IntegerBits == 0 ? std::numeric_limits<int32_t>::max() : int32_t{1} << (FractionBits % 31)};
    }
    /// 2^exponent.
    static constexpr Fixed Pot(int exponent) { return {int32_t{1} << (FractionBits + exponent)}; }

    friend constexpr Fixed operator+(Fixed a, Fixed b)
    {
        return {static_cast<int32_t>(static_cast<uint32_t>(a.m_Raw) + static_cast<uint32_t>(b.m_Raw))};
    }
    friend constexpr Fixed operator-(Fixed a, Fixed b)
    {
        return {static_cast<int32_t>(static_cast<uint32_t>(a.m_Raw) - static_cast<uint32_t>(b.m_Raw))};
    }
};

/// The product needs the integer bits of both.
template <int A, int B>
inline Fixed<A + B> operator*(Fixed<A> a, Fixed<B> b)
{
    return {SaturatingRoundingDoublingHighMul(a.m_Raw, b.m_Raw)};
}

/// raw * 2^exponent: saturates when it grows, rounds to nearest (half away from zero) when it shrinks.
inline int32_t MultiplyRawByPot(int32_t raw, int exponent)
{
    if (exponent <= 0)
    {
        return RoundingDivideByPot(raw, -exponent);
    }
    const int32_t threshold = (int32_t{1} << (31 - exponent)) - 1;
    if (raw > threshold)
    {
        return std::numeric_limits<int32_t>::max();
    }
    if (raw < -threshold)
    {
        return std::numeric_limits<int32_t>::min();
    }
    return static_cast<int32_t>(static_cast<uint32_t>(raw) << exponent);
}

/// The same value with another number of integer bits.
template <int To, int From>
inline Fixed<To> Rescale(Fixed<From> x)
{
    return {MultiplyRawByPot(x.m_Raw, From - To)};
}

/// exp(x) for x in [-1/4, 0): a Taylor series of degree 4 around -1/8.
inline Fixed<0> ExpNearZero(Fixed<0> x)
{
    constexpr Fixed<0> ExpOfCentre{1895147668}; // exp(-1/8)
    constexpr Fixed<0> OneThird{715827883};
    const Fixed<0> y = x + Fixed<0>::Pot(-3);
    const Fixed<0> y2 = y * y;
    const Fixed<0> y3 = y2 * y;
    const Fixed<0> y4Over4{MultiplyRawByPot((y2 * y2).m_Raw, -2)};
    // y^4/24 + y^3/6 + y^2/2
    const Fixed<0> tail{MultiplyRawByPot(((y4Over4 + y3) * OneThird + y2).m_Raw, -1)};
    return ExpOfCentre + ExpOfCentre * (y + tail);
}

/// exp(x) for x <= 0.
template <int IntegerBits>
inline Fixed<0> ExpOfNonPositive(Fixed<IntegerBits> x)
{
    using F = Fixed<IntegerBits>;
    if (x.m_Raw == 0)
    {
        return Fixed<0>::One();
    }
    // x = fine - steps with fine in [-1/4, 0): exp(x) is exp(fine) times exp(-2^k) for each bit k of steps.
    constexpr F Quarter = F::Pot(-2);
    const F fine = F{x.m_Raw & (Quarter.m_Raw - 1)} - Quarter;
    const int32_t steps = (fine - x).m_Raw;
    Fixed<0> result = ExpNearZero(Rescale<0>(fine));
    constexpr int FirstBit = -2;
    constexpr int32_t Factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    for (int i = 0; i < 7; ++i)
    {
        const int bit = FirstBit + i;
        if (bit < IntegerBits && (steps & (int32_t{1} << ((F::FractionBits + bit) & 31))) != 0)
        {
            result = result * Fixed<0>{Factors[i]};
        }
    }
    if constexpr (IntegerBits > 5)
    {
        // exp(-32) is less than half of the last bit.
        if (x.m_Raw < -(int32_t{1} << (F::FractionBits + 5)))
        {
            return {};
        }
    }
    return result;
}

/// 1 / (1 + x) for x in [0, 1]: three Newton-Raphson steps for the reciprocal of (1 + x) / 2.
inline Fixed<0> OneOverOnePlus(Fixed<0> x)
{
    constexpr Fixed<2> FortyEightOver17{1515870810};
    constexpr Fixed<2> MinusThirtyTwoOver17{-1010580540};
    const int64_t sum = static_cast<int64_t>(x.m_Raw) + Fixed<0>::One().m_Raw;
    const Fixed<0> half{static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2)};
    Fixed<2> y = FortyEightOver17 + half * MinusThirtyTwoOver17;
    for (int i = 0; i < 3; ++i)
    {
        const Fixed<2> error = Fixed<2>::One() - half * y;
        y = y + Rescale<2>(y * error);
    }
    return Rescale<0>(Fixed<1>{y.m_Raw}); // y / 2, exactly
}

/// 1 / x as m_Scale * 2^-m_BitsOverUnit with m_Scale in [1/2, 1].
struct FixedReciprocal
{
    Fixed<0> m_Scale;
    int m_BitsOverUnit = 0;
};

/// Reciprocal of raw > 0, which has `integerBits` bits left of the binary point.
inline FixedReciprocal GetReciprocal(int32_t raw, int integerBits)
{
    const int headroom = std::countl_zero(static_cast<uint32_t>(raw));
    // The bits below the leading one: the part over 1 when the leading one stands for 1.
    const uint32_t rest = (static_cast<uint32_t>(raw) << (headroom & 31)) - (uint32_t{1} << 31);
    return {OneOverOnePlus({static_cast<int32_t>(rest)}), integerBits - headroom};
}

/// log(x) for x >= 1 (as small as 1 / 2^From works too): x is a power of two, in quarters, times r close to sqrt(1/2)'s
/// square root, whose logarithm is a rational function.
template <int To, int From>
inline Fixed<To> LogOfAtLeastOne(Fixed<From> x)
{
    constexpr int SumBits = To + 1; // the power's logarithm alone may exceed the result's range
    constexpr Fixed<0> LogTwo{1488522236};
    constexpr Fixed<0> FourthRootOfHalf{1805811301};
    constexpr Fixed<0> RootOfHalf{1518500250};
    constexpr Fixed<0> Quarter = Fixed<0>::Pot(-2);
    // Coefficients of numerator and denominator.
    constexpr Fixed<0> N{117049297};
    constexpr Fixed<0> D{127690142};
    constexpr Fixed<0> I{1057819769};
    constexpr Fixed<0> F{638450708};

    // The number as it is and times sqrt(1/2): the one that needs the smaller fraction counts.
    const Fixed<0> a{x.m_Raw};
    const Fixed<0> b = a * RootOfHalf;
    const int zerosA = std::countl_zero(static_cast<uint32_t>(a.m_Raw));
    const int zerosB = std::countl_zero(static_cast<uint32_t>(b.m_Raw)) - 1;
    const Fixed<0> fractionA{MultiplyRawByPot(a.m_Raw, zerosA - 1)};
    const int32_t r1 = MultiplyRawByPot((fractionA * RootOfHalf).m_Raw, 1);
    const int32_t r2 = MultiplyRawByPot(a.m_Raw, zerosB);
    const Fixed<SumBits> quarter = Rescale<SumBits>(Quarter);
    const Fixed<SumBits> powerA = Fixed<SumBits>{MultiplyRawByPot(From - zerosA, 31 - SumBits)} + quarter;
    const Fixed<SumBits> powerB = Fixed<SumBits>{MultiplyRawByPot(From - zerosB, 31 - SumBits)} - quarter;
    const Fixed<0> r{r1 < r2 ? r1 : r2};
    const Fixed<SumBits> power = powerA.m_Raw > powerB.m_Raw ? powerA : powerB;

    const int64_t sum = static_cast<int64_t>(r.m_Raw) + FourthRootOfHalf.m_Raw;
    const Fixed<0> p{static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2)};
    const Fixed<0> half = r - FourthRootOfHalf;
    const Fixed<0> q = half + half;
    const Fixed<0> square = q * q;
    const Fixed<0> numerator = q * r + q * square * N;
    const Fixed<0> denominatorLessOne = p * (I + q + D * square) + F * q;
    const Fixed<0> reciprocal = OneOverOnePlus(denominatorLessOne);
    return Rescale<To>(power * LogTwo + Rescale<SumBits>(numerator) * reciprocal);
}

/// 1 / sqrt(x) of an integer x >= 0 as a multiplier; 0 counts as 1. Five Newton-Raphson steps.
inline QuantizedMultiplier GetInverseSquareRoot(int32_t x)
{
    if (x <= 1)
    {
        return {std::numeric_limits<int32_t>::max(), 0};
    }
    int rightShift = 11;
    while (x >= (int32_t{1} << 29))
    {
        x /= 4;
        ++rightShift;
    }
    // Brings x into [2^27, 2^29), two bits at a time.
    const int pairs = (std::countl_zero(static_cast<uint32_t>(x)) - 1) / 2 - 1;
    rightShift -= pairs;
    x <<= 2 * pairs;

    const Fixed<3> input{x >> 1};
    const Fixed<3> halfInput{MultiplyRawByPot(input.m_Raw, -1)};
    constexpr Fixed<3> ThreeHalves{(int32_t{1} << 28) + (int32_t{1} << 27)};
    constexpr Fixed<0> HalfSqrtTwo{1518500250};
    Fixed<3> y = Fixed<3>::One();
    for (int i = 0; i < 5; ++i)
    {
        const Fixed<3> cube = Rescale<3>(y * y * y);
        y = Rescale<3>(ThreeHalves * y - halfInput * cube);
    }
    int32_t multiplier = (y * HalfSqrtTwo).m_Raw;
    if (rightShift < 0)
    {
        multiplier = static_cast<int32_t>(static_cast<uint32_t>(multiplier) << -rightShift);
        rightShift = 0;
    }
    return {multiplier, -rightShift};
}

} // namespace tenon::backends
