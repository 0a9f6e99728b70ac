// SPDX-License-Identifier: Apache-2.0
// Sigmoid and tanh in 16-bit fixed point, bit for bit as the integer LSTM kernels of TFLite have them: a number whose
// type says how many bits stand left of the binary point. Sums wrap, products saturate. Used by the LSTM cells.
#pragma once

#include "backends/common/Quantization.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tenon::backends
{

/// real = m_Raw * 2^(IntegerBits - 15), so values lie in [-2^IntegerBits, 2^IntegerBits).
template <int IntegerBits>
struct Fixed16
{
    static_assert(IntegerBits >= 0 && IntegerBits < 15);
    static constexpr int FractionBits = 15 - IntegerBits;

    int16_t m_Raw = 0;

    /// 1, or the largest number below it where 1 itself does not fit.
    static constexpr Fixed16 One()
    {
        return {IntegerBits == 0 ? std::numeric_limits<int16_t>::max()
                                 : static_cast<int16_t>(1 << (FractionBits % 15))};
    }
    /// A constant that is given with 31 bits.
    static constexpr Fixed16 FromWide(int32_t raw)
    {
        return {static_cast<int16_t>((raw + (1 << 15) - (raw < 0 ? 1 : 0)) >> 16)};
    }

    friend constexpr Fixed16 operator+(Fixed16 a, Fixed16 b) { return {static_cast<int16_t>(a.m_Raw + b.m_Raw)}; }
    friend constexpr Fixed16 operator-(Fixed16 a, Fixed16 b) { return {static_cast<int16_t>(a.m_Raw - b.m_Raw)}; }
};

inline int16_t SaturateToInt16(int32_t value)
{
    return static_cast<int16_t>(
        std::clamp<int32_t>(value, std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()));
}

/// High half of 2 * a * b, rounded to nearest; the product needs the integer bits of both.
template <int A, int B>
inline Fixed16<A + B> operator*(Fixed16<A> a, Fixed16<B> b)
{
    return {SaturateToInt16((int32_t{a.m_Raw} * b.m_Raw + (1 << 14)) >> 15)};
}

/// raw * 2^exponent: saturates when it grows, rounds to nearest (half away from zero) when it shrinks.
inline int16_t MultiplyRaw16ByPot(int16_t raw, int exponent)
{
    return exponent <= 0 ? static_cast<int16_t>(RoundingDivideByPot(raw, -exponent))
                         : SaturateToInt16(raw * (1 << exponent));
}

/// The same value with another number of integer bits.
template <int To, int From>
inline Fixed16<To> Rescale(Fixed16<From> x)
{
    return {MultiplyRaw16ByPot(x.m_Raw, From - To)};
}

/// exp(x) for x in [-1/4, 0): a Taylor series of degree 4 around -1/8.
inline Fixed16<0> ExpNearZero(Fixed16<0> x)
{
    constexpr auto ExpOfCentre = Fixed16<0>::FromWide(1895147668); // exp(-1/8)
    constexpr auto OneThird = Fixed16<0>::FromWide(715827883);
    const Fixed16<0> y = x + Fixed16<0>{1 << 12};
    const Fixed16<0> y2 = y * y;
    const Fixed16<0> y3 = y2 * y;
    const Fixed16<0> y4Over4{MultiplyRaw16ByPot((y2 * y2).m_Raw, -2)};
    const Fixed16<0> tail{MultiplyRaw16ByPot(((y4Over4 + y3) * OneThird + y2).m_Raw, -1)};
    return {SaturateToInt16(ExpOfCentre.m_Raw + (ExpOfCentre * (y + tail)).m_Raw)};
}

/// exp(x) for x <= 0.
template <int IntegerBits>
inline Fixed16<0> ExpOfNonPositive(Fixed16<IntegerBits> x)
{
    using F = Fixed16<IntegerBits>;
    if (x.m_Raw == 0)
    {
        return Fixed16<0>::One();
    }
    // x = fine - steps with fine in [-1/4, 0): exp(x) is exp(fine) times exp(-2^k) for each bit k of steps.
    constexpr F Quarter{static_cast<int16_t>(1 << (F::FractionBits - 2))};
    const F fine = F{static_cast<int16_t>(x.m_Raw & (Quarter.m_Raw - 1))} - Quarter;
    const int steps = (fine - x).m_Raw;
    Fixed16<0> result = ExpNearZero(Rescale<0>(fine));
    constexpr int FirstBit = -2;
    constexpr int32_t Factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    for (int i = 0; i < 7 && FirstBit + i < IntegerBits; ++i)
    {
        if ((steps & (1 << (F::FractionBits + FirstBit + i))) != 0)
        {
            result = result * Fixed16<0>::FromWide(Factors[i]);
        }
    }
    if constexpr (IntegerBits > 5)
    {
        if (x.m_Raw < -(1 << (F::FractionBits + 5)))
        {
            return {};
        }
    }
    return result;
}

/// 1 / ((1 + x) / 2) for x in [0, 1] by three Newton-Raphson steps.
inline Fixed16<2> TwiceReciprocalOfOnePlus(Fixed16<0> x)
{
    constexpr auto FortyEightOver17 = Fixed16<2>::FromWide(1515870810);
    constexpr auto MinusThirtyTwoOver17 = Fixed16<2>::FromWide(-1010580540);
    const int sum = x.m_Raw + Fixed16<0>::One().m_Raw;
    const Fixed16<0> half{static_cast<int16_t>((sum + (sum >= 0 ? 1 : -1)) / 2)};
    Fixed16<2> y = FortyEightOver17 + half * MinusThirtyTwoOver17;
    for (int i = 0; i < 3; ++i)
    {
        y = y + Rescale<2>(y * (Fixed16<2>::One() - half * y));
    }
    return y;
}

/// 1 / (1 + exp(-x)).
template <int IntegerBits>
inline Fixed16<0> Sigmoid(Fixed16<IntegerBits> x)
{
    if (x.m_Raw == 0)
    {
        return {1 << 14};
    }
    const Fixed16<IntegerBits> negative = x.m_Raw > 0 ? Fixed16<IntegerBits>{} - x : x;
    // y / 2 by one integer bit less.
    const Fixed16<2> y = TwiceReciprocalOfOnePlus(ExpOfNonPositive(negative));
    const Fixed16<0> ofPositive = Rescale<0>(Fixed16<1>{y.m_Raw});
    return x.m_Raw > 0 ? ofPositive : Fixed16<0>::One() - ofPositive;
}

template <int IntegerBits>
inline Fixed16<0> Tanh(Fixed16<IntegerBits> x)
{
    if (x.m_Raw == 0)
    {
        return {};
    }
    const Fixed16<IntegerBits> negative = x.m_Raw > 0 ? Fixed16<IntegerBits>{} - x : x;
    // (1 - e) / (1 + e) with e = exp(-2 |x|); twice x by one integer bit more.
    const Fixed16<2> y = TwiceReciprocalOfOnePlus(ExpOfNonPositive(Fixed16<IntegerBits + 1>{negative.m_Raw}));
    const Fixed16<0> magnitude = Rescale<0>(y - Fixed16<2>::One());
    return x.m_Raw > 0 ? magnitude : Fixed16<0>{} - magnitude;
}

/// Tanh of a number with `integerBits` integer bits, from 0 to 6.
inline int16_t TanhInt16(int16_t raw, int integerBits)
{
    switch (integerBits)
    {
    case 0: return Tanh(Fixed16<0>{raw}).m_Raw;
    case 1: return Tanh(Fixed16<1>{raw}).m_Raw;
    case 2: return Tanh(Fixed16<2>{raw}).m_Raw;
    case 3: return Tanh(Fixed16<3>{raw}).m_Raw;
    case 4: return Tanh(Fixed16<4>{raw}).m_Raw;
    case 5: return Tanh(Fixed16<5>{raw}).m_Raw;
    default: return Tanh(Fixed16<6>{raw}).m_Raw;
    }
}

} // namespace tenon::backends
