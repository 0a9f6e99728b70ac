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
