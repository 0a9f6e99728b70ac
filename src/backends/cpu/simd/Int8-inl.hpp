// SPDX-License-Identifier: Apache-2.0
// Vectors of uint8 as four vectors of int32 (quarters) and back, conversions of floats without Highway's repair of
// overflow, and loops over elements (MapEach). For sources with Foreach.hpp.
//
// Quarter q has bytes 4q to 4q + 3 of each 16-byte block, zero-extended:
//   block:    b0 b1 b2 b3 | b4 b5 b6 b7 | b8 ... b11 | b12 ... b15
//   quarter:       0      |      1      |     2      |      3
// JoinQuarters packs quarters again without a permutation.
#if defined(TENON_SIMD_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_SIMD_INT8_INL
#undef TENON_SIMD_INT8_INL
#else
#define TENON_SIMD_INT8_INL
#endif

#include "backends/cpu/simd/Narrow-inl.hpp"

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

using TagUint8 = hn::ScalableTag<uint8_t>;
using TagInt32 = hn::Repartition<int32_t, TagUint8>;
using TagF32 = hn::Repartition<float, TagUint8>;
using VecUint8 = hn::Vec<TagUint8>;
using VecInt32 = hn::Vec<TagInt32>;
using VecF32 = hn::Vec<TagF32>;

/// Extracts quarters: quarter q has bytes 4q to 4q + 3 of each 16-byte block.
class Quarters
{
public:
    Quarters()
    {
        alignas(16) static constexpr uint8_t Indices[64] = {
            0,  128, 128, 128, 1,  128, 128, 128, 2,  128, 128, 128, 3,  128, 128, 128, //
            4,  128, 128, 128, 5,  128, 128, 128, 6,  128, 128, 128, 7,  128, 128, 128, //
            8,  128, 128, 128, 9,  128, 128, 128, 10, 128, 128, 128, 11, 128, 128, 128, //
            12, 128, 128, 128, 13, 128, 128, 128, 14, 128, 128, 128, 15, 128, 128, 128};
        const TagUint8 d;
        m_0 = hn::LoadDup128(d, Indices);
        m_1 = hn::LoadDup128(d, Indices + 16);
        m_2 = hn::LoadDup128(d, Indices + 32);
        m_3 = hn::LoadDup128(d, Indices + 48);
    }

    template <int Quarter>
    HWY_INLINE VecInt32 Get(VecUint8 bytes) const
    {
        static_assert(Quarter >= 0 && Quarter < 4);
        const VecUint8& indices = Quarter == 0 ? m_0 : Quarter == 1 ? m_1 : Quarter == 2 ? m_2 : m_3;
        return hn::BitCast(TagInt32(), hn::TableLookupBytesOr0(bytes, indices));
    }

private:
    VecUint8 m_0;
    VecUint8 m_1;
    VecUint8 m_2;
    VecUint8 m_3;
};

