// SPDX-License-Identifier: Apache-2.0
// Two vectors of int32 as one of int16. For sources with Foreach.hpp.
#if defined(TENON_NARROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_NARROW_INL
#undef TENON_NARROW_INL
#else
#define TENON_NARROW_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Both vectors as int16, saturated: `low` before `high` in each 16-byte block. On 32-bit Arm, Highway up to version
/// 1.0.3, at least, has the two in the opposite order.
template <class D16, class V32>
HWY_INLINE hn::Vec<D16> NarrowPair(D16 d, V32 low, V32 high)
{
#if HWY_ARCH_ARM_V7
    const hn::Half<D16> half;
    return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#else
    return hn::ReorderDemote2To(d, low, high);
#endif
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
