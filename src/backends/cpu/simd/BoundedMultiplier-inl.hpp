// SPDX-License-Identifier: Apache-2.0
// Multiplication of vectors of int32 by a QuantizedMultiplier, for results of at most 16 bits. Results within int16 are
// bit for bit those of backends::MultiplySaturating; results outside of int16 may be cut off. For sources with
// Foreach.hpp.
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

/// The bound of x << left for multipliers with a left shift. It keeps the product within 2^30, which leaves room for a
/// zero point; results that it cuts off are outside of int16 anyway.
constexpr int32_t MaxShifted = int32_t{1} << 30;

/// x * 2^left. Each lane has a shift of its own.
template <class D32>
HWY_INLINE hn::Vec<D32> ShiftLeftBounded(D32 d, hn::Vec<D32> x, hn::Vec<D32> left)
{
    const hn::Vec<D32> maximum = hn::Shr(hn::Set(d, MaxShifted), left);
    return hn::Shl(hn::Max(hn::Min(x, maximum), hn::Neg(maximum)), left);
}

/// The same with one shift for all lanes.
template <class D32>
HWY_INLINE hn::Vec<D32> ShiftLeftBounded(D32 d, hn::Vec<D32> x, int left)
{
    const hn::Vec<D32> maximum = hn::Set(d, MaxShifted >> left);
    return hn::ShiftLeftSame(hn::Max(hn::Min(x, maximum), hn::Neg(maximum)), left);
}

/// Multiplies x by one multiplier, which is not negative, for all lanes.
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

    /// Precondition: |x| is at most 2^30 if the multiplier has no left shift. Results outside of int16 may be cut off,
    /// see MaxShifted.
    HWY_INLINE Vector operator()(Vector x) const
    {
        // Multipliers above 1 are rare: the branch keeps their cost away from the others.
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

    /// Results outside of int16 may be cut off, see MaxShifted.
    HWY_INLINE Vector operator()(Vector x) const
    {
        const D32 d;
        if (HWY_UNLIKELY(m_Left >= 0))
        {
            x = ShiftLeftBounded(d, x, m_Left);
        }
        const Vector high = RoundingHighMul(d, x, m_Multiplier, m_Multiplier);
        // The rounding step of MultiplyAnyLanes.
        const Vector stepped = hn::Add(high, hn::And(hn::ShiftRight<31>(high), m_IsShifted));
        const Vector halves = hn::ShiftRightSame(stepped, m_RightLessOne);
        const Vector rounded = hn::ShiftRight<1>(hn::Add(halves, hn::Set(d, 1)));
        return hn::IfThenElse(hn::MaskFromVec(m_IsShifted), rounded, high);
    }

private:
    Vector m_Multiplier;
    int m_Left; ///< a negative number shifts right
    int m_RightLessOne;
    Vector m_IsShifted;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
