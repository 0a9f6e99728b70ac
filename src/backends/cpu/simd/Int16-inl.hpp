// SPDX-License-Identifier: Apache-2.0
// Vectors of int16 as two vectors of int32, and interpolation in tables. For sources with Foreach.hpp.
#if defined(TENON_SIMD_INT16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SIMD_INT16_INL
#undef TENON_SIMD_INT16_INL
#else
#define TENON_SIMD_INT16_INL
#endif

#include "backends/cpu/simd/Int8-inl.hpp"

#include <array>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

using TagInt16 = hn::Repartition<int16_t, TagUint8>;
using VecInt16 = hn::Vec<TagInt16>;

/// The lower or upper half of each 16-byte block as int32, times 2^16. NarrowPair joins such halves again.
template <bool IsUpper>
HWY_INLINE VecInt32 WidenHigh(VecInt16 x)
{
    const TagInt16 d;
    const VecInt16 zero = hn::Zero(d);
    return hn::BitCast(TagInt32(), IsUpper ? hn::InterleaveUpper(d, zero, x) : hn::InterleaveLower(d, zero, x));
}

template <bool IsUpper>
HWY_INLINE VecInt32 Widen(VecInt16 x)
{
    return hn::ShiftRight<16>(WidenHigh<IsUpper>(x));
}

/// f(VecInt32) of both halves, joined again with saturation.
template <class F>
HWY_INLINE VecInt16 MapHalves(VecInt16 x, const F& f)
{
    return NarrowPair(TagInt16(), f(Widen<false>(x)), f(Widen<true>(x)));
}

/// Both vectors as int16, saturated: all lanes of `low` before all lanes of `high`.
HWY_INLINE VecInt16 NarrowInOrder(VecInt32 low, VecInt32 high)
{
    const TagInt16 d;
    const VecInt16 joined = NarrowPair(d, low, high);
    constexpr size_t Blocks = hn::MaxLanes(TagUint8()) / 16;
    if constexpr (Blocks == 1)
    {
        return joined;
    }
    else
    {
        // NarrowPair gives blocks with four numbers (two 32-bit words) of each vector.
        alignas(64) static constexpr auto Order = []
        {
            std::array<uint32_t, 4 * Blocks> order{};
            for (size_t i = 0; i < order.size(); ++i)
            {
                const size_t inVector = i % (2 * Blocks);
                order[i] = static_cast<uint32_t>(inVector / 2 * 4 + i / (2 * Blocks) * 2 + inVector % 2);
            }
            return order;
        }();
        const hn::Repartition<uint32_t, TagUint8> dWords;
        return hn::BitCast(
            d, hn::TableLookupLanes(hn::BitCast(dWords, joined), hn::SetTableIndices(dWords, Order.data())));
    }
}

/// The product a * b, as int32, of the lower or upper half of each block.
template <bool IsUpper>
HWY_INLINE VecInt32 MultiplyWide(VecInt16 a, VecInt16 b)
{
    const TagInt16 d;
    const VecInt16 low = hn::Mul(a, b);
    const VecInt16 high = hn::MulHigh(a, b);
    return hn::BitCast(TagInt32(), IsUpper ? hn::InterleaveUpper(d, low, high) : hn::InterleaveLower(d, low, high));
}

/// entries[index] in the lower 16 bits of each 32-bit lane, entries[index + 1] in the upper ones.
template <typename T>
HWY_INLINE VecInt32 GatherPairs(const T* entries, VecInt32 index)
{
    static_assert(sizeof(T) == sizeof(int16_t));
    const TagInt32 d;
#if HWY_TARGET == HWY_AVX3
    return VecInt32{_mm512_i32gather_epi32(index.raw, entries, sizeof(T))};
#elif HWY_TARGET == HWY_AVX2
    return VecInt32{_mm256_i32gather_epi32(reinterpret_cast<const int*>(entries), index.raw, sizeof(T))};
#else
    HWY_ALIGN int32_t at[HWY_MAX_BYTES / sizeof(int32_t)];
    HWY_ALIGN int32_t pairs[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(index, d, at);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
    {
        std::memcpy(pairs + i, entries + at[i], sizeof(int32_t));
    }
    return hn::Load(d, pairs);
#endif
}

/// The linear interpolation between the two entries of ref::InterpolatedTableEntries next to x, as ref::Interpolate.
HWY_INLINE VecInt16 Interpolate(const int16_t* entries, VecInt16 x)
{
    const TagInt16 d;
    const VecInt16 index = hn::Add(hn::ShiftRight<7>(x), hn::Set(d, 256));
    const VecInt32 lower = GatherPairs(entries, Widen<false>(index));
    const VecInt32 upper = GatherPairs(entries, Widen<true>(index));
    const VecInt16 base =
        NarrowPair(d, hn::ShiftRight<16>(hn::ShiftLeft<16>(lower)), hn::ShiftRight<16>(hn::ShiftLeft<16>(upper)));
    const VecInt16 next = NarrowPair(d, hn::ShiftRight<16>(lower), hn::ShiftRight<16>(upper));
    // (slope * offset + 64) >> 7 is computed as (slope * (offset << 8) + 2^14) >> 15: one rounding multiplication.
    const VecInt16 offset = hn::ShiftLeft<8>(hn::And(x, hn::Set(d, 0x7F)));
    return hn::Add(base, hn::MulFixedPoint15(hn::Sub(next, base), offset));
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
