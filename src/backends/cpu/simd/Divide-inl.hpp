// SPDX-License-Identifier: Apache-2.0
// Quotients, square roots and rounding to whole numbers of vectors of floats, with IEEE results on every target. For
// sources with Foreach.hpp.
//
// 32-bit Arm has no vector instructions for them. Highway's approximations there differ: the last bit of quotients and
// roots may be wrong, the reciprocal of a number above 2^126 is lost, and the root of infinity is NaN. The scalar
// instructions are exact. Rounding by way of integers loses the sign of zero.
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
        return hn::Sqrt(x); // the estimate instruction has 12 bits there
    }
    else
    {
        // The instruction keeps the division unit busy for longer than this sequence takes: an estimate of 14 bits for
        // each mantissa, one step of Goldschmidt's algorithm for the root and half of its inverse, and a correction by
        // the remainder x - root^2.
        const hn::RebindToUnsigned<decltype(d)> dBits;
        const auto minimum = hn::BitCast(dBits, hn::Set(d, 0x1p-90f)); // below it the remainder may be subnormal
        const auto range = hn::Sub(hn::BitCast(dBits, hn::Set(d, 0x1p126f)), minimum);
        if (HWY_UNLIKELY(!hn::AllFalse(dBits, hn::Gt(hn::Sub(hn::BitCast(dBits, x), minimum), range))))
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

/// `rounded` with the sign of x, for zeros that have lost it.
template <class V>
HWY_INLINE V KeepSign([[maybe_unused]] V x, V rounded)
{
    return HWY_ARCH_ARM_V7 ? hn::CopySign(rounded, x) : rounded;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
