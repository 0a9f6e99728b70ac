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

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Whether the instructions for maximum and minimum are defined as comparisons: those of x86 are, and integers leave
/// nothing to define.
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

/// min(x, high), NaN of NaN. Arm's instruction would give the number instead.
template <class V>
HWY_INLINE V LesserOrNaN(V x, V high)
{
    return LessOf(high, x);
}

/// min(max(x, low), high) of the standard library: NaN of NaN, as backends::FloatClamp gives it.
template <class V>
HWY_INLINE V Clamped(V x, V low, V high)
{
    return LesserOrNaN(GreaterOf(low, x), high);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
