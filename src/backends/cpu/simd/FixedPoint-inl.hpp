// SPDX-License-Identifier: Apache-2.0
// TFLite's integer arithmetic on vectors of int32: multiplication by the multipliers and shifts to the right of
// QuantizedMultipliers, one for each lane, with both of its roundings. See BoundedMultiplier-inl.hpp for shifts to the
// left. Included by sources with vector code after simd/Foreach.hpp, once for each target.
#if defined(TENON_FIXED_POINT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_FIXED_POINT_INL
#undef TENON_FIXED_POINT_INL
#else
#define TENON_FIXED_POINT_INL
#endif

#include "backends/common/Quantization.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Rounds half away from zero in double precision: one below one half, as what is below a half must not be rounded up
/// by the addition.
constexpr double BelowHalf = 0.49999999999999994;
/// What is rounded so is clamped to this: surely outside of bytes, and inside of integers.
constexpr double MostRounded = 65536.0;
/// A product of floats is off by less than 2^-22 of itself. One that bytes do not clamp rounds to the same number as
/// that of doubles, unless it is as near to a half as this. Larger ones than can be integers are taken for this.
constexpr float MostFloatProduct = 65536.0f;
constexpr float NearHalf = 0.4998f;

/// What comes to lie in even lanes of the odd ones.
template <class D32>
HWY_INLINE hn::Vec<D32> OddLanes(D32 d, hn::Vec<D32> x)
{
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(hn::Repartition<uint64_t, D32>(), x)));
}

/// Per lane (x * m + 2^30) >> 31: SaturatingRoundingDoublingHighMul of multipliers that are not negative. `odd`: the
/// odd lanes of `multiplier`.
template <class D32>
HWY_INLINE hn::Vec<D32> RoundingHighMul(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> odd)
{
    const hn::RepartitionToWide<D32> dWide;
    const hn::Repartition<uint64_t, D32> dUnsigned;
    const auto half = hn::Set(dWide, int64_t{1} << 30);
    // From even lanes it comes to lie in the lower halves, from odd ones in the upper halves.
    const auto evens = hn::ShiftRight<31>(hn::BitCast(dUnsigned, hn::Add(hn::MulEven(x, multiplier), half)));
    const auto odds = hn::ShiftLeft<1>(hn::Add(hn::MulEven(OddLanes(d, x), odd), half));
    return hn::OddEven(hn::BitCast(d, odds), hn::BitCast(d, evens));
}

/// Half of what RoundingDivideByPOT divides by: 2^(right - 1), nothing without a shift. Precondition: right <= 31.
template <class D32>
HWY_INLINE hn::Vec<D32> GetRounding(D32 d, hn::Vec<D32> right)
{
    const hn::RebindToUnsigned<D32> dUnsigned; // 2^31 is no int32
    return hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(dUnsigned, hn::Shl(hn::Set(d, 1), right))));
}

/// What to shift to the right for RoundingDivideByPOT, half away from zero: half of the divisor is added, one less for
/// negative numbers. `isShifted`: all bits of lanes that are shifted at all; the others have a rounding of 0.
template <class V>
HWY_INLINE V AddRounding(V x, V rounding, V isShifted)
{
    return hn::Add(hn::Add(x, rounding), hn::And(hn::ShiftRight<31>(x), isShifted));
}

/// x times a multiplier and a shift to the right, each of its lane. |x| must be below 2^30 where that is not 0.
template <class D32>
HWY_INLINE hn::Vec<D32> MultiplyLanes(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> right)
{
    const hn::Vec<D32> high = RoundingHighMul(d, x, multiplier, OddLanes(d, multiplier));
    const hn::Vec<D32> isShifted = hn::VecFromMask(d, hn::Gt(right, hn::Zero(d)));
    return hn::Shr(AddRounding(high, GetRounding(d, right), isShifted), right);
}

/// The same for any x. `rightLessOne`: the shift to the right less 1, or 0 where there is none; `isShifted`: all bits
/// of the lanes where there is one.
template <class D32>
HWY_INLINE hn::Vec<D32> MultiplyAnyLanes(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> odd,
                                         hn::Vec<D32> rightLessOne, hn::Vec<D32> isShifted)
{
    const hn::Vec<D32> high = RoundingHighMul(d, x, multiplier, odd);
    // Half of the divisor is added in the last place but one, where it cannot overflow.
    const hn::Vec<D32> stepped = hn::Add(high, hn::And(hn::ShiftRight<31>(high), isShifted));
    const hn::Vec<D32> halves = hn::Shr(stepped, rightLessOne);
    const hn::Vec<D32> rounded = hn::ShiftRight<1>(hn::Add(halves, hn::Set(d, 1)));
    return hn::IfThenElse(hn::MaskFromVec(isShifted), rounded, high);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
