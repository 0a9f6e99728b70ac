// SPDX-License-Identifier: Apache-2.0
// Sigmoid, tanh and exp of vectors in 16-bit fixed point (gemmlowp's algorithms), bit for bit as
// backends/common/FixedPoint16.hpp. A number with n integer bits has 15 - n fraction bits. For sources with
// Foreach.hpp.
#if defined(TENON_FIXED_POINT_INT16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_FIXED_POINT_INT16_INL
#undef TENON_FIXED_POINT_INT16_INL
#else
#define TENON_FIXED_POINT_INT16_INL
#endif

#include "backends/common/FixedPoint16.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// A 16-bit constant from its 31-bit form.
HWY_INLINE VecInt16 SetWide(int32_t raw)
{
    return hn::Set(TagInt16(), backends::Fixed16<0>::FromWide(raw).m_Raw);
}

/// The product of fixed-point numbers; its integer bits are the sum of both. The operands are never both -1 without
/// integer bits, so nothing saturates.
HWY_INLINE VecInt16 MultiplyInt16(VecInt16 a, VecInt16 b)
{
    return hn::MulFixedPoint15(a, b);
}

/// x / 2^Exponent, rounded to nearest, half away from zero. Preconditions: Exponent >= 1; x is not the smallest int16.
template <int Exponent>
HWY_INLINE VecInt16 DivideByPot(VecInt16 x)
{
    // The rounding multiplication adds the half without overflow.
    return hn::MulFixedPoint15(hn::Add(x, hn::ShiftRight<15>(x)), hn::Set(TagInt16(), 1 << (15 - Exponent)));
}

/// 2 * x, saturated.
HWY_INLINE VecInt16 Twice(VecInt16 x)
{
    return hn::SaturatedAdd(x, x);
}

/// See backends::ExpNearZero.
HWY_INLINE VecInt16 ExpNearZero(VecInt16 x)
{
    const VecInt16 expOfCentre = SetWide(1895147668);
    const VecInt16 oneThird = SetWide(715827883);
    const VecInt16 y = hn::Add(x, hn::Set(TagInt16(), 1 << 12));
    const VecInt16 y2 = MultiplyInt16(y, y);
    const VecInt16 y3 = MultiplyInt16(y2, y);
    const VecInt16 y4Over4 = DivideByPot<2>(MultiplyInt16(y2, y2));
    const VecInt16 tail = DivideByPot<1>(hn::Add(MultiplyInt16(hn::Add(y4Over4, y3), oneThird), y2));
    return hn::SaturatedAdd(expOfCentre, MultiplyInt16(expOfCentre, hn::Add(y, tail)));
}

/// exp(x) for x <= 0. The result has no integer bits. See backends::ExpOfNonPositive.
HWY_INLINE VecInt16 ExpOfNonPositive(int integerBits, VecInt16 x)
{
    constexpr int32_t Factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int numFactors = integerBits + 2 < 7 ? integerBits + 2 : 7;
    const int fractionBits = 15 - integerBits;
    const TagInt16 d;
    const VecInt16 quarter = hn::Set(d, static_cast<int16_t>(1 << (fractionBits - 2)));
    const VecInt16 fine = hn::Sub(hn::And(x, hn::Sub(quarter, hn::Set(d, 1))), quarter);
    const VecInt16 steps = hn::Sub(fine, x);
    VecInt16 result = ExpNearZero(hn::ShiftLeftSame(fine, integerBits));
    VecInt16 bit = quarter;
    for (int i = 0; i < numFactors; ++i)
    {
        result = hn::IfThenElse(hn::TestBit(steps, bit), MultiplyInt16(result, SetWide(Factors[i])), result);
        bit = hn::Add(bit, bit);
    }
    if (integerBits > 5)
    {
        // The loop above has no factor for the bits below this bound.
        const auto isZero = hn::Lt(x, hn::Set(d, static_cast<int16_t>(-(1 << (fractionBits + 5)))));
        result = hn::IfThenElse(isZero, hn::Zero(d), result);
    }
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, INT16_MAX), result);
}

/// 1 / ((1 + x) / 2) for x in [0, 1], with two integer bits. See backends::TwiceReciprocalOfOnePlus.
HWY_INLINE VecInt16 TwiceReciprocalOfOnePlus(VecInt16 x)
{
    const TagInt16 d;
    const hn::RebindToUnsigned<TagInt16> dUnsigned;
    const VecInt16 one = hn::Set(d, backends::Fixed16<2>::One().m_Raw);
    const VecInt16 half =
        hn::BitCast(d, hn::AverageRound(hn::BitCast(dUnsigned, x), hn::Set(dUnsigned, uint16_t{INT16_MAX})));
    VecInt16 y = hn::Add(SetWide(1515870810), MultiplyInt16(half, SetWide(-1010580540)));
    for (int i = 0; i < 3; ++i)
    {
        y = hn::Add(y, Twice(Twice(MultiplyInt16(y, hn::Sub(one, MultiplyInt16(half, y))))));
    }
    return y;
}

/// 1 / (1 + exp(-x)), in [0, 1) without integer bits.
HWY_INLINE VecInt16 SigmoidInt16(int integerBits, VecInt16 x)
{
    const TagInt16 d;
    const auto isPositive = hn::Gt(x, hn::Zero(d));
    const VecInt16 negative = hn::IfThenElse(isPositive, hn::Neg(x), x);
    const VecInt16 ofPositive = Twice(TwiceReciprocalOfOnePlus(ExpOfNonPositive(integerBits, negative)));
    const VecInt16 result = hn::IfThenElse(isPositive, ofPositive, hn::Sub(hn::Set(d, INT16_MAX), ofPositive));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1 << 14), result);
}

/// tanh(x), in (-1, 1) without integer bits.
HWY_INLINE VecInt16 TanhInt16(int integerBits, VecInt16 x)
{
    const TagInt16 d;
    const auto isPositive = hn::Gt(x, hn::Zero(d));
    const VecInt16 negative = hn::IfThenElse(isPositive, hn::Neg(x), x);
    const VecInt16 one = hn::Set(d, backends::Fixed16<2>::One().m_Raw);
    const VecInt16 y = TwiceReciprocalOfOnePlus(ExpOfNonPositive(integerBits + 1, negative));
    const VecInt16 magnitude = Twice(Twice(hn::Sub(y, one)));
    const VecInt16 result = hn::IfThenElse(isPositive, magnitude, hn::Neg(magnitude));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Zero(d), result);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
