// SPDX-License-Identifier: Apache-2.0
// Two half vectors as one vector, without the move that Highway's Combine costs with AVX-512. For sources with
// Foreach.hpp.
#if defined(TENON_COMBINE_HALVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_COMBINE_HALVES_INL
#undef TENON_COMBINE_HALVES_INL
#else
#define TENON_COMBINE_HALVES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// The vector with these halves.
template <class D>
HWY_INLINE hn::Vec<D> CombineHalves(D d, hn::Vec<hn::Half<D>> upper, hn::Vec<hn::Half<D>> lower)
{
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(hn::Vec<D>) == 64)
    {
        // With Combine the compiler would zero the upper half first.
        return hn::Vec<D>{_mm512_inserti64x4(_mm512_castsi256_si512(lower.raw), upper.raw, 1)};
    }
#endif
    return hn::Combine(d, upper, lower);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
