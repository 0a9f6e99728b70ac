// SPDX-License-Identifier: Apache-2.0
// Maximum, minimum and clamp of vectors, defined as the comparison a > b ? a : b, which fixes the results for NaN and
// signed zeros on all targets. For sources with Foreach.hpp.
#if defined(TENON_MIN_MAX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_MIN_MAX_INL
#undef TENON_MIN_MAX_INL
#else
#define TENON_MIN_MAX_INL
#endif

#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// True if the target's maximum and minimum instructions are equivalent to comparisons: x86's are, and for integers
/// there is no difference.
template <class V>
constexpr bool ComparesByInstruction = HWY_ARCH_X86 || std::is_integral_v<hn::TFromV<V>>;

/// a > b ? a : b, which is std::max(b, a).
template <class V>
HWY_INLINE V GreaterOf(V a, V b)
{
    if constexpr (ComparesByInstruction<V>)
    {
        return hn::Max(a, b);
    }
    else
    {
        return hn::IfThenElse(hn::Gt(a, b), a, b);
    }
}

/// a < b ? a : b, which is std::min(b, a).
template <class V>
HWY_INLINE V LessOf(V a, V b)
{
    if constexpr (ComparesByInstruction<V>)
    {
        return hn::Min(a, b);
    }
    else
    {
        return hn::IfThenElse(hn::Lt(a, b), a, b);
    }
}

/// min(x, high), NaN of NaN. Arm's instruction would return `high` for NaN.
template <class V>
HWY_INLINE V LesserOrNaN(V x, V high)
{
    return LessOf(high, x);
}

/// min(max(x, low), high) as the standard library has it: NaN of NaN, as backends::FloatClamp.
template <class V>
HWY_INLINE V Clamped(V x, V low, V high)
{
    return LesserOrNaN(GreaterOf(low, x), high);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
