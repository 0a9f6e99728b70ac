// SPDX-License-Identifier: Apache-2.0
// Multiplication of vectors of int32 by a QuantizedMultiplier, for results that become bytes or shorts: bit for bit as
// backends::MultiplySaturating has it, but that what lies beyond shorts is cut off. Included by sources with vector
// code after simd/Foreach.hpp, once for each target.
#if defined(TENON_BOUNDED_MULTIPLIER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BOUNDED_MULTIPLIER_INL
#undef TENON_BOUNDED_MULTIPLIER_INL
#else
#define TENON_BOUNDED_MULTIPLIER_INL
#endif

#include "backends/cpu/simd/FixedPoint-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// What a multiplier without a shift to the right is to be multiplied with: x shifted to the left, bounded so that the
/// product is within 2^30, which leaves room for a zero point, and beyond all bytes and shorts where it is cut off.
constexpr int32_t MostShifted = int32_t{1} << 30;

/// x * 2^left of each lane, with its own shift.
template <class D32>
HWY_INLINE hn::Vec<D32> ShiftLeftBounded(D32 d, hn::Vec<D32> x, hn::Vec<D32> left)
{
    const hn::Vec<D32> most = hn::Shr(hn::Set(d, MostShifted), left);
    return hn::Shl(hn::Max(hn::Min(x, most), hn::Neg(most)), left);
}

/// The same with one shift for all lanes.
template <class D32>
HWY_INLINE hn::Vec<D32> ShiftLeftBounded(D32 d, hn::Vec<D32> x, int left)
{
    const hn::Vec<D32> most = hn::Set(d, MostShifted >> left);
    return hn::ShiftLeftSame(hn::Max(hn::Min(x, most), hn::Neg(most)), left);
}

/// x times a multiplier that is not negative, the same for all lanes.
template <class D32>
class BoundedMultiplier
{
public:
    using Vector = hn::Vec<D32>;

    explicit BoundedMultiplier(backends::QuantizedMultiplier m)
        : m_Multiplier(hn::Set(D32(), m.m_Multiplier)), m_Left(m.m_Shift > 0 ? m.m_Shift : 0),
          m_Right(m.m_Shift > 0 ? 0 : -m.m_Shift), m_Rounding(GetRounding(D32(), hn::Set(D32(), m_Right))),
          m_IsShifted(hn::Set(D32(), m_Right > 0 ? -1 : 0))
    {
    }

    /// Without a shift to the left |x| must be at most 2^30. Results beyond shorts are cut off: see MostShifted.
    HWY_INLINE Vector operator()(Vector x) const
    {
        // Scales that are made larger are rare: others do not pay for it.
        if (HWY_UNLIKELY(m_Left != 0))
        {
            x = ShiftLeftBounded(D32(), x, m_Left);
        }
        const Vector high = RoundingHighMul(D32(), x, m_Multiplier, m_Multiplier);
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
class AnyBoundedMultiplier
{
public:
    using Vector = hn::Vec<D32>;

    explicit AnyBoundedMultiplier(backends::QuantizedMultiplier m)
        : m_Multiplier(hn::Set(D32(), m.m_Multiplier)), m_Left(m.m_Shift),
          m_RightLessOne(m.m_Shift < 0 ? -m.m_Shift - 1 : 0), m_IsShifted(hn::Set(D32(), m.m_Shift < 0 ? -1 : 0))
    {
    }

    /// Results beyond shorts are cut off: see MostShifted.
    HWY_INLINE Vector operator()(Vector x) const
    {
        const D32 d;
        if (HWY_UNLIKELY(m_Left >= 0))
        {
            x = ShiftLeftBounded(d, x, m_Left);
        }
        const Vector high = RoundingHighMul(d, x, m_Multiplier, m_Multiplier);
        // As MultiplyAnyLanes.
        const Vector stepped = hn::Add(high, hn::And(hn::ShiftRight<31>(high), m_IsShifted));
        const Vector halves = hn::ShiftRightSame(stepped, m_RightLessOne);
        const Vector rounded = hn::ShiftRight<1>(hn::Add(halves, hn::Set(d, 1)));
        return hn::IfThenElse(hn::MaskFromVec(m_IsShifted), rounded, high);
    }

private:
    Vector m_Multiplier;
    int m_Left; ///< negative: a shift to the right
    int m_RightLessOne;
    Vector m_IsShifted;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
