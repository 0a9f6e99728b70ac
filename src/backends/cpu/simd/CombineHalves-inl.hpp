// SPDX-License-Identifier: Apache-2.0
// A vector of two halves, without the move that Highway's Combine takes. Included by sources with vector code after
// simd/Foreach.hpp, once for each target.
#if defined(TENON_JOIN_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_JOIN_HALVES_INL
#undef TENON_JOIN_HALVES_INL
#else
#define TENON_JOIN_HALVES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Two halves of a vector.
template <class D>
HWY_INLINE hn::Vec<D> JoinHalves(D d, hn::Vec<hn::Half<D>> upper, hn::Vec<hn::Half<D>> lower)
{
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(hn::Vec<D>) == 64)
    {
        // Combine has the compiler zero the upper half first.
        return hn::Vec<D>{_mm512_inserti64x4(_mm512_castsi256_si512(lower.raw), upper.raw, 1)};
    }
#endif
    return hn::Combine(d, upper, lower);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