/// Joins two vectors of int16 as the halves of each block, saturated to uint8.
template <class V16>
HWY_INLINE VecUint8 JoinHalves(V16 low, V16 high)
{
#if HWY_TARGET == HWY_AVX3
    return VecUint8{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VecUint8{_mm256_packus_epi16(low.raw, high.raw)};
#elif HWY_ARCH_X86
    return VecUint8{_mm_packus_epi16(low.raw, high.raw)};
#else
    const hn::Half<TagUint8> half;
    return hn::Combine(TagUint8(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

/// Joins four quarters, adds `zero`, and saturates to uint8. Precondition: |zero| <= 2^15 - 2^8.
template <class V16>
HWY_INLINE VecUint8 JoinQuarters(VecInt32 q0, VecInt32 q1, VecInt32 q2, VecInt32 q3, V16 zero)
{
    const hn::Repartition<int16_t, TagUint8> d16;
    return JoinHalves(hn::SaturatedAdd(NarrowPair(d16, q0, q1), zero), hn::SaturatedAdd(NarrowPair(d16, q2, q3), zero));
}

/// Reorders blocks with four bytes of each of four vectors: all bytes of the first vector, then those of the second,
/// and so on.
HWY_INLINE VecUint8 InOrder(VecUint8 joined)
{
    constexpr size_t Blocks = hn::MaxLanes(TagUint8()) / 16;
    if constexpr (Blocks == 1)
    {
        return joined;
    }
    else
    {
        alignas(64) static constexpr auto Order = []
        {
            std::array<uint32_t, 4 * Blocks> order{};
            for (size_t i = 0; i < order.size(); ++i)
            {
                order[i] = static_cast<uint32_t>(i % Blocks * 4 + i / Blocks);
            }
            return order;
        }();
        const hn::Repartition<uint32_t, TagUint8> dWords;
        return hn::BitCast(
            TagUint8(), hn::TableLookupLanes(hn::BitCast(dWords, joined), hn::SetTableIndices(dWords, Order.data())));
    }
}

/// Joins four vectors one after the other, saturated to uint8.
HWY_INLINE VecUint8 JoinInOrder(VecInt32 a, VecInt32 b, VecInt32 c, VecInt32 d)
{
    const hn::Repartition<int16_t, TagUint8> d16;
    return InOrder(JoinHalves(NarrowPair(d16, a, b), NarrowPair(d16, c, d)));
}

// Nearest: rounds vectors of any width to nearest, ties to even. Numbers outside of int32 give an unspecified result.
#if HWY_ARCH_X86
template <size_t N>
HWY_INLINE hn::Vec128<int32_t, N> Nearest(hn::Vec128<float, N> x)
{
    return hn::Vec128<int32_t, N>{_mm_cvtps_epi32(x.raw)};
}
#if HWY_TARGET <= HWY_AVX2
HWY_INLINE hn::Vec256<int32_t> Nearest(hn::Vec256<float> x)
{
    return hn::Vec256<int32_t>{_mm256_cvtps_epi32(x.raw)};
}
#endif
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<int32_t> Nearest(hn::Vec512<float> x)
{
    return hn::Vec512<int32_t>{_mm512_cvtps_epi32(x.raw)};
}
#endif
#else
template <class V>
HWY_INLINE auto Nearest(V x)
{
    return hn::NearestInt(x);
}
#endif

/// Rounds towards zero. Numbers outside of int32 give an unspecified result.
HWY_INLINE VecInt32 Truncated(VecF32 x)
{
#if HWY_TARGET == HWY_AVX3
    return VecInt32{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VecInt32{_mm256_cvttps_epi32(x.raw)};
#elif HWY_ARCH_X86
    return VecInt32{_mm_cvttps_epi32(x.raw)};
#else
    return hn::ConvertTo(TagInt32(), x);
#endif
}

/// The number of vectors that the loops below store at once: two if a vector has half a cache line or less. Zen 3
/// combines consecutive stores to one cache line; without that, outputs larger than its second-level cache take up to
/// twice as long.
constexpr size_t StoredAtOnce = HWY_MAX_BYTES < 64 ? 2 : 1;

/// out[i] = f(a[i], b[i]) on vectors of T. The tail goes through a buffer, so that nothing past the ends is read or
/// written. `out` may be a or b. With IsScalarA or IsScalarB that input is one element.
template <bool IsScalarA, bool IsScalarB, class D, typename Out, typename F>
HWY_INLINE void MapPairs(D d, const hn::TFromD<D>* a, const hn::TFromD<D>* b, Out* out, size_t count, const F& f)
{
    using T = hn::TFromD<D>;
    const hn::Rebind<Out, D> dOut;
    const size_t lanes = hn::Lanes(d);
    const auto scalarA = hn::Set(d, *a);
    const auto scalarB = hn::Set(d, *b);
    const auto run = [&](size_t i) HWY_ATTR
    { return f(IsScalarA ? scalarA : hn::LoadU(d, a + i), IsScalarB ? scalarB : hn::LoadU(d, b + i)); };
    size_t i = 0;
    if constexpr (StoredAtOnce == 2)
    {
        for (; i + 2 * lanes <= count; i += 2 * lanes)
        {
            const auto first = run(i);
            const auto second = run(i + lanes);
            hn::StoreU(first, dOut, out + i);
            hn::StoreU(second, dOut, out + i + lanes);
        }
    }
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(run(i), dOut, out + i);
    }
    if (i < count)
    {
        HWY_ALIGN T restA[HWY_MAX_BYTES / sizeof(T)] = {};
        HWY_ALIGN T restB[HWY_MAX_BYTES / sizeof(T)] = {};
        HWY_ALIGN Out rest[HWY_MAX_BYTES / sizeof(T)];
        if constexpr (!IsScalarA)
        {
            std::memcpy(restA, a + i, (count - i) * sizeof(T));
        }
        if constexpr (!IsScalarB)
        {
            std::memcpy(restB, b + i, (count - i) * sizeof(T));
        }
        hn::Store(f(IsScalarA ? scalarA : hn::Load(d, restA), IsScalarB ? scalarB : hn::Load(d, restB)), dOut, rest);
        std::memcpy(out + i, rest, (count - i) * sizeof(Out));
    }
}

/// out[i] = f(in[i]), with the same treatment of the tail. The types of in and out may differ. The loop takes one or
/// two vectors at a time.
template <size_t AtOnce = StoredAtOnce, class D, typename Out, typename F>
HWY_INLINE void MapEach(D d, const hn::TFromD<D>* in, Out* out, size_t count, const F& f)
{
    static_assert(AtOnce == 1 || AtOnce == 2);
    using T = hn::TFromD<D>;
    const hn::Rebind<Out, D> dOut;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    if constexpr (AtOnce == 2)
    {
        for (; i + 2 * lanes <= count; i += 2 * lanes)
        {
            const auto first = f(hn::LoadU(d, in + i));
            const auto second = f(hn::LoadU(d, in + i + lanes));
            hn::StoreU(first, dOut, out + i);
            hn::StoreU(second, dOut, out + i + lanes);
        }
    }
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(f(hn::LoadU(d, in + i)), dOut, out + i);
    }
    if (i < count)
    {
        HWY_ALIGN T buffer[HWY_MAX_BYTES / sizeof(T)] = {};
        HWY_ALIGN Out rest[HWY_MAX_BYTES / sizeof(T)];
        std::memcpy(buffer, in + i, (count - i) * sizeof(T));
        hn::Store(f(hn::Load(d, buffer)), dOut, rest);
        std::memcpy(out + i, rest, (count - i) * sizeof(Out));
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
