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
template <typename Operation, class D, bool Swaps, Motion M>
void Compare(const void* a, const void* b, void* out, size_t count, FloatBounds)
{
    using T = hn::TFromD<D>;
    const D d;
    const Ints one = hn::Set(IntTag(), 1);
    MapPairs<M == Motion::FixedA, M == Motion::FixedB>(
        d, static_cast<const T*>(a), static_cast<const T*>(b), static_cast<uint8_t*>(out), count,
        [&](auto x, auto y) HWY_ATTR
        {
            const auto mask = Swaps ? Operation()(y, x) : Operation()(x, y);
            const Ints ones = hn::And(hn::BitCast(IntTag(), hn::VecFromMask(d, mask)), one);
            return hn::DemoteTo(hn::Rebind<uint8_t, IntTag>(), ones);
        });
}

template <typename Operation, bool Swaps>
NumberBinaryLoop ForTypeAndMotion(DataType type, Motion motion)
{
    const bool isFloat = type == DataType::Float32;
    switch (motion)
    {
    case Motion::Both:
        return isFloat ? Compare<Operation, FloatTag, Swaps, Motion::Both>
                       : Compare<Operation, IntTag, Swaps, Motion::Both>;
    case Motion::FixedB:
        return isFloat ? Compare<Operation, FloatTag, Swaps, Motion::FixedB>
                       : Compare<Operation, IntTag, Swaps, Motion::FixedB>;
    case Motion::FixedA: break;
    }
    return isFloat ? Compare<Operation, FloatTag, Swaps, Motion::FixedA>
                   : Compare<Operation, IntTag, Swaps, Motion::FixedA>;
}

NumberBinaryLoop FindComparisonLoop(ComparisonOperation operation, DataType type, Motion motion)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return ForTypeAndMotion<EqualVectors, false>(type, motion);
    case ComparisonOperation::NotEqual: return ForTypeAndMotion<UnequalVectors, false>(type, motion);
    case ComparisonOperation::Less: return ForTypeAndMotion<LessVectors, false>(type, motion);
    case ComparisonOperation::LessOrEqual: return ForTypeAndMotion<LessOrEqualVectors, false>(type, motion);
    case ComparisonOperation::Greater: return ForTypeAndMotion<LessVectors, true>(type, motion);
    case ComparisonOperation::GreaterOrEqual: break;
    }
    return ForTypeAndMotion<LessOrEqualVectors, true>(type, motion);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

NumberBinaryLoop FindComparison(ComparisonOperation operation, DataType type, Motion motion)
{
    return TENON_CHOOSE(FindComparisonLoop)(operation, type, motion);
}

} // namespace tenon::cpu
#endif
