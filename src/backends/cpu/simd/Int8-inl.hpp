// SPDX-License-Identifier: Apache-2.0
// Vectors of uint8 as four vectors of int32 (quarters) and back, conversions of floats without Highway's repair of
// overflow, and loops over elements (MapEach). For sources with Foreach.hpp.
//
// Quarter q has bytes 4q to 4q + 3 of each 16-byte block, zero-extended:
//   block:    b0 b1 b2 b3 | b4 b5 b6 b7 | b8 ... b11 | b12 ... b15
//   quarter:       0      |      1      |     2      |      3
// JoinQuarters packs quarters again without a permutation.
#if defined(TENON_BYTES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_BYTES_INL
#undef TENON_BYTES_INL
#else
#define TENON_BYTES_INL
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

using ByteTag = hn::ScalableTag<uint8_t>;
using IntTag = hn::Repartition<int32_t, ByteTag>;
using FloatTag = hn::Repartition<float, ByteTag>;
using Bytes = hn::Vec<ByteTag>;
using Ints = hn::Vec<IntTag>;
using Floats = hn::Vec<FloatTag>;

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
        const ByteTag d;
        m_0 = hn::LoadDup128(d, Indices);
        m_1 = hn::LoadDup128(d, Indices + 16);
        m_2 = hn::LoadDup128(d, Indices + 32);
        m_3 = hn::LoadDup128(d, Indices + 48);
    }

    template <int Quarter>
    HWY_INLINE Ints Get(Bytes bytes) const
    {
        static_assert(Quarter >= 0 && Quarter < 4);
        const Bytes& indices = Quarter == 0 ? m_0 : Quarter == 1 ? m_1 : Quarter == 2 ? m_2 : m_3;
        return hn::BitCast(IntTag(), hn::TableLookupBytesOr0(bytes, indices));
    }

private:
    Bytes m_0;
    Bytes m_1;
    Bytes m_2;
    Bytes m_3;
};

/// Joins two vectors of int16 as the halves of each block, saturated to uint8.
template <class V16>
HWY_INLINE Bytes JoinHalves(V16 low, V16 high)
{
#if HWY_TARGET == HWY_AVX3
    return Bytes{_mm512_packus_epi16(low.raw, high.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Bytes{_mm256_packus_epi16(low.raw, high.raw)};
#elif HWY_ARCH_X86
    return Bytes{_mm_packus_epi16(low.raw, high.raw)};
#else
    const hn::Half<ByteTag> half;
    return hn::Combine(ByteTag(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
#endif
}

/// Joins four quarters, adds `zero`, and saturates to uint8. Precondition: |zero| <= 2^15 - 2^8.
template <class V16>
HWY_INLINE Bytes JoinQuarters(Ints q0, Ints q1, Ints q2, Ints q3, V16 zero)
{
    const hn::Repartition<int16_t, ByteTag> d16;
    return JoinHalves(hn::SaturatedAdd(NarrowPair(d16, q0, q1), zero), hn::SaturatedAdd(NarrowPair(d16, q2, q3), zero));
}

/// Reorders blocks with four bytes of each of four vectors: all bytes of the first vector, then those of the second,
/// and so on.
HWY_INLINE Bytes InOrder(Bytes joined)
{
    constexpr size_t Blocks = hn::MaxLanes(ByteTag()) / 16;
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
        const hn::Repartition<uint32_t, ByteTag> dWords;
        return hn::BitCast(
            ByteTag(), hn::TableLookupLanes(hn::BitCast(dWords, joined), hn::SetTableIndices(dWords, Order.data())));
    }
}

/// Joins four vectors one after the other, saturated to uint8.
HWY_INLINE Bytes JoinInOrder(Ints a, Ints b, Ints c, Ints d)
{
    const hn::Repartition<int16_t, ByteTag> d16;
    return InOrder(JoinHalves(NarrowPair(d16, a, b), NarrowPair(d16, c, d)));
}

/// Rounds to nearest, ties to even. Numbers outside of int32 give an unspecified result.
HWY_INLINE Ints Nearest(Floats x)
{
#if HWY_TARGET == HWY_AVX3
    return Ints{_mm512_cvtps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Ints{_mm256_cvtps_epi32(x.raw)};
#elif HWY_ARCH_X86
    return Ints{_mm_cvtps_epi32(x.raw)};
#else
    return hn::NearestInt(x);
#endif
}

/// Rounds towards zero. Numbers outside of int32 give an unspecified result.
HWY_INLINE Ints Truncated(Floats x)
{
#if HWY_TARGET == HWY_AVX3
    return Ints{_mm512_cvttps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Ints{_mm256_cvttps_epi32(x.raw)};
#elif HWY_ARCH_X86
    return Ints{_mm_cvttps_epi32(x.raw)};
#else
    return hn::ConvertTo(IntTag(), x);
#endif
}

/// The number of vectors that the loops below store at once: two if a vector has half a cache line or less. Zen 3
/// combines consecutive stores to one cache line; without that, outputs larger than its second-level cache take up to
/// twice as long.
constexpr size_t StoredAtOnce = HWY_MAX_BYTES < 64 ? 2 : 1;

/// out[i] = f(a[i], b[i]) on vectors of T. The tail goes through a buffer, so that nothing past the ends is read or
/// written. `out` may be a or b. With IsScalarA or IsScalarB that input is one element.
template <bool FixedA, bool FixedB, class D, typename Out, typename F>
HWY_INLINE void MapPairs(D d, const hn::TFromD<D>* a, const hn::TFromD<D>* b, Out* out, size_t count, const F& f)
{
    using T = hn::TFromD<D>;
    const hn::Rebind<Out, D> dOut;
    const size_t lanes = hn::Lanes(d);
    const auto fixedA = hn::Set(d, *a);
    const auto fixedB = hn::Set(d, *b);
    const auto run = [&](size_t i) HWY_ATTR
    { return f(FixedA ? fixedA : hn::LoadU(d, a + i), FixedB ? fixedB : hn::LoadU(d, b + i)); };
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
        if constexpr (!FixedA)
        {
            std::memcpy(restA, a + i, (count - i) * sizeof(T));
        }
        if constexpr (!FixedB)
        {
            std::memcpy(restB, b + i, (count - i) * sizeof(T));
        }
        hn::Store(f(FixedA ? fixedA : hn::Load(d, restA), FixedB ? fixedB : hn::Load(d, restB)), dOut, rest);
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
