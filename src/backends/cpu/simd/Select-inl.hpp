// SPDX-License-Identifier: Apache-2.0
// Maximum and minimum of vectors as comparisons choose them, which says what NaN and signed zeros give. Included by
// sources with vector code after simd/Foreach.hpp, once for each target.
#if defined(TENON_SELECT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SELECT_INL
#undef TENON_SELECT_INL
#else
#define TENON_SELECT_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// a > b ? a : b, which is std::max(b, a).
template <class V>
HWY_INLINE V GreaterOf(V a, V b)
{
#if HWY_ARCH_X86
    return hn::Max(a, b); // the instruction is defined so
#else
    return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}

/// a < b ? a : b, which is std::min(b, a).
template <class V>
HWY_INLINE V LessOf(V a, V b)
{
#if HWY_ARCH_X86
    return hn::Min(a, b);
#else
    return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

/// min(high, max(low, x)) of the standard library, which makes `low` of a NaN, as backends::FloatClamp does.
template <class V>
HWY_INLINE V Clamped(V x, V low, V high)
{
    return LessOf(GreaterOf(x, low), high);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
