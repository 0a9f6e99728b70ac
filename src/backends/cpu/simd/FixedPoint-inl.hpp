// SPDX-License-Identifier: Apache-2.0
// TFLite's integer arithmetic on vectors of int32: multiplication by QuantizedMultipliers, one for all lanes or one for
// each, with both of its roundings, bit for bit as backends::MultiplyByQuantizedMultiplier has it. Included by sources
// with vector code after simd/Foreach.hpp, once for each target.
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

/// x times a multiplier that is not negative, the same for all lanes.
template <class D32>
class FixedPointMultiplier
{
public:
    using Vector = hn::Vec<D32>;

    explicit FixedPointMultiplier(backends::QuantizedMultiplier m)
        : m_Multiplier(hn::Set(D32(), m.m_Multiplier)), m_Left(m.m_Shift > 0 ? m.m_Shift : 0),
          m_Right(m.m_Shift > 0 ? 0 : -m.m_Shift), m_Rounding(GetRounding(D32(), hn::Set(D32(), m_Right))),
          m_IsShifted(hn::Set(D32(), m_Right > 0 ? -1 : 0))
    {
    }

    /// With a shift to the right |x| must be below 2^30; left shifts wrap.
    HWY_INLINE Vector operator()(Vector x) const
    {
        const Vector high = RoundingHighMul(D32(), hn::ShiftLeftSame(x, m_Left), m_Multiplier, m_Multiplier);
        return hn::ShiftRightSame(AddRounding(high, m_Rounding, m_IsShifted), m_Right);
    }

private:
    Vector m_Multiplier;
    int m_Left;
    int m_Right;
    Vector m_Rounding;
    Vector m_IsShifted;
};

/// The same for any x.
template <class D32>
class AnyFixedPointMultiplier
{
public:
    using Vector = hn::Vec<D32>;

    explicit AnyFixedPointMultiplier(backends::QuantizedMultiplier m)
        : m_Multiplier(hn::Set(D32(), m.m_Multiplier)), m_Left(m.m_Shift > 0 ? m.m_Shift : 0),
          m_RightLessOne(m.m_Shift < 0 ? -m.m_Shift - 1 : 0), m_IsShifted(hn::Set(D32(), m.m_Shift < 0 ? -1 : 0))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        const D32 d;
        const Vector high = RoundingHighMul(d, hn::ShiftLeftSame(x, m_Left), m_Multiplier, m_Multiplier);
        // As MultiplyAnyLanes.
        const Vector stepped = hn::Add(high, hn::And(hn::ShiftRight<31>(high), m_IsShifted));
        const Vector halves = hn::ShiftRightSame(stepped, m_RightLessOne);
        const Vector rounded = hn::ShiftRight<1>(hn::Add(halves, hn::Set(d, 1)));
        return hn::IfThenElse(hn::MaskFromVec(m_IsShifted), rounded, high);
    }

private:
    Vector m_Multiplier;
    int m_Left;
    int m_RightLessOne;
    Vector m_IsShifted;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
