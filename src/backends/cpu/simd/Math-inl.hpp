// SPDX-License-Identifier: Apache-2.0
// Transcendental functions of vectors of floats. Highway's functions are used where they exist, corrected for
// infinities, NaN, overflow and underflow. Sine and cosine have an error of at most three units in the last place;
// arguments of many half turns go to the standard library. For sources with Foreach.hpp.
#if defined(TENON_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_MATH_INL
#undef TENON_MATH_INL
#else
#define TENON_MATH_INL
#endif

#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

#include <hwy/highway.h>
// Included last: the same namespace for each target.
#include <hwy/contrib/math/math-inl.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// x if that is NaN, else y.
template <class V>
HWY_INLINE V KeepNaN(V x, V y)
{
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// A polynomial of x; coefficients begin with that of x^0. Terms are taken in pairs, as a polynomial of x^2 (Estrin's
/// scheme, one level). That halves the chain of dependent operations, which limits loops over such functions.
template <class D, class V, size_t Count>
HWY_INLINE V PolynomialOf(D d, V x, const hn::TFromD<D> (&coefficients)[Count])
{
    static_assert(Count >= 3);
    const auto pair = [&](size_t i) HWY_ATTR
    { return hn::MulAdd(hn::Set(d, coefficients[i + 1]), x, hn::Set(d, coefficients[i])); };
    const V square = hn::Mul(x, x);
    constexpr size_t Even = Count / 2 * 2;
    V sum = Count > Even ? hn::MulAdd(hn::Set(d, coefficients[Count - 1]), square, pair(Even - 2)) : pair(Even - 2);
    HWY_UNROLL(8)
    for (size_t i = 4; i <= Even; i += 2)
    {
        sum = hn::MulAdd(sum, square, pair(Even - i));
    }
    return sum;
}

constexpr float LogTwoHigh = 0.693145752f; // 16 significant bits: its products with exponents are exact
constexpr float LogTwoLow = 1.42860677e-6f;

/// log(x) - shift * log(2) of a normal, finite x above 0.
template <class D, class V>
HWY_INLINE V LogOfOrdinary(D d, V x, V shift)
{
    // x = 2^e * (1 + r) with 1 + r from 2/3 to 4/3; log(1 + r) is r + r^2 P(r). P is fitted with the smallest maximum
    // relative error, 2.6e-8.
    constexpr float Coefficients[] = {-0.499999360683f, 0.333331981949f, -0.250078195937f, 0.200111648241f,
                                      -0.164159488508f, 0.139958721027f, -0.153885986175f, 0.140260385355f};
    const hn::RebindToSigned<D> dBits;
    const auto bits = hn::BitCast(dBits, x);
    const auto power = hn::ShiftRight<23>(hn::Sub(bits, hn::BitCast(dBits, hn::Set(d, 0.666666687f))));
    const V rest = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(power))), hn::Set(d, 1.0f));
    const V logarithm = hn::MulAdd(hn::Mul(rest, rest), PolynomialOf(d, rest, Coefficients), rest);
    const V exponent = hn::Sub(hn::ConvertTo(d, power), shift);
    return hn::MulAdd(exponent, hn::Set(d, LogTwoHigh), hn::MulAdd(exponent, hn::Set(d, LogTwoLow), logarithm));
}

/// log(x) of any x: minus infinity of 0, NaN of negative numbers.
template <class D, class V>
HWY_NOINLINE V LogOfAny(D d, V x)
{
    using Limits = std::numeric_limits<float>;
    constexpr float MantissaBits = 23.0f; // subnormal numbers are scaled by 2^23
    const V infinity = hn::Set(d, Limits::infinity());
    const auto isSmall = hn::Lt(x, hn::Set(d, Limits::min()));
    const V normal = hn::IfThenElse(isSmall, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
    const V result = LogOfOrdinary(d, normal, hn::IfThenElseZero(isSmall, hn::Set(d, MantissaBits)));
    const V below = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), hn::Set(d, Limits::quiet_NaN()));
    const V positive = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), positive, KeepNaN(x, below));
}

