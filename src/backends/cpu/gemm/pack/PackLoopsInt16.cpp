// SPDX-License-Identifier: Apache-2.0
// See PackLoopsInt16.hpp. Pairs of weights are transposed as stored, in 16-bit elements, and widened when they are
// written: half the shuffles of pairs of int16.
#include "backends/cpu/gemm/pack/PackLoopsInt16.hpp"

#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/PackLoopsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/TransposeBlocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using Ints = hn::ScalableTag<int32_t>;
using Shorts = hn::Repartition<int16_t, Ints>;
using Bytes = hn::ScalableTag<int8_t>;

int64_t SumMagnitudes(const int8_t* values, size_t count, int8_t zeroPoint)
{
    const Bytes d;
    const hn::RebindToUnsigned<Bytes> dMagnitudes;
    const hn::Repartition<uint64_t, Bytes> dSums;
    const auto zero = hn::Set(d, zeroPoint);
    auto sums = hn::Zero(dSums);
    const auto add = [&](const hn::Vec<Bytes>& v) HWY_ATTR
    {
        const auto magnitudes = hn::Sub(hn::Max(v, zero), hn::Min(v, zero)); // up to 255, as uint8
        sums = hn::Add(sums, hn::SumsOf8(hn::BitCast(dMagnitudes, magnitudes)));
    };
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    {
        add(hn::LoadU(d, values + i));
    }
    if (i < count)
    {
        add(LoadFirst(d, values + i, count - i, zeroPoint));
    }
    return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(dSums, sums)));
}

/// Blocks of 16 bytes from `begin` on; each further block is of the row eight rows below.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const int8_t* const* rows, size_t begin)
{
    if constexpr (hn::MaxLanes(D()) == 8)
    {
        return hn::BitCast(d, hn::LoadU(hn::Repartition<int8_t, D>(), rows[0] + begin));
    }
    else
    {
        const hn::Half<D> half;
        constexpr size_t HalfRows = hn::MaxLanes(D()) / 2;
        return hn::Combine(d, LoadBlocks(half, rows + HalfRows, begin), LoadBlocks(half, rows, begin));
    }
}

template <class D>
HWY_INLINE void StorePairs(D /*d*/, const hn::Vec<D>& pairs, int8_t /*zeroPoint: 0*/, int8_t* to)
{
    const hn::Repartition<int8_t, D> dBytes;
    hn::StoreU(hn::BitCast(dBytes, pairs), dBytes, to);
}

template <class D>
HWY_INLINE void StorePairs(D /*d*/, const hn::Vec<D>& pairs, int8_t zeroPoint, int16_t* to)
{
    if constexpr (hn::MaxLanes(D()) * sizeof(int32_t) > sizeof(hn::Vec<Shorts>))
    {
        const hn::Half<D> half;
        StorePairs(half, hn::LowerHalf(half, pairs), zeroPoint, to);
        StorePairs(half, hn::UpperHalf(half, pairs), zeroPoint, to + hn::MaxLanes(D()));
    }
    else
    {
        const hn::Repartition<int8_t, D> dBytes;
        const hn::Rebind<int16_t, decltype(dBytes)> d16;
        const auto wide = hn::PromoteTo(d16, hn::BitCast(dBytes, pairs));
        hn::StoreU(hn::Sub(wide, hn::Set(d16, zeroPoint)), d16, to);
    }
}

/// Packs eight pairs from `begin` on of some rows, and writes the first `groups` of them.
template <typename T, size_t NumPaddedColumns>
HWY_INLINE void PackBlock(const int8_t* const* rows, size_t begin, size_t groups, int8_t zeroPoint, T* to,
                          size_t stride)
{
    constexpr size_t N = 8;
    const hn::CappedTag<uint16_t, std::max(NumPaddedColumns, N)> d;
    hn::Vec<decltype(d)> v[N];
    HWY_UNROLL(8)
    for (size_t i = 0; i < N; ++i)
    {
        v[i] = LoadBlocks(d, rows + i % NumPaddedColumns, begin);
    }
    TransposeBlocks(d, v);
    HWY_UNROLL(8)
    for (size_t i = 0; i < N; ++i)
    {
        if (i < groups)
        {
            if constexpr (NumPaddedColumns < N)
            {
                const hn::Half<decltype(d)> half;
                StorePairs(half, hn::LowerHalf(half, v[i]), zeroPoint, to + i * stride);
            }
            else
            {
                StorePairs(d, v[i], zeroPoint, to + i * stride);
            }
        }
    }
}

