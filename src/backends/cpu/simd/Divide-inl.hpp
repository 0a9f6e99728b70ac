// SPDX-License-Identifier: Apache-2.0
// Quotients, square roots and whole numbers of vectors of floats as IEEE has them, on every target. Included by sources
// with vector code after simd/Foreach.hpp, once for each target.
//
// 32-bit Arm has no vector instructions for them. Highway comes near to quotients and roots there: the last bit may be
// another, the reciprocal of a number above 2^126 is lost, and the root of infinity is NaN. The scalar instructions are
// exact. Rounded by way of integers, a zero has lost its sign.
#if defined(TENON_DIVIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_DIVIDE_INL
#undef TENON_DIVIDE_INL
#else
#define TENON_DIVIDE_INL
#endif

#include <hwy/highway.h>

#include <cmath>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// a / b
template <class V>
HWY_INLINE V Quotient(V a, V b)
{
#if HWY_ARCH_ARM_V7
    const hn::DFromV<V> d;
    HWY_ALIGN float x[hn::MaxLanes(d)];
    HWY_ALIGN float y[hn::MaxLanes(d)];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    for (size_t i = 0; i < hn::MaxLanes(d); ++i)
    {
        x[i] /= y[i];
    }
    return hn::Load(d, x);
#else
    return hn::Div(a, b);
#endif
}

template <class V>
HWY_INLINE V RootOf(V x)
{
#if HWY_ARCH_ARM_V7
    const hn::DFromV<V> d;
    HWY_ALIGN float values[hn::MaxLanes(d)];
    hn::Store(x, d, values);
    for (float& value : values)
    {
        value = std::sqrt(value);
    }
    return hn::Load(d, values);
#elif HWY_TARGET == HWY_AVX3
    const hn::DFromV<V> d;
    if constexpr (!std::is_same_v<decltype(d), const hn::ScalableTag<float>>)
    {
        return hn::Sqrt(x); // estimates have 12 bits there
    }
    else
    {
        // Its instruction keeps the unit that divides busy for longer than this takes: of each mantissa, the root and
        // half its inverse by a step of Goldschmidt's from an estimate of 14 bits, and what the root's square leaves
        // over.
        const hn::RebindToUnsigned<decltype(d)> dBits;
        const auto least = hn::BitCast(dBits, hn::Set(d, 0x1p-90f)); // below, what is left over may be subnormal
        const auto range = hn::Sub(hn::BitCast(dBits, hn::Set(d, 0x1p126f)), least);
        if (HWY_UNLIKELY(!hn::AllFalse(dBits, hn::Gt(hn::Sub(hn::BitCast(dBits, x), least), range))))
        {
            return hn::Sqrt(x);
        }
        const V half = hn::Set(d, 0.5f);
        const V inverse = hn::ApproximateReciprocalSqrt(x);
        const V estimate = hn::Mul(x, inverse);
        const V halfInverse = hn::Mul(inverse, half);
        const V error = hn::NegMulAdd(estimate, halfInverse, half);
        const V root = hn::MulAdd(estimate, error, estimate);
        return hn::MulAdd(hn::NegMulAdd(root, root, x), hn::MulAdd(halfInverse, error, halfInverse), root);
    }
#else
    return hn::Sqrt(x);
#endif
}

/// What x was rounded to, with the sign of x.
template <class V>
HWY_INLINE V KeepSign([[maybe_unused]] V x, V rounded)
{
    return HWY_ARCH_ARM_V7 ? hn::CopySign(rounded, x) : rounded;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
