// SPDX-License-Identifier: Apache-2.0
// TFLite's integer arithmetic on vectors of int32: multiplication by one QuantizedMultiplier with both of its
// roundings, bit for bit as backends::MultiplyByQuantizedMultiplier has it. Included by sources with vector code after
// simd/Foreach.hpp, once for each target.
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

/// x times a multiplier that is not negative.
template <class D32>
class FixedPointMultiplier
{
public:
    using Vector = hn::Vec<D32>;

    explicit FixedPointMultiplier(backends::QuantizedMultiplier m)
        : m_Multiplier(hn::Set(D32(), m.m_Multiplier)), m_Left(m.m_Shift > 0 ? m.m_Shift : 0),
          m_Right(m.m_Shift > 0 ? 0 : -m.m_Shift),
          m_Rounding(hn::Set(D32(), m_Right > 0 ? int32_t{1} << (m_Right - 1) : 0)),
          m_Step(hn::Set(D32(), m_Right > 0 ? -1 : 0))
    {
    }

    /// With a shift to the right |x| must be below 2^30; left shifts wrap.
    HWY_INLINE Vector operator()(Vector x) const
    {
        const D32 d;
        const hn::RepartitionToWide<D32> dWide;
        const hn::Repartition<uint64_t, D32> dUnsigned;
        const auto half = hn::Set(dWide, int64_t{1} << 30);
        x = hn::ShiftLeftSame(x, m_Left);
        // (x * m + 2^30) >> 31: from even lanes it comes to lie in the lower halves, from odd ones in the upper halves.
        const auto evens = hn::ShiftRight<31>(hn::BitCast(dUnsigned, hn::Add(hn::MulEven(x, m_Multiplier), half)));
        const auto odd = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(dUnsigned, x)));
        const auto odds = hn::ShiftLeft<1>(hn::Add(hn::MulEven(odd, m_Multiplier), half));
        const Vector high = hn::OddEven(hn::BitCast(d, odds), hn::BitCast(d, evens));
        // Half away from zero: half of the divisor is added, one less for negative numbers. No shift adds nothing.
        const Vector step = hn::And(hn::ShiftRight<31>(high), m_Step);
        return hn::ShiftRightSame(hn::Add(hn::Add(high, m_Rounding), step), m_Right);
    }

private:
    Vector m_Multiplier;
    int m_Left;
    int m_Right;
    Vector m_Rounding;
    Vector m_Step;
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
