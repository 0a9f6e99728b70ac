// SPDX-License-Identifier: Apache-2.0
// Arithmetic on vectors of floats in double precision, where float is too coarse. 32-bit Arm has no vectors of doubles,
// see HWY_HAVE_FLOAT64. For sources with Foreach.hpp.
#if defined(TENON_DOUBLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_DOUBLES_INL
#undef TENON_DOUBLES_INL
#else
#define TENON_DOUBLES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64

/// f(d, x, y) in doubles, computed by halves of the vectors of floats x and y. Results are rounded to float.
template <class D, class V, typename F>
HWY_INLINE V InDoubles(D d, V x, V y, const F& f)
{
    const hn::RepartitionToWide<D> dWide;
    const hn::Half<D> dHalf;
    const auto widen = [&](auto half) HWY_ATTR { return hn::PromoteTo(dWide, half); };
    const auto lower = f(dWide, widen(hn::LowerHalf(dHalf, x)), widen(hn::LowerHalf(dHalf, y)));
    const auto upper = f(dWide, widen(hn::UpperHalf(dHalf, x)), widen(hn::UpperHalf(dHalf, y)));
    return hn::Combine(d, hn::DemoteTo(dHalf, upper), hn::DemoteTo(dHalf, lower));
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
