// SPDX-License-Identifier: Apache-2.0
// TFLite's rescaling of int32 by QuantizedMultipliers, with both of its roundings and a multiplier and right shift for
// each lane:
//   RoundingDivideByPOT(SaturatingRoundingDoublingHighMul(x, multiplier), right)
// BoundedMultiplier-inl.hpp has left shifts. For sources with Foreach.hpp.
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

/// The addend for rounding half away from zero in double precision: the double just below one half, so that numbers
/// just below a half are not rounded up by the addition.
constexpr double BelowHalf = 0.49999999999999994;
/// Results are clamped to this magnitude: outside of int8 and uint8, and within int32.
constexpr double MaxRounded = 65536.0;
/// The relative error of a float product is below 2^-22. After the clamp to 8 bits it rounds to the same number as the
/// product in double, unless it is closer to a half than that error. Larger products, which may not fit int32, are
/// clamped to this.
constexpr float MaxFloatProduct = 65536.0f;
constexpr float NearHalf = 0.4998f;

/// Copies odd lanes to even lanes.
template <class D32>
HWY_INLINE hn::Vec<D32> OddLanes(D32 d, hn::Vec<D32> x)
{
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(hn::Repartition<uint64_t, D32>(), x)));
}

/// (x * m + 2^30) >> 31 for each lane: SaturatingRoundingDoublingHighMul by multipliers that are not negative. `odd`:
/// the odd lanes of `multiplier`, see OddLanes.
template <class D32>
HWY_INLINE hn::Vec<D32> RoundingHighMul(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> odd)
{
    const hn::RepartitionToWide<D32> dWide;
    const hn::Repartition<uint64_t, D32> dUnsigned;
    const auto half = hn::Set(dWide, int64_t{1} << 30);
    // The results of even lanes are needed in the lower halves of the 64-bit products, those of odd lanes in the upper
    // halves.
    const auto evens = hn::ShiftRight<31>(hn::BitCast(dUnsigned, hn::Add(hn::MulEven(x, multiplier), half)));
    const auto odds = hn::ShiftLeft<1>(hn::Add(hn::MulEven(OddLanes(d, x), odd), half));
    return hn::OddEven(hn::BitCast(d, odds), hn::BitCast(d, evens));
}

/// Half of the divisor of RoundingDivideByPOT: 2^(right - 1), and 0 without a shift. Precondition: right <= 31.
template <class D32>
HWY_INLINE hn::Vec<D32> GetRounding(D32 d, hn::Vec<D32> right)
{
    const hn::RebindToUnsigned<D32> dUnsigned; // 2^31 does not fit int32
    return hn::BitCast(d, hn::ShiftRight<1>(hn::BitCast(dUnsigned, hn::Shl(hn::Set(d, 1), right))));
}

/// The dividend of RoundingDivideByPOT before the right shift (half away from zero): x plus half of the divisor, less 1
/// for negative x. `isShifted`: all bits set in lanes with a shift. `rounding`: see GetRounding.
template <class V>
HWY_INLINE V AddRounding(V x, V rounding, V isShifted)
{
    return hn::Add(hn::Add(x, rounding), hn::And(hn::ShiftRight<31>(x), isShifted));
}

/// x times a multiplier, with a right shift, both for each lane. Precondition: |x| < 2^30 in lanes with a shift.
template <class D32>
HWY_INLINE hn::Vec<D32> MultiplyLanes(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> right)
{
    const hn::Vec<D32> high = RoundingHighMul(d, x, multiplier, OddLanes(d, multiplier));
    const hn::Vec<D32> isShifted = hn::VecFromMask(d, hn::Gt(right, hn::Zero(d)));
    return hn::Shr(AddRounding(high, GetRounding(d, right), isShifted), right);
}

/// The same for any x. `rightLessOne`: the right shift less 1, or 0 in lanes without a shift. `isShifted`: all bits set
/// in lanes with a shift.
template <class D32>
HWY_INLINE hn::Vec<D32> MultiplyAnyLanes(D32 d, hn::Vec<D32> x, hn::Vec<D32> multiplier, hn::Vec<D32> odd,
                                         hn::Vec<D32> rightLessOne, hn::Vec<D32> isShifted)
{
    const hn::Vec<D32> high = RoundingHighMul(d, x, multiplier, odd);
    // Half of the divisor is added after a shift by all bits but one, so that it cannot overflow.
    const hn::Vec<D32> stepped = hn::Add(high, hn::And(hn::ShiftRight<31>(high), isShifted));
    const hn::Vec<D32> halves = hn::Shr(stepped, rightLessOne);
    const hn::Vec<D32> rounded = hn::ShiftRight<1>(hn::Add(halves, hn::Set(d, 1)));
    return hn::IfThenElse(hn::MaskFromVec(isShifted), rounded, high);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
