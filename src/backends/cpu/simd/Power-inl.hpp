// SPDX-License-Identifier: Apache-2.0
// Powers of vectors of floats, computed in doubles. Empty for targets without vectors of doubles (32-bit Arm). For
// sources with Foreach.hpp.
#if defined(TENON_POWER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_POWER_INL
#undef TENON_POWER_INL
#else
#define TENON_POWER_INL
#endif

#include "backends/cpu/simd/Doubles-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64

/// x^y for x >= 0 that is no NaN and a finite y, both in the range of float. The relative error is at most 1.9e-8.
template <class D, class V>
HWY_INLINE V PowerOfPositive(D d, V x, V y)
{
    const hn::RebindToUnsigned<D> dBits;
    constexpr int MantissaBits = 52;
    const auto zero = hn::Zero(d);
    const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
    // x = 2^e * (1 + r) with 1 + r from 2/3 to 4/3; log2(1 + r) is r P(r). P is interpolated at Chebyshev nodes, with a
    // relative error of 1.2e-10. The exponent e becomes a double by bits, as there is no instruction for 64-bit
    // integers: e + 1024 is positive and is put into the lowest bits of 2^52.
    constexpr double Logarithm[] = {1.4426950407511904,   -0.72134752031617991, 0.48089843611986277,
                                    -0.36067384324899752, 0.28852971178898946,  -0.24044051682551823,
                                    0.20645115648682987,  -0.18066448858917147, 0.15435798562573779,
                                    -0.13873900925007117, 0.17596485110360606,  -0.16191322261261994};
    constexpr uint64_t Bias = uint64_t{1024} << MantissaBits;
    const auto bits = hn::Add(hn::BitCast(dBits, x), hn::Set(dBits, Bias));
    const auto shifted = hn::ShiftRight<MantissaBits>(hn::Sub(bits, hn::BitCast(dBits, hn::Set(d, 2.0 / 3.0))));
    const V power =
        hn::Sub(hn::BitCast(d, hn::Or(shifted, hn::BitCast(dBits, hn::Set(d, 0x1p52)))), hn::Set(d, 0x1p52 + 1024.0));
    const V rest = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<MantissaBits>(shifted))), hn::Set(d, 1.0));
    V logarithm = hn::MulAdd(rest, PolynomialOf(d, rest, Logarithm), power);
    // The logarithm of 0 and infinity: so large that its product with any y but 0 is outside of float's range.
    logarithm = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -1e300), logarithm);
    logarithm = hn::IfThenElse(hn::Eq(x, infinity), hn::Set(d, 1e300), logarithm);
    // The power of two of the whole number becomes an exponent; the polynomial for the rest, from -1/2 to 1/2, is
    // interpolated at Chebyshev nodes, with an error of 2.6e-9. Beyond 200, floats are infinite or 0 and doubles are
    // still finite.
    constexpr double Exponential[] = {1.0,
                                      0.6931472067028326,
                                      0.24022650922288758,
                                      0.055503272266703021,
                                      0.0096180566785246381,
                                      0.0013400428177615838,
                                      0.00015461444698569129};
    const V most = hn::Set(d, 200.0);
    const V exponent = hn::Max(hn::Min(hn::Mul(logarithm, y), most), hn::Neg(most));
    const V shifter = hn::Set(d, 0x1.8p52 + 1023.0);
    const V whole = hn::Add(exponent, shifter);
    const V fraction = hn::Sub(exponent, hn::Sub(whole, shifter));
    const V scale = hn::BitCast(d, hn::ShiftLeft<MantissaBits>(hn::BitCast(dBits, whole)));
    return hn::Mul(PolynomialOf(d, fraction, Exponential), scale);
}

/// x^y for an x that is no NaN and a finite y. The result for others is unspecified.
template <class D, class V>
HWY_INLINE V PowerOfFinite(D d, V x, V y)
{
    const V result =
        InDoubles(d, hn::Abs(x), y,
                  [](auto dWide, auto base, auto exponent) HWY_ATTR { return PowerOfPositive(dWide, base, exponent); });
    // For negative x, odd powers are negative. Powers that are not whole numbers are NaN, except those of infinity.
    const V half = hn::Mul(y, hn::Set(d, 0.5f));
    const auto isWhole = hn::Eq(hn::Round(y), y);
    const auto isOdd = hn::AndNot(hn::Eq(hn::Round(half), half), isWhole);
    const V sign = hn::And(x, hn::SignBit(d));
    const V signedResult = hn::Or(result, hn::IfThenElseZero(isOdd, sign));
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto isBelow = hn::And(hn::Lt(x, hn::Zero(d)), hn::Gt(x, hn::Neg(infinity)));
    const V real =
        hn::IfThenElse(hn::AndNot(isWhole, isBelow), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), signedResult);
    return hn::IfThenElse(hn::Eq(y, hn::Set(d, 2.0f)), hn::Mul(x, x), real);
}

/// x^y of any x and y.
template <class D, class V>
HWY_NOINLINE V PowerOfAny(D d, V x, V y)
{
    HWY_ALIGN float bases[hn::MaxLanes(d)];
    HWY_ALIGN float exponents[hn::MaxLanes(d)];
    HWY_ALIGN float results[hn::MaxLanes(d)];
    hn::Store(x, d, bases);
    hn::Store(y, d, exponents);
    hn::Store(PowerOfFinite(d, x, y), d, results);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
    {
        if (std::isnan(bases[i]) || !std::isfinite(exponents[i]))
        {
            results[i] = std::pow(bases[i], exponents[i]);
        }
    }
    return hn::Load(d, results);
}

/// x^y with the results of std::pow's special cases. A result never depends on the other lanes of its vector, since
/// networks may be split into vectors in more than one way.
template <class D, class V>
HWY_INLINE V PowerOf(D d, V x, V y)
{
    if (hn::AllTrue(d, hn::Eq(y, hn::Set(d, 2.0f)))) // y is 2, as in each variance: a shortcut that only saves time
    {
        return hn::Mul(x, x);
    }
    // The difference of finite equal numbers is 0.
    const auto isFinite = hn::And(hn::Eq(hn::Sub(y, y), hn::Zero(d)), hn::Eq(x, x));
    return HWY_LIKELY(hn::AllTrue(d, isFinite)) ? PowerOfFinite(d, x, y) : PowerOfAny(d, x, y);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
