// SPDX-License-Identifier: Apache-2.0
// Loops of binary operations on Float32, BFloat16 and Signed32.
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/BinaryUnquantized.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

// Arithmetic in double precision, where float is too coarse, and powers by it. 32-bit Arm has no vectors of doubles.
#if HWY_HAVE_FLOAT64

/// f(d, x, y) in doubles, computed by halves of the vectors of floats x and y. Results are rounded to float.
template <class D, class V, typename F>
HWY_INLINE V InDoubles(D d, V x, V y, const F& f)
{
    const hn::RepartitionToWide<D> dWide;
    const hn::Half<D> dHalf;
    const auto widen = [&](auto half) HWY_ATTR { return hn::PromoteTo(dWide, half); };
    const auto lower = f(dWide, widen(hn::LowerHalf(dHalf, x)), widen(hn::LowerHalf(dHalf, y)));
    const auto upper = f(dWide, widen(hn::UpperHalf(dHalf, x)), widen(hn::UpperHalf(dHalf, y)));
    return hn::Combine(d, hn::DemoteTo(dHalf, upper), hn::DemoteTo(dHalf, lower));
}

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
    const V maxExponent = hn::Set(d, 200.0);
    const V exponent = hn::Max(hn::Min(hn::Mul(logarithm, y), maxExponent), hn::Neg(maxExponent));
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

namespace
{

struct AddVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return hn::Add(a, b);
    }
};

struct SubVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return hn::Sub(a, b);
    }
};

struct MulVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return hn::Mul(a, b);
    }
};

struct DivVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return Quotient(a, b);
    }
};

#if HWY_HAVE_FLOAT64
/// In double, as TFLite: a float quotient may be rounded up to a whole number.
struct FloorDivVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return InDoubles(hn::DFromV<V>(), a, b, [](auto, auto x, auto y) HWY_ATTR { return hn::Floor(hn::Div(x, y)); });
    }
};

struct PowerVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return PowerOf(hn::DFromV<V>(), a, b);
    }
};
#endif

struct MaximumVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return GreaterOf(a, b);
    }
};

struct MinimumVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return LessOf(a, b);
    }
};

struct SqDiffVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        const V difference = hn::Sub(a, b);
        return hn::Mul(difference, difference);
    }
};

struct PreluVectors
{
    template <class V>
    HWY_INLINE V operator()(V a, V b) const
    {
        return hn::IfThenElse(hn::Ge(a, hn::Zero(hn::DFromV<V>())), a, hn::Mul(a, b));
    }
};

/// Load and store of elements that are computed in their own type: float and int32.
template <class D>
struct Plain
{
    using Tag = D; ///< the tag of stored elements
    static HWY_INLINE hn::Vec<D> Widen(hn::Vec<D> v) { return v; }
    static HWY_INLINE hn::Vec<D> Round(hn::Vec<D> v) { return v; }
};

/// BFloat16, computed as float.
struct Bf16
{
    using Tag = TagUint16;
    static HWY_INLINE VecF32 Widen(hn::Vec<TagUint16> halves)
    {
        return hn::BitCast(TagF32(), hn::ShiftLeft<16>(hn::PromoteTo(TagUint32(), halves)));
    }
    static HWY_INLINE hn::Vec<TagUint16> Round(VecF32 x) { return RoundToBf16(x); }
};

#if HWY_TARGET == HWY_AVX3
/// BFloat16, rounded by the instruction of AVX512-BF16.
struct FastBf16 : Bf16
{
    static HWY_INLINE hn::Vec<TagUint16> Round(VecF32 x) { return RoundMostToBf16(x); }
};
#endif

template <typename Operation, class Stored, bool Clamps, OperandForms M>
void Run(const void* a, const void* b, void* out, size_t count, FloatBounds bounds)
{
    const typename Stored::Tag dStored;
    using T = hn::TFromD<typename Stored::Tag>;
    using D = hn::DFromV<decltype(Stored::Widen(hn::Zero(dStored)))>;
    const D d;
    const auto low = hn::Set(d, static_cast<hn::TFromD<D>>(bounds.m_Low));
    const auto high = hn::Set(d, static_cast<hn::TFromD<D>>(bounds.m_High));
    MapPairs<M == OperandForms::ScalarVector, M == OperandForms::VectorScalar>(
        dStored, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(out), count,
        [&](auto x, auto y) HWY_ATTR
        {
            auto result = Operation()(Stored::Widen(x), Stored::Widen(y));
            if constexpr (Clamps)
            {
                result = Clamped(result, low, high);
            }
            return Stored::Round(result);
        });
}