/// log(x)
template <class D, class V>
HWY_INLINE V LogOf(D d, V x)
{
    using Limits = std::numeric_limits<float>;
    const auto isOrdinary = hn::And(hn::Ge(x, hn::Set(d, Limits::min())), hn::Le(x, hn::Set(d, Limits::max())));
    return HWY_LIKELY(hn::AllTrue(d, isOrdinary)) ? LogOfOrdinary(d, x, hn::Zero(d)) : LogOfAny(d, x);
}

/// x, decomposed for its exponential: exp(x) is exp(m_Rest) times a power of two.
template <class V>
struct Exponent
{
    V m_Rest;    ///< at most log(2) / 2
    V m_Shifted; ///< ExponentShifter plus the exponent of two
};

/// The magic number for rounding: added to a number of at most 2^22 in magnitude, it leaves the nearest integer, plus
/// the exponent bias of floats, in the lowest bits.
constexpr float ExponentShifter = 12582912.0f + 127.0f;

/// `halvings`: this many is subtracted from the exponent of two.
template <class D, class V>
HWY_INLINE Exponent<V> PartExponent(D d, V x, int halvings = 0)
{
    constexpr float OverLogTwo = 1.44269504f;
    const V shifter = hn::Set(d, ExponentShifter - static_cast<float>(halvings));
    const V shifted = hn::MulAdd(x, hn::Set(d, OverLogTwo), shifter);
    const V power = hn::Sub(shifted, shifter);
    const V rest = hn::NegMulAdd(power, hn::Set(d, LogTwoHigh), x);
    return {hn::NegMulAdd(power, hn::Set(d, LogTwoLow), rest), shifted};
}

/// The power of two, for x from -87.3 to 88.
template <class D, class V>
HWY_INLINE V ScaleOf(D d, const Exponent<V>& exponent)
{
    const hn::RebindToSigned<D> dBits;
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(dBits, exponent.m_Shifted)));
}

/// (exp(x) - 1) / x for |x| <= log(2) / 2: a polynomial interpolated at Chebyshev nodes, with an error of 1e-8.
template <class D, class V>
HWY_INLINE V SlopeOfExp(D d, V x)
{
    constexpr float Coefficients[] = {1.0f, 0.5f, 0.166665763f, 0.0416665524f, 0.00836329255f, 0.00139263261f};
    return PolynomialOf(d, x, Coefficients);
}

/// exp(x) / 2^halvings for x <= 88, and 0 for most subnormal results. It takes half of the work of ExpOf. `halvings`: 0
/// to 64.
template <class D, class V>
HWY_INLINE V ExpUpTo88(D d, V x, int halvings = 0)
{
    constexpr float LogOfMinNormal = -87.3365447f;
    constexpr float LogTwo = 0.693147181f;
    const Exponent<V> exponent = PartExponent(d, x, halvings);
    const V power = hn::MulAdd(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest, hn::Set(d, 1.0f));
    const V minimum = hn::Set(d, LogOfMinNormal + LogTwo * static_cast<float>(halvings));
    return hn::IfThenZeroElse(hn::Lt(x, minimum), hn::Mul(power, ScaleOf(d, exponent)));
}

