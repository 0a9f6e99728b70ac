// SPDX-License-Identifier: Apache-2.0
// Loops of binary operations on Float32, BFloat16 and Signed32.
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"

#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/BinaryUnquantized.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/Doubles-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"
#include "backends/cpu/simd/Power-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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
    using Tag = HalfWordTag;
    static HWY_INLINE Floats Widen(hn::Vec<HalfWordTag> halves)
    {
        return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(WordTag(), halves)));
    }
    static HWY_INLINE hn::Vec<HalfWordTag> Round(Floats x) { return RoundToBf16(x); }
};

#if HWY_TARGET == HWY_AVX3
/// BFloat16, rounded by the instruction of AVX512-BF16.
struct FastBf16 : Bf16
{
    static HWY_INLINE hn::Vec<HalfWordTag> Round(Floats x) { return RoundMostToBf16(x); }
};
#endif

template <typename Operation, class Stored, bool Clamps, Motion M>
void Run(const void* a, const void* b, void* out, size_t count, FloatBounds bounds)
{
    const typename Stored::Tag dStored;
    using T = hn::TFromD<typename Stored::Tag>;
    using D = hn::DFromV<decltype(Stored::Widen(hn::Zero(dStored)))>;
    const D d;
    const auto low = hn::Set(d, static_cast<hn::TFromD<D>>(bounds.m_Low));
    const auto high = hn::Set(d, static_cast<hn::TFromD<D>>(bounds.m_High));
    MapPairs<M == Motion::FixedA, M == Motion::FixedB>(
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
NumberBinaryLoop ForMotion(Motion motion)
{
    switch (motion)
    {
    case Motion::Both: return Run<Operation, Stored, Clamps, Motion::Both>;
    case Motion::FixedB: return Run<Operation, Stored, Clamps, Motion::FixedB>;
    case Motion::FixedA: break;
    }
    return Run<Operation, Stored, Clamps, Motion::FixedA>;
}

/// An operation with a fused activation.
template <typename Operation, class Stored>
NumberBinaryLoop Fusable(Motion motion, bool clamps)
{
    return clamps ? ForMotion<Operation, Stored, true>(motion) : ForMotion<Operation, Stored, false>(motion);
}

template <class Stored>
NumberBinaryLoop ForFloats(BinaryOperation operation, Motion motion, bool clamps)
{
    switch (operation)
    {
    case BinaryOperation::Add: return Fusable<AddVectors, Stored>(motion, clamps);
    case BinaryOperation::Sub: return Fusable<SubVectors, Stored>(motion, clamps);
    case BinaryOperation::Mul: return Fusable<MulVectors, Stored>(motion, clamps);
    case BinaryOperation::Div: return Fusable<DivVectors, Stored>(motion, clamps);
    case BinaryOperation::Maximum: return ForMotion<MaximumVectors, Stored, false>(motion);
    case BinaryOperation::Minimum: return ForMotion<MinimumVectors, Stored, false>(motion);
    case BinaryOperation::SqDiff: return ForMotion<SqDiffVectors, Stored, false>(motion);
#if HWY_HAVE_FLOAT64
    case BinaryOperation::FloorDiv: return ForMotion<FloorDivVectors, Stored, false>(motion);
    case BinaryOperation::Power: return ForMotion<PowerVectors, Stored, false>(motion);
#endif
    default: return nullptr;
    }
}

NumberBinaryLoop FindLoop(BinaryOperation operation, DataType type, Motion motion, bool clamps)
{
    if (type == DataType::Signed32)
    {
        switch (operation)
        {
        case BinaryOperation::Add: return ForMotion<AddVectors, Plain<IntTag>, false>(motion);
        case BinaryOperation::Sub: return ForMotion<SubVectors, Plain<IntTag>, false>(motion);
        case BinaryOperation::Mul: return ForMotion<MulVectors, Plain<IntTag>, false>(motion);
        case BinaryOperation::Maximum: return ForMotion<MaximumVectors, Plain<IntTag>, false>(motion);
        case BinaryOperation::Minimum: return ForMotion<MinimumVectors, Plain<IntTag>, false>(motion);
        case BinaryOperation::SqDiff: return ForMotion<SqDiffVectors, Plain<IntTag>, false>(motion);
        default: return nullptr;
        }
    }
    if (type == DataType::BFloat16)
    {
#if HWY_TARGET == HWY_AVX3
        if (GetCpuFeatures().m_Avx512Bf16)
        {
            return ForFloats<FastBf16>(operation, motion, clamps);
        }
#endif
        return ForFloats<Bf16>(operation, motion, clamps);
    }
    return ForFloats<Plain<FloatTag>>(operation, motion, clamps);
}

NumberBinaryLoop FindPreluLoop(Motion motion)
{
    return ForMotion<PreluVectors, Plain<FloatTag>, false>(motion);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

NumberBinaryLoop FindNumberBinary(BinaryOperation operation, DataType type, Motion motion, bool clamps)
{
    return TENON_CHOOSE(FindLoop)(operation, type, motion, clamps);
}

NumberBinaryLoop FindPrelu(Motion motion)
{
    return TENON_CHOOSE(FindPreluLoop)(motion);
}

} // namespace tenon::cpu
#endif