template <typename Operation, class Stored, bool Clamps>
BinaryLoop ForOperandForms(OperandForms forms)
{
    switch (forms)
    {
    case OperandForms::VectorVector: return Run<Operation, Stored, Clamps, OperandForms::VectorVector>;
    case OperandForms::VectorScalar: return Run<Operation, Stored, Clamps, OperandForms::VectorScalar>;
    case OperandForms::ScalarVector: break;
    }
    return Run<Operation, Stored, Clamps, OperandForms::ScalarVector>;
}

/// An operation with a fused activation.
template <typename Operation, class Stored>
BinaryLoop Fusable(OperandForms forms, bool clamps)
{
    return clamps ? ForOperandForms<Operation, Stored, true>(forms) : ForOperandForms<Operation, Stored, false>(forms);
}

template <class Stored>
BinaryLoop ForFloats(BinaryOperation operation, OperandForms forms, bool clamps)
{
    switch (operation)
    {
    case BinaryOperation::Add: return Fusable<AddVectors, Stored>(forms, clamps);
    case BinaryOperation::Sub: return Fusable<SubVectors, Stored>(forms, clamps);
    case BinaryOperation::Mul: return Fusable<MulVectors, Stored>(forms, clamps);
    case BinaryOperation::Div: return Fusable<DivVectors, Stored>(forms, clamps);
    case BinaryOperation::Maximum: return ForOperandForms<MaximumVectors, Stored, false>(forms);
    case BinaryOperation::Minimum: return ForOperandForms<MinimumVectors, Stored, false>(forms);
    case BinaryOperation::SqDiff: return ForOperandForms<SqDiffVectors, Stored, false>(forms);
#if HWY_HAVE_FLOAT64
    case BinaryOperation::FloorDiv: return ForOperandForms<FloorDivVectors, Stored, false>(forms);
    case BinaryOperation::Power: return ForOperandForms<PowerVectors, Stored, false>(forms);
#endif
    default: return nullptr;
    }
}

BinaryLoop FindLoop(BinaryOperation operation, DataType type, OperandForms forms, bool clamps)
{
    if (type == DataType::Signed32)
    {
        switch (operation)
        {
        case BinaryOperation::Add: return ForOperandForms<AddVectors, Plain<TagInt32>, false>(forms);
        case BinaryOperation::Sub: return ForOperandForms<SubVectors, Plain<TagInt32>, false>(forms);
        case BinaryOperation::Mul: return ForOperandForms<MulVectors, Plain<TagInt32>, false>(forms);
        case BinaryOperation::Maximum: return ForOperandForms<MaximumVectors, Plain<TagInt32>, false>(forms);
        case BinaryOperation::Minimum: return ForOperandForms<MinimumVectors, Plain<TagInt32>, false>(forms);
        case BinaryOperation::SqDiff: return ForOperandForms<SqDiffVectors, Plain<TagInt32>, false>(forms);
        default: return nullptr;
        }
    }
    if (type == DataType::BFloat16)
    {
#if HWY_TARGET == HWY_AVX3
        if (GetCpuFeatures().m_Avx512Bf16)
        {
            return ForFloats<FastBf16>(operation, forms, clamps);
        }
#endif
        return ForFloats<Bf16>(operation, forms, clamps);
    }
    return ForFloats<Plain<TagF32>>(operation, forms, clamps);
}

BinaryLoop FindPreluLoop(OperandForms forms)
{
    return ForOperandForms<PreluVectors, Plain<TagF32>, false>(forms);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

BinaryLoop FindBinaryLoop(BinaryOperation operation, DataType type, OperandForms forms, bool clamps)
{
    return TENON_CHOOSE(FindLoop)(operation, type, forms, clamps);
}

BinaryLoop FindPrelu(OperandForms forms)
{
    return TENON_CHOOSE(FindPreluLoop)(forms);
}

} // namespace tenon::cpu
#endif
