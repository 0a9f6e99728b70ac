// SPDX-License-Identifier: Apache-2.0
// Loops of comparisons of Float32 and Signed32.
#include "backends/cpu/elementwise/BinaryUnquantized.hpp"
#include "backends/cpu/simd/Isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/ComparisonUnquantized.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

struct EqualVectors
{
    template <class V>
    HWY_INLINE auto operator()(V a, V b) const
    {
        return hn::Eq(a, b);
    }
};

struct UnequalVectors
{
    template <class V>
    HWY_INLINE auto operator()(V a, V b) const
    {
        return hn::Not(hn::Eq(a, b)); // true for NaN, unlike Ne with AVX
    }
};

struct LessVectors
{
    template <class V>
    HWY_INLINE auto operator()(V a, V b) const
    {
        return hn::Lt(a, b);
    }
};

struct LessOrEqualVectors
{
    template <class V>
    HWY_INLINE auto operator()(V a, V b) const
    {
        if constexpr (hwy::IsFloat<hn::TFromV<V>>())
        {
            return hn::Le(a, b);
        }
        else
        {
            return hn::Not(hn::Lt(b, a));
        }
    }
};

/// `Swaps`: a and b are exchanged (Greater as Less).
template <typename Operation, class D, bool Swaps, OperandForms M>
void Compare(const void* a, const void* b, void* out, size_t count, FloatBounds)
{
    using T = hn::TFromD<D>;
    const D d;
    const VecInt32 one = hn::Set(TagInt32(), 1);
    MapPairs<M == OperandForms::ScalarVector, M == OperandForms::VectorScalar>(
        d, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<uint8_t*>(out), count,
        [&](auto x, auto y) HWY_ATTR
        {
            const auto mask = Swaps ? Operation()(y, x) : Operation()(x, y);
            const VecInt32 ones = hn::And(hn::BitCast(TagInt32(), hn::VecFromMask(d, mask)), one);
            return hn::DemoteTo(hn::Rebind<uint8_t, TagInt32>(), ones);
        });
}

template <typename Operation, bool Swaps>
BinaryLoop ForTypeAndForms(DataType type, OperandForms forms)
{
    const bool isFloat = type == DataType::Float32;
    switch (forms)
    {
    case OperandForms::VectorVector:
        return isFloat ? Compare<Operation, TagF32, Swaps, OperandForms::VectorVector>
                       : Compare<Operation, TagInt32, Swaps, OperandForms::VectorVector>;
    case OperandForms::VectorScalar:
        return isFloat ? Compare<Operation, TagF32, Swaps, OperandForms::VectorScalar>
                       : Compare<Operation, TagInt32, Swaps, OperandForms::VectorScalar>;
    case OperandForms::ScalarVector: break;
    }
    return isFloat ? Compare<Operation, TagF32, Swaps, OperandForms::ScalarVector>
                   : Compare<Operation, TagInt32, Swaps, OperandForms::ScalarVector>;
}

BinaryLoop FindComparisonLoop(ComparisonOperation operation, DataType type, OperandForms forms)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return ForTypeAndForms<EqualVectors, false>(type, forms);
    case ComparisonOperation::NotEqual: return ForTypeAndForms<UnequalVectors, false>(type, forms);
    case ComparisonOperation::Less: return ForTypeAndForms<LessVectors, false>(type, forms);
    case ComparisonOperation::LessOrEqual: return ForTypeAndForms<LessOrEqualVectors, false>(type, forms);
    case ComparisonOperation::Greater: return ForTypeAndForms<LessVectors, true>(type, forms);
    case ComparisonOperation::GreaterOrEqual: break;
    }
    return ForTypeAndForms<LessOrEqualVectors, true>(type, forms);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

BinaryLoop FindComparison(ComparisonOperation operation, DataType type, OperandForms forms)
{
    return TENON_CHOOSE(FindComparisonLoop)(operation, type, forms);
}

} // namespace tenon::cpu
#endif
