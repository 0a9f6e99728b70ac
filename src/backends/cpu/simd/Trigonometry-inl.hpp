// SPDX-License-Identifier: Apache-2.0
// Sines and cosines of floats, on vectors: Highway's as far as those hold, and beyond the standard library's. Included
// by sources with vector code after simd/Foreach.hpp, once for each target.
#if defined(TENON_TRIGONOMETRY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRIGONOMETRY_INL
#undef TENON_TRIGONOMETRY_INL
#else
#define TENON_TRIGONOMETRY_INL
#endif

#include <hwy/highway.h>
// After it: the same namespace per target.
#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

constexpr float FewTurns = 39000.0f; // Highway takes so many multiples of a quarter turn away without loss

/// `results`, but function(x) in lanes of more than FewTurns, or NaN.
template <class D, class V, typename F>
HWY_NOINLINE V MendManyTurns(D d, V x, V results, const F& function)
{
    HWY_ALIGN float lanes[hn::MaxLanes(d)];
    HWY_ALIGN float mended[hn::MaxLanes(d)];
    hn::Store(x, d, lanes);
    hn::Store(results, d, mended);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
    {
        mended[i] = std::abs(lanes[i]) <= FewTurns ? mended[i] : function(lanes[i]);
    }
    return hn::Load(d, mended);
}

template <class D, class V>
HWY_INLINE bool AreFewTurns(D d, V x)
{
    return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, FewTurns)));
}

template <class D, class V>
HWY_INLINE V SinOf(D d, V x)
{
    const V sines = hn::Sin(d, x);
    return HWY_LIKELY(AreFewTurns(d, x)) ? sines : MendManyTurns(d, x, sines, [](float y) { return std::sin(y); });
}

template <class D, class V>
HWY_INLINE V CosOf(D d, V x)
{
    const V cosines = hn::Cos(d, x);
    return HWY_LIKELY(AreFewTurns(d, x)) ? cosines : MendManyTurns(d, x, cosines, [](float y) { return std::cos(y); });
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