#if HWY_TARGET == HWY_AVX3
/// exp(x) for x from `minimum` to 89. Below `minimum` the result is exp(least), which is 0 for -104; above 89 it is
/// infinite. The result is the product of a power of two (by an instruction that gives subnormal numbers and infinity,
/// too), a power of two from a table of 32, and the exponential of the rest, at most 0.011. Subnormal results take many
/// times as long.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> ExpByTable(hn::Vec<hn::ScalableTag<float>> x, float minimum = -104.0f)
{
    alignas(64) static constexpr float Powers[] = {
        1.0f,        1.0218972f,  1.04427373f, 1.06714046f, 1.09050775f, 1.1143868f,  1.13878858f, 1.1637249f,
        1.18920708f, 1.21524739f, 1.24185777f, 1.26905096f, 1.29683959f, 1.32523668f, 1.35425556f, 1.38390994f,
        1.41421354f, 1.44518077f, 1.47682619f, 1.50916445f, 1.54221082f, 1.5759809f,  1.61049032f, 1.64575553f,
        1.68179286f, 1.71861935f, 1.75625217f, 1.79470909f, 1.8340081f,  1.87416768f, 1.91520655f, 1.95714414f,
    };
    const hn::ScalableTag<float> d;
    using V = hn::Vec<decltype(d)>;
    // The magic number for rounding to multiples of 1/32: the sum has the multiple in its lowest bits.
    const V shifter = hn::Set(d, 12582912.0f / 32.0f);
    const V bounded = Clamped(x, hn::Set(d, minimum), hn::Set(d, 89.0f));
    const V shifted = hn::MulAdd(bounded, hn::Set(d, 1.44269504f), shifter);
    const V power = hn::Sub(shifted, shifter);
    const V part = V{_mm512_permutex2var_ps(hn::Load(d, Powers).raw, _mm512_castps_si512(shifted.raw),
                                            hn::Load(d, Powers + hn::MaxLanes(d)).raw)};
    V rest = hn::NegMulAdd(power, hn::Set(d, LogTwoHigh), bounded);
    rest = hn::NegMulAdd(power, hn::Set(d, LogTwoLow), rest);
    const V slope = hn::MulAdd(rest, hn::Set(d, 0.166671f), hn::Set(d, 0.5f));
    const V less = hn::MulAdd(hn::Mul(slope, rest), rest, rest); // exp(rest) - 1
    return V{_mm512_scalef_ps(hn::MulAdd(part, less, part).raw, power.raw)};
}
#endif

/// exp(x) of any x.
template <class D, class V>
HWY_NOINLINE V ExpOfAny(D d, V x)
{
    const V minimum = hn::Set(d, -104.0f); // the result of `minimum` is 0; exp(89) is infinite
    const V bounded = hn::Max(hn::Min(x, hn::Set(d, 89.0f)), minimum);
    const Exponent<V> exponent = PartExponent(d, bounded);
    const V power = hn::MulAdd(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest, hn::Set(d, 1.0f));
    // The power of two may be outside of float's range, so it is applied as two factors.
    const hn::RebindToSigned<D> dBits;
    const auto biased = hn::BitCast(dBits, exponent.m_Shifted);
    const auto number = hn::Sub(biased, hn::BitCast(dBits, hn::Set(d, ExponentShifter)));
    const auto half = hn::ShiftRight<1>(number);
    const V lower = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, hn::Set(dBits, 127))));
    const V upper = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(biased, half)));
    const V result = hn::Mul(hn::Mul(power, lower), upper);
    return KeepNaN(x, result);
}

/// exp(x)
template <class D, class V>
HWY_INLINE V ExpOf(D d, V x)
{
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<D, hn::ScalableTag<float>>)
    {
        return ExpByTable(x);
    }
#endif
    constexpr float Ordinary = 87.0f; // 2^n and its inverse are floats up to here
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Abs(x), hn::Set(d, Ordinary)))))
    {
        return ExpOfAny(d, x);
    }
    const Exponent<V> exponent = PartExponent(d, x);
    const V power = hn::MulAdd(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest, hn::Set(d, 1.0f));
    return hn::Mul(power, ScaleOf(d, exponent));
}

/// exp(x) - 1 for x <= 0. The result for other x is unspecified.
template <class D, class V>
HWY_INLINE V Expm1Below0(D d, V x)
{
    const V minimum = hn::Set(d, -20.0f);                                // the result is -1
    const Exponent<V> exponent = PartExponent(d, GreaterOf(minimum, x)); // NaN stays NaN
    const V rest = hn::Mul(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest);
    const V scale = ScaleOf(d, exponent);
    return hn::MulAdd(rest, scale, hn::Sub(scale, hn::Set(d, 1.0f)));
}

