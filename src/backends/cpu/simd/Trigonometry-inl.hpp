// SPDX-License-Identifier: Apache-2.0
// Sine and cosine of vectors of floats. The error is at most three units in the last place; arguments of many half
// turns go to the standard library. For sources with Foreach.hpp.
#if defined(TENON_TRIGONOMETRY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_TRIGONOMETRY_INL
#undef TENON_TRIGONOMETRY_INL
#else
#define TENON_TRIGONOMETRY_INL
#endif

#include "backends/cpu/simd/Math-inl.hpp"

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

constexpr float FewTurns = 39000.0f; // up to here half turns are subtracted exactly

/// Pi as a sum of constants (Cody and Waite 1980), all positive, so that -0 stays -0. Products with numbers of half
/// turns up to FewTurns are exact, alone or fused with the subtraction.
#if HWY_NATIVE_FMA
constexpr float PiParts[] = {3.1415925f, 1.5099579e-7f, 1.0780606e-14f};
#else
constexpr float PiParts[] = {3.140625f, 0.000967025757f, 6.27711415e-7f, 1.21541999e-10f};
#endif

/// `results`, replaced by function(x) in lanes beyond FewTurns or with NaN.
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
HWY_INLINE bool HasFewTurns(D d, V x)
{
    return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, FewTurns)));
}

/// sin(x) for |x| up to FewTurns. `IsCos`: cos(x), as the sine of x shifted by a quarter turn.
template <bool IsCos, class D, class V>
HWY_INLINE V SineOfFewTurns(D d, V x)
{
    constexpr float OverPi = 0.318309886f;
    // Rounding by a magic number: added to a number of at most 2^22, it leaves the nearest integer in the lowest bits.
    constexpr float Shifter = 12582912.0f;
    // (1 + r^2 P(r^2)) r for |r| up to a quarter turn, fitted with the smallest maximum relative error, 6e-9.
    constexpr float Coefficients[] = {-0.166666597f, 0.00833306555f, -0.000198095382f, 2.60563047e-6f};
    const hn::RebindToUnsigned<D> dBits;
    const V shifter = hn::Set(d, Shifter);
    const V half = hn::Set(d, 0.5f);
    const V shifted =
        IsCos ? hn::Add(hn::MulAdd(x, hn::Set(d, OverPi), half), shifter) : hn::MulAdd(x, hn::Set(d, OverPi), shifter);
    const V whole = hn::Sub(shifted, shifter);
    const V taken = IsCos ? hn::Sub(whole, half) : whole;
    V rest = x;
    HWY_UNROLL(4)
    for (const float part : PiParts)
    {
        rest = hn::NegMulAdd(taken, hn::Set(d, part), rest);
    }
    const V square = hn::Mul(rest, rest);
    const V slope = hn::MulAdd(PolynomialOf(d, square, Coefficients), square, hn::Set(d, 1.0f));
    const auto sign = hn::ShiftLeft<31>(hn::BitCast(dBits, shifted)); // set for an odd number of half turns
    return hn::BitCast(d, hn::Xor(hn::BitCast(dBits, hn::Mul(slope, rest)), sign));
}

template <class D, class V>
HWY_INLINE V SinOf(D d, V x)
{
    const V sines = SineOfFewTurns<false>(d, x);
    return HWY_LIKELY(HasFewTurns(d, x)) ? sines : MendManyTurns(d, x, sines, [](float y) { return std::sin(y); });
}

template <class D, class V>
HWY_INLINE V CosOf(D d, V x)
{
    const V cosines = SineOfFewTurns<true>(d, x);
    return HWY_LIKELY(HasFewTurns(d, x)) ? cosines : MendManyTurns(d, x, cosines, [](float y) { return std::cos(y); });
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
