// SPDX-License-Identifier: Apache-2.0
// The operations of columns and of rows alike: sums, and extremes. An operation has
//   Data, Lane             the types of elements and of results
//   InTag<D>               the tag of a vector of elements that becomes one vector of lanes
//   First                  the start value
//   Widen(d, elements)     elements to lanes
//   Step(a, b)             the reduction of two vectors, or of two lanes
//   Collect(d, lanes)      the reduction of the lanes of a vector
// and for short rows (ReduceRows.cpp)
//   Neutral                the neutral element
//   Start(d, length)       the start value of the vector of a row of `length` elements
// For sources with Foreach.hpp.
#if defined(TENON_REDUCE_OPERATIONS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_REDUCE_OPERATIONS_INL
#undef TENON_REDUCE_OPERATIONS_INL
#else
#define TENON_REDUCE_OPERATIONS_INL
#endif

#include "backends/cpu/simd/MinMax-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Reduces all blocks of 16 bytes of a vector to one.
template <class Op, class V>
HWY_INLINE auto ReduceBlocks(V v)
{
    const hn::DFromV<V> d;
    if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromV<V>) > 16)
    {
        const hn::Half<decltype(d)> dHalf;
        return ReduceBlocks<Op>(Op::Step(hn::LowerHalf(dHalf, v), hn::UpperHalf(dHalf, v)));
    }
    else
    {
        return v;
    }
}

struct SumFloats
{
    using Data = float;
    using Lane = float;
    template <class D>
    using InTag = D;
    static constexpr float First = 0.0f;
    static constexpr float Neutral = 0.0f;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Zero(d);
    }
    template <class V>
    static HWY_INLINE V Step(V sum, V value)
    {
        return hn::Add(sum, value);
    }
    template <class D>
    static HWY_INLINE float Collect(D d, hn::Vec<D> sum)
    {
        return hn::GetLane(hn::SumOfLanes(d, sum));
    }
    static float Step(float sum, float value) { return sum + value; }
};

template <typename T>
struct SumIntegers
{
    using Data = T;
    using Lane = int32_t;
    template <class D>
    using InTag = hn::Rebind<T, D>;
    static constexpr int32_t First = 0;
    static constexpr T Neutral = 0;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<InTag<D>> values)
    {
        return hn::PromoteTo(d, values);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Zero(d);
    }
    template <class V>
    static HWY_INLINE V Step(V sum, V value)
    {
        return hn::Add(sum, value);
    }
    template <class D>
    static HWY_INLINE int32_t Collect(D d, hn::Vec<D> sum)
    {
        return hn::GetLane(hn::SumOfLanes(d, sum));
    }
    static int32_t Step(int32_t sum, int32_t value) { return sum + value; }
};

template <typename T, bool IsMax>
struct Extreme
{
    using Data = T;
    using Lane = T;
    template <class D>
    using InTag = D;
    using Limits = std::numeric_limits<T>;
    static constexpr T First = Limits::has_infinity ? (IsMax ? -Limits::infinity() : Limits::infinity())
                                                    : (IsMax ? Limits::lowest() : Limits::max());
    static constexpr T Neutral = First;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Set(d, First);
    }
    /// NaN is passed over.
    template <class V>
    static HWY_INLINE V Step(V best, V value)
    {
        return IsMax ? GreaterOf(value, best) : LessOf(value, best);
    }
    template <class D>
    static HWY_INLINE T Collect(D, hn::Vec<D> best)
    {
        // Reduces the vector to one block of 16 bytes, then compares halves of the block, and halves of these.
        auto result = ReduceBlocks<Extreme>(best);
        const hn::DFromV<decltype(result)> block;
        result = Step(result, hn::CombineShiftRightBytes<8>(block, result, result));
        result = Step(result, hn::CombineShiftRightBytes<4>(block, result, result));
        if constexpr (sizeof(T) <= 2)
        {
            result = Step(result, hn::CombineShiftRightBytes<2>(block, result, result));
        }
        if constexpr (sizeof(T) == 1)
        {
            result = Step(result, hn::CombineShiftRightBytes<1>(block, result, result));
        }
        return hn::GetLane(result);
    }
    static T Step(T best, T value) { return (IsMax ? value > best : value < best) ? value : best; }
};

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
