// SPDX-License-Identifier: Apache-2.0
// Functions of floats that take polynomials, on vectors: Highway's where it has them, made good for all of the numbers:
// infinities, NaN and what over- or underflows. Included by sources with vector code after simd/Foreach.hpp, once for
// each target.
#if defined(TENON_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_MATH_INL
#undef TENON_MATH_INL
#else
#define TENON_MATH_INL
#endif

#include <hwy/highway.h>
// After it: the same namespace per target.
#include <hwy/contrib/math/math-inl.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// x where that is NaN, else y.
template <class V>
HWY_INLINE V KeepNaN(V x, V y)
{
    return hn::IfThenElse(hn::IsNaN(x), x, y);
}

/// log(x): minus infinity of 0, NaN of what is below.
template <class D, class V>
HWY_INLINE V LogOf(D d, V x)
{
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const V none = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
    V result = hn::IfThenElse(hn::Eq(x, infinity), infinity, hn::Log(d, x));
    result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
    return KeepNaN(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), none, result));
}

/// x, parted for its exponential: exp(x) is exp(m_Rest) times a power of two.
template <class V>
struct Exponent
{
    V m_Rest;    ///< half of log(2) at most
    V m_Shifted; ///< ExponentShifter and the power
};

/// Added to a number of at most 2^22, this leaves what is left of it, rounded, in the lowest bits, with the bias of an
/// exponent of floats.
constexpr float ExponentShifter = 12582912.0f + 127.0f;

/// `halvings`: by how much the power of two is less.
template <class D, class V>
HWY_INLINE Exponent<V> PartExponent(D d, V x, int halvings = 0)
{
    constexpr float OverLogTwo = 1.44269504f;
    constexpr float LogTwoHigh = 0.693145752f; // of 16 bits: its products with exponents are exact
    constexpr float LogTwoLow = 1.42860677e-6f;
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

/// (exp(x) - 1) / x for |x| up to half of log(2): interpolated at the nodes of Chebyshev, off by 1e-8.
template <class D, class V>
HWY_INLINE V SlopeOfExp(D d, V x)
{
    V sum = hn::Set(d, 0.00139263261f);
    sum = hn::MulAdd(sum, x, hn::Set(d, 0.00836329255f));
    sum = hn::MulAdd(sum, x, hn::Set(d, 0.0416665524f));
    sum = hn::MulAdd(sum, x, hn::Set(d, 0.166665763f));
    sum = hn::MulAdd(sum, x, hn::Set(d, 0.5f));
    return hn::MulAdd(sum, x, hn::Set(d, 1.0f));
}

/// exp(x) / 2^halvings for x of at most 88, and 0 where that would be a subnormal number, but for the largest of these:
/// half of the work of ExpOf. `halvings`: from 0 to 64.
template <class D, class V>
HWY_INLINE V ExpUpTo88(D d, V x, int halvings = 0)
{
    constexpr float LogOfLeast = -87.3365447f;
    constexpr float LogTwo = 0.693147181f;
    const Exponent<V> exponent = PartExponent(d, x, halvings);
    const V power = hn::MulAdd(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest, hn::Set(d, 1.0f));
    const V least = hn::Set(d, LogOfLeast + LogTwo * static_cast<float>(halvings));
    return hn::IfThenZeroElse(hn::Lt(x, least), hn::Mul(power, ScaleOf(d, exponent)));
}

/// exp(x)
template <class D, class V>
HWY_INLINE V ExpOf(D d, V x)
{
    const V least = hn::Set(d, -104.0f); // whose result is 0, and infinite that of the largest
    const V bounded = hn::Max(hn::Min(x, hn::Set(d, 89.0f)), least);
    const Exponent<V> exponent = PartExponent(d, bounded);
    const V power = hn::MulAdd(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest, hn::Set(d, 1.0f));
    // The power of two may be no float: two factors are.
    const hn::RebindToSigned<D> dBits;
    const auto biased = hn::BitCast(dBits, exponent.m_Shifted);
    const auto number = hn::Sub(biased, hn::BitCast(dBits, hn::Set(d, ExponentShifter)));
    const auto half = hn::ShiftRight<1>(number);
    const V lower = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, hn::Set(dBits, 127))));
    const V upper = hn::BitCast(d, hn::ShiftLeft<23>(hn::Sub(biased, half)));
    const V result = hn::Mul(hn::Mul(power, lower), upper);
    return KeepNaN(x, result);
}

/// exp(x) - 1 for x of at most 0; anything above.
template <class D, class V>
HWY_INLINE V Expm1Below0(D d, V x)
{
    const V least = hn::Set(d, -20.0f); // whose result is -1
    const V bounded = hn::IfThenElse(hn::Lt(x, least), least, x);
    const Exponent<V> exponent = PartExponent(d, bounded);
    const V rest = hn::Mul(SlopeOfExp(d, exponent.m_Rest), exponent.m_Rest);
    const V scale = ScaleOf(d, exponent);
    return hn::MulAdd(rest, scale, hn::Sub(scale, hn::Set(d, 1.0f)));
}

/// tanh(x)
template <class D, class V>
HWY_INLINE V TanHOf(D d, V x)
{
    // With y = exp(-2|x|) - 1 it is -y / (2 + y), of the sign of x.
    const V y = Expm1Below0(d, hn::Mul(hn::Set(d, -2.0f), hn::Abs(x)));
    return hn::CopySign(hn::Div(y, hn::Add(hn::Set(d, 2.0f), y)), x);
}

/// 1 / (1 + exp(-x)), with ExpUpTo88's zeros below -87.
template <class D, class V>
HWY_INLINE V SigmoidOf(D d, V x)
{
    const V one = hn::Set(d, 1.0f);
    const V power = ExpUpTo88(d, hn::Neg(hn::Abs(x)));
    const V above = hn::Div(one, hn::Add(one, power)); // of |x|
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(power, above), above);
}

/// erfc(x / sqrt(2)) / 2 for x >= 0: what a normal distribution has above x.
template <class D, class V>
HWY_INLINE V NormalTail(D d, V x)
{
    // exp(z^2) erfc(z) (1 + z/2) / 2 is a polynomial of t = 1 / (1 + z/2), here interpolated at the nodes of Chebyshev
    // on [0.16, 1]: off by 5e-8.
    constexpr float Coefficients[] = {0.14104076986f,  0.141233582965f,   0.12119786093f,
                                      0.10280817139f,  -0.0168903564795f, 0.14434706511f,
                                      -0.24831346446f, 0.144582751515f,   -0.030006402554f};
    constexpr float HalfOverSqrtTwo = 0.35355339059f;
    const V one = hn::Set(d, 1.0f);
    const V bounded = hn::Min(x, hn::Set(d, 15.0f)); // where the result has become 0
    const V t = hn::Div(one, hn::MulAdd(bounded, hn::Set(d, HalfOverSqrtTwo), one));
    V sum = hn::Set(d, Coefficients[8]);
    HWY_UNROLL(8)
    for (int i = 7; i >= 0; --i)
    {
        sum = hn::MulAdd(sum, t, hn::Set(d, Coefficients[i]));
    }
    // The rounding of the square makes the result off by x^2 / 2 times that of a float: by 1e-6 where it is 1e-8.
    const V power = ExpUpTo88(d, hn::Mul(hn::Mul(hn::Set(d, -0.5f), bounded), bounded));
    return KeepNaN(x, hn::Mul(hn::Mul(sum, t), power));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