/// x P(x^2) / Q(x^2), clamped to [-limit, limit]. For |x| above `maximum` the result is that for `maximum`, with the
/// sign of x.
template <class D, class V, size_t CountP, size_t CountQ>
HWY_INLINE V OddRatio(D d, V x, float maximum, float limit, const float (&p)[CountP], const float (&q)[CountQ])
{
    const V bounded = Clamped(x, hn::Set(d, -maximum), hn::Set(d, maximum));
    const V square = hn::Mul(bounded, bounded);
    const V ratio = hn::Div(hn::Mul(bounded, PolynomialOf(d, square, p)), PolynomialOf(d, square, q));
    return Clamped(ratio, hn::Set(d, -limit), hn::Set(d, limit)); // rounding may exceed the limit
}

/// tanh(x)
template <class D, class V>
HWY_INLINE V TanHOf(D d, V x)
{
    // x P(x^2) / Q(x^2), fitted with the smallest maximum relative error, 2.1e-8, for |x| up to 9, where tanh(x) is 1
    // in float.
    constexpr float P[] = {0.99999997961f, 0.133810459838f, 0.00349561157505f, 2.06094405194e-5f, 1.33551071512e-8f};
    constexpr float Q[] = {1.0f, 0.46714361619f, 0.025877073234f, 0.000328567196193f, 7.77675135906e-7f};
    return OddRatio(d, x, 9.0f, 1.0f, P, Q);
}

/// erf(x)
template <class D, class V>
HWY_INLINE V ErfOf(D d, V x)
{
    // The same form, for |x| up to 3.95.
    constexpr float P[] = {1.12837914392f,    0.191545584929f,    0.0528748223618f,
                           0.00380795769202f, 0.000284682944152f, 2.0259426739e-6f};
    constexpr float Q[] = {
        1.0f, 0.503085532144f, 0.114557669941f, 0.0150546839106f, 0.00117067581919f, 3.78319076833e-5f};
    return OddRatio(d, x, 3.95f, 1.0f, P, Q);
}

/// erf(x / sqrt(2)) / 2: the probability that a standard normal variable is between 0 and x. The error is at most
/// 1.7e-7.
template <class D, class V>
HWY_INLINE V NormalFrom0(D d, V x)
{
    // The same form, fitted with the smallest maximum absolute error, 1e-8. At the upper end it is up to 1e-7 above, so
    // that the result is 1/2 from there on.
    constexpr float P[] = {0.398942218f,    0.0344832757f,  0.00471426963f,
                           0.000174959387f, 6.36650979e-6f, 2.20864297e-8f};
    constexpr float Q[] = {1.0f, 0.253102414f, 0.0290025164f, 0.00191937284f, 7.54648697e-5f, 1.17915063e-6f};
    return OddRatio(d, x, 5.7f, 0.5f, P, Q);
}

/// 1 / (1 + exp(-x)), and 0 below -88.8: the smallest subnormal results are flushed.
template <class D, class V>
HWY_INLINE V SigmoidOf(D d, V x)
{
    const V one = hn::Set(d, 1.0f);
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<D, hn::ScalableTag<float>>)
    {
        constexpr float Negligible = -80.0f; // exp(x) is negligible in a sum with 1
        return hn::Div(one, hn::Add(one, ExpByTable(hn::Neg(x), Negligible)));
    }
#endif
    // 2^n is infinite for 89 already.
    const V power = ExpUpTo88(d, LesserOrNaN(hn::Neg(x), hn::Set(d, 89.0f)));
    return hn::Div(one, hn::Add(one, power));
}

