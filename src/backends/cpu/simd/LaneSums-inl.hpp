// SPDX-License-Identifier: Apache-2.0
// Horizontal sums of one vector, or of four at once. For sources with Foreach.hpp.
#if defined(TENON_CPU_LANE_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_LANE_SUMS_INL
#undef TENON_CPU_LANE_SUMS_INL
#else
#define TENON_CPU_LANE_SUMS_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// The sum of all lanes of integers, with wrap-around. Highway's reduction for AVX-512 ends in a scalar addition that
/// must not overflow.
template <class D>
HWY_INLINE hn::TFromD<D> SumWrapping(D d, hn::Vec<D> v)
{
    if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 64)
    {
        const hn::Half<D> half;
        return SumWrapping(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
    else
    {
        return hn::GetLane(hn::SumOfLanes(d, v));
    }
}

/// Four numbers side by side: number i is the sum of lane i of all 4-lane blocks.
template <class D>
HWY_INLINE auto SumBlocks(D d, hn::Vec<D> v)
{
    if constexpr (hn::MaxLanes(D()) > 4)
    {
        const hn::Half<D> half;
        return SumBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
    else
    {
        (void)d;
        return v;
    }
}

/// For each block of four lanes: the sums of the block in four vectors of 32-bit numbers, side by side. Two rounds of
/// additions do all of them.
template <class D>
HWY_INLINE hn::Vec<D> SumLanesOfBlocks(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
{
    const hn::Repartition<uint64_t, D> dPairs;
    const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
    const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
    const auto abPairs = hn::BitCast(dPairs, ab);
    const auto cePairs = hn::BitCast(dPairs, ce);
    const auto lower = hn::BitCast(d, hn::InterleaveLower(dPairs, abPairs, cePairs));
    const auto upper = hn::BitCast(d, hn::InterleaveUpper(dPairs, abPairs, cePairs));
    return hn::Add(lower, upper);
}

/// The sums of all lanes of four vectors, side by side.
template <class D>
HWY_INLINE auto SumFour(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e)
{
    return SumBlocks(d, SumLanesOfBlocks(d, a, b, c, e));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