template <typename T, size_t NumPaddedColumns>
HWY_INLINE void PackRows(const int8_t* const* rows, size_t depth, int8_t zeroPoint, T* to, size_t stride)
{
    constexpr size_t BlockDepth = 16;
    size_t k = 0;
    for (; k + BlockDepth <= depth; k += BlockDepth, to += BlockDepth / 2 * stride)
    {
        PackBlock<T, NumPaddedColumns>(rows, k, BlockDepth / 2, zeroPoint, to, stride);
    }
    if (k < depth)
    {
        int8_t last[NumPaddedColumns][BlockDepth];
        const int8_t* lastRows[NumPaddedColumns];
        std::memset(last, zeroPoint, sizeof(last));
        for (size_t p = 0; p < NumPaddedColumns; ++p)
        {
            std::memcpy(last[p], rows[p] + k, depth - k);
            lastRows[p] = last[p];
        }
        PackBlock<T, NumPaddedColumns>(lastRows, 0, (depth - k + 1) / 2, zeroPoint, to, stride);
    }
}

template <typename T>
void Pack(const int8_t* const* rows, size_t paddedColumns, size_t depth, int8_t zeroPoint, std::byte* packed)
{
    constexpr size_t Lanes = HWY_LANES(int32_t);
    auto* const to = reinterpret_cast<T*>(packed);
    size_t p = 0;
    for (; p + 2 * Lanes <= paddedColumns; p += 2 * Lanes)
    {
        PackRows<T, 2 * Lanes>(rows + p, depth, zeroPoint, to + 2 * p, 2 * paddedColumns);
    }
    if (p < paddedColumns)
    {
        PackRows<T, Lanes>(rows + p, depth, zeroPoint, to + 2 * p, 2 * paddedColumns);
    }
}

HWY_INLINE hn::Vec<Shorts> LoadPairs(const int16_t* from)
{
    return hn::LoadU(Shorts(), from);
}

HWY_INLINE hn::Vec<Shorts> LoadPairs(const int8_t* from)
{
    return hn::PromoteTo(Shorts(), hn::LoadU(hn::Rebind<int8_t, Shorts>(), from));
}

template <typename T, size_t Vectors>
size_t CountFittingOf(const T* pairs, size_t groups)
{
    const Ints d;
    const auto low = hn::Set(d, 0xFFFF);
    const auto limit = hn::Set(d, static_cast<int32_t>(RequantizeArraysInt16::MaxMagnitude));
    hn::Vec<Ints> sums[Vectors];
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        sums[v] = hn::Zero(d);
    }
    for (size_t g = 0; g < groups; ++g)
    {
        auto most = hn::Zero(d);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v, pairs += 2 * hn::Lanes(d))
        {
            const auto magnitudes = hn::BitCast(d, hn::Abs(LoadPairs(pairs)));
            sums[v] = hn::Add(sums[v], hn::Add(hn::And(magnitudes, low), hn::ShiftRight<16>(magnitudes)));
            most = hn::Max(most, sums[v]);
        }
        if (!hn::AllFalse(d, hn::Gt(most, limit)))
        {
            return g;
        }
    }
    return groups;
}

template <typename T>
size_t CountFitting(const std::byte* packed, size_t groups, size_t vectors)
{
    static_assert(MicrokernelsInt16::MaxVectors == 4);
    const auto* const pairs = reinterpret_cast<const T*>(packed);
    switch (vectors)
    {
    case 1: return CountFittingOf<T, 1>(pairs, groups);
    case 2: return CountFittingOf<T, 2>(pairs, groups);
    case 3: return CountFittingOf<T, 3>(pairs, groups);
    default: return CountFittingOf<T, 4>(pairs, groups);
    }
}

PackLoopsInt16 MakeLoops()
{
    return {SumMagnitudes, Pack<int8_t>, Pack<int16_t>, CountFitting<int8_t>, CountFitting<int16_t>};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const PackLoopsInt16& GetPackLoopsInt16()
{
    static constinit PerIsa<PackLoopsInt16> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace tenon::cpu
#endif
