// SPDX-License-Identifier: Apache-2.0
// Sums of pairs of weights, vectorized.
#include "backends/cpu/gemm/pack/SplitLoopsInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/SplitLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

using TagInt16 = hn::ScalableTag<int16_t>;
using TagUint32 = hn::Repartition<uint32_t, TagInt16>;
using TagInt8 = hn::Repartition<int8_t, TagInt16>;
using TagUint8 = hn::Repartition<uint8_t, TagInt16>;
using TagUint16 = hn::Repartition<uint16_t, TagInt16>;

/// Adds both halves of each word; the sum is in the lower half.
HWY_INLINE hn::Vec<TagInt16> AddHalves(const hn::Vec<TagInt16>& v)
{
    return hn::Add(v, hn::BitCast(TagInt16(), hn::ShiftRight<16>(hn::BitCast(TagUint32(), v))));
}

void RaisePairSums(const int16_t* values, size_t count, int16_t* maxSums, int16_t* minSums)
{
    const TagInt16 d;
    const auto zero = hn::Zero(d);
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    {
        const auto v = hn::LoadU(d, values + i);
        hn::StoreU(hn::Max(hn::LoadU(d, maxSums + i), AddHalves(hn::Max(v, zero))), d, maxSums + i);
        hn::StoreU(hn::Min(hn::LoadU(d, minSums + i), AddHalves(hn::Min(v, zero))), d, minSums + i);
    }
    for (; i < count; i += 2)
    {
        const int first = values[i];
        const int second = values[i + 1];
        maxSums[i] = static_cast<int16_t>(std::max<int>(maxSums[i], std::max(first, 0) + std::max(second, 0)));
        minSums[i] = static_cast<int16_t>(std::min<int>(minSums[i], std::min(first, 0) + std::min(second, 0)));
    }
}

uint8_t FindPairSums(const std::byte* term, size_t bytes, uint8_t* sums)
{
    const TagInt8 d;
    const TagUint8 dSums;
    const TagUint16 dPairs;
    const auto zero = hn::Zero(d);
    const auto low = hn::Set(dPairs, 0x00FF);
    const auto addPairs = [&](const hn::Vec<TagInt8>& magnitudes) HWY_ATTR
    {
        const auto both = hn::BitCast(dPairs, magnitudes);
        return hn::Add(hn::And(both, low), hn::ShiftRight<8>(both));
    };
    auto maximum = hn::Zero(dSums);
    for (size_t i = 0; i < bytes; i += hn::Lanes(d))
    {
        const auto weights = hn::LoadU(d, reinterpret_cast<const int8_t*>(term) + i);
        const auto positive = addPairs(hn::Max(weights, zero));
        // -128 becomes 128, as it cannot be negated
        const auto negative = addPairs(hn::Sub(zero, hn::Min(weights, zero)));
        const auto all = hn::BitCast(dSums, hn::Or(positive, hn::ShiftLeft<8>(negative)));
        hn::StoreU(all, dSums, sums + i);
        maximum = hn::Max(maximum, all);
    }
    const auto both = hn::BitCast(dPairs, maximum);
    return static_cast<uint8_t>(
        hn::GetLane(hn::MaxOfLanes(dPairs, hn::Max(hn::And(both, low), hn::ShiftRight<8>(both)))));
}

bool FitTogether(const uint8_t* some, const uint8_t* others, size_t bytes)
{
    const TagUint8 d;
    const auto limit = hn::Set(d, static_cast<uint8_t>(MaxPairSum));
    auto maximum = hn::Zero(d);
    for (size_t i = 0; i < bytes; i += hn::Lanes(d))
    {
        maximum = hn::Max(maximum, hn::SaturatedAdd(hn::LoadU(d, some + i), hn::LoadU(d, others + i)));
    }
    return hn::AllTrue(d, hn::Eq(hn::Max(maximum, limit), limit));
}

SplitLoopsInt8 MakeLoops()
{
    return {RaisePairSums, FindPairSums, FitTogether};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const SplitLoopsInt8& GetSplitLoopsInt8()
{
    static constinit PerIsa<SplitLoopsInt8> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace tenon::cpu
#endif