/// 1 / sqrt(x), with an error below 1.5 units in the last place. On x86 it starts from an estimate whose last bits
/// differ between processors.
template <class D, class V>
HWY_INLINE V InverseRootOf(D d, V x)
{
    const V one = hn::Set(d, 1.0f);
#if HWY_TARGET == HWY_AVX3
    // One Newton step from a 14-bit estimate, for subnormal numbers, too. Shorter vectors have neither.
    static_assert(std::is_same_v<D, hn::ScalableTag<float>>);
    const V y = hn::ApproximateReciprocalSqrt(x);
    const V r = hn::NegMulAdd(hn::Mul(x, y), y, one);
    const V result = hn::MulAdd(hn::Mul(y, hn::Set(d, 0.5f)), r, y);
    // r is NaN for 0, infinity and negative numbers.
    const auto isNaN = hn::IsNaN(r);
    if (HWY_UNLIKELY(!hn::AllFalse(d, isNaN)))
    {
        return hn::IfThenElse(isNaN, Quotient(one, RootOf(x)), result);
    }
    return result;
#elif HWY_ARCH_X86
    // y (1 - r)^(-1/2): the first terms of its series in r = 1 - x y^2.
    const V y = hn::ApproximateReciprocalSqrt(x);
    const V r = hn::NegMulAdd(hn::Mul(x, y), y, one);
    const V slope = hn::MulAdd(r, hn::Set(d, 0.375f), hn::Set(d, 0.5f));
    const V result = hn::MulAdd(hn::Mul(y, r), slope, y);
    // r is infinite or NaN for 0, subnormal numbers, infinity and negative numbers.
    const auto isSmall = hn::Lt(hn::Abs(r), one);
    if (HWY_UNLIKELY(!hn::AllTrue(d, isSmall)))
    {
        return hn::IfThenElse(isSmall, result, Quotient(one, RootOf(x)));
    }
    return result;
#else
    return Quotient(one, RootOf(x));
#endif
}

constexpr float MaxReducedAngle = 39000.0f; // up to here half turns are subtracted exactly

/// Pi as a sum of constants (Cody and Waite 1980), all positive, so that -0 stays -0. Products with numbers of half
/// turns up to MaxReducedAngle are exact, alone or fused with the subtraction.
#if HWY_NATIVE_FMA
constexpr float PiParts[] = {3.1415925f, 1.5099579e-7f, 1.0780606e-14f};
#else
constexpr float PiParts[] = {3.140625f, 0.000967025757f, 6.27711415e-7f, 1.21541999e-10f};
#endif

/// `results`, replaced by function(x) in lanes beyond MaxReducedAngle or with NaN.
template <class D, class V, typename F>
HWY_NOINLINE V ReplaceLargeAngles(D d, V x, V results, const F& function)
{
    HWY_ALIGN float lanes[hn::MaxLanes(d)];
    HWY_ALIGN float mended[hn::MaxLanes(d)];
    hn::Store(x, d, lanes);
    hn::Store(results, d, mended);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
    {
        mended[i] = std::abs(lanes[i]) <= MaxReducedAngle ? mended[i] : function(lanes[i]);
    }
    return hn::Load(d, mended);
}

template <class D, class V>
HWY_INLINE bool IsReducible(D d, V x)
{
    return hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, MaxReducedAngle)));
}

/// sin(x) for |x| up to MaxReducedAngle. `IsCos`: cos(x), as the sine of x shifted by a quarter turn.
template <bool IsCos, class D, class V>
HWY_INLINE V SineByReduction(D d, V x)
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
    const V sines = SineByReduction<false>(d, x);
    return HWY_LIKELY(IsReducible(d, x)) ? sines : ReplaceLargeAngles(d, x, sines, [](float y) { return std::sin(y); });
}

template <class D, class V>
HWY_INLINE V CosOf(D d, V x)
{
    const V cosines = SineByReduction<true>(d, x);
    return HWY_LIKELY(IsReducible(d, x)) ? cosines
                                         : ReplaceLargeAngles(d, x, cosines, [](float y) { return std::cos(y); });
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
