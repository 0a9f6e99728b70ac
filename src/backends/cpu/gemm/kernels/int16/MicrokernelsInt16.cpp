// SPDX-License-Identifier: Apache-2.0
// MicrokernelsInt16: the inner loops. Sums stay in registers over the depth; each pair of the data is broadcast and
// multiplied by the panel's vectors. Depthwise convolutions, and grouped ones with small groups of channels, have
// microkernels of their own, which multiply vectors of channels by vectors of weights. Every loop over registers is
// unrolled before register allocation: otherwise the sums would live in memory.
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"

#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/im2col/SkippedTaps.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

using TagInt16 = hn::Repartition<int16_t, Ints>;
using Shorts = hn::Vec<TagInt16>;

/// Loads a vector of channels, or the first `count` of them followed by zeros; reads nothing past those.
template <bool IsWhole>
HWY_INLINE Shorts LoadChannels(const int16_t* from, [[maybe_unused]] size_t count)
{
    const TagInt16 d;
    if constexpr (IsWhole)
    {
        return hn::LoadU(d, from);
    }
    else
    {
#if HWY_TARGET == HWY_AVX3
        return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
        HWY_ALIGN int16_t some[hn::MaxLanes(d)] = {};
        std::memcpy(some, from, count * sizeof(int16_t));
        return hn::Load(d, some);
#endif
    }
}

/// Depthwise: interleaves the channels of two taps, so that a pair of taps is a pair of the dot product.
template <typename Dot, size_t Pixels, bool IsWhole>
HWY_INLINE void SumTaps(const DepthwiseTileInt16& tile)
{
    const Ints d;
    const TagInt16 d16;
    const size_t lanes = hn::Lanes(d);
    Vector low[Pixels];
    Vector high[Pixels];
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        low[p] = high[p] = hn::Zero(d);
    }
    const int16_t* const* first = tile.m_Indirection;
    const int32_t* weights = tile.m_Weights;
    const size_t tapStep = tile.m_TapStep;
    const size_t offset = tile.m_Offset;
    const size_t channels = tile.m_Channels;
    for (size_t left = tile.m_Steps; left > 0; --left)
    {
        const int16_t* const* second = first + tapStep;
        const Vector lowWeights = hn::Load(d, weights);
        const Vector highWeights = hn::Load(d, weights + lanes);
        HWY_UNROLL(4)
        for (size_t p = 0; p < Pixels; ++p)
        {
            const Shorts a = LoadChannels<IsWhole>(first[p] + offset, channels);
            const Shorts b = LoadChannels<IsWhole>(second[p] + offset, channels);
            Dot::Add(low[p], hn::BitCast(d, hn::InterleaveLower(d16, a, b)), lowWeights);
            Dot::Add(high[p], hn::BitCast(d, hn::InterleaveUpper(d16, a, b)), highWeights);
        }
        first = second + tapStep;
        weights += 2 * lanes;
    }
    int32_t* const sums = tile.m_Sums;
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        hn::Store(low[p], d, sums + 2 * p * lanes);
        hn::Store(high[p], d, sums + (2 * p + 1) * lanes);
    }
}

struct DepthwiseKind
{
    template <typename Dot, size_t Pixels>
    static void Run(const DepthwiseTileInt16& tile)
    {
        tile.m_Channels >= hn::Lanes(TagInt16()) ? SumTaps<Dot, Pixels, true>(tile) : SumTaps<Dot, Pixels, false>(tile);
    }
};

HWY_INLINE Vector LowerHalves(Vector a, Vector b)
{
    const hn::Repartition<int64_t, Ints> d64;
    return hn::BitCast(Ints(), hn::InterleaveLower(d64, hn::BitCast(d64, a), hn::BitCast(d64, b)));
}

HWY_INLINE Vector UpperHalves(Vector a, Vector b)
{
    const hn::Repartition<int64_t, Ints> d64;
    return hn::BitCast(Ints(), hn::InterleaveUpper(d64, hn::BitCast(d64, a), hn::BitCast(d64, b)));
}

/// Horizontal sums of groups. Input: one vector for each output of a group, whose lanes are pairs of channels. Output:
/// two vectors of all outputs, in the order of GetPaddedColumnInt16. All shuffles stay within blocks of four lanes.
HWY_INLINE void FoldGroups(const Vector (&sums)[2], Vector& low, Vector& high)
{
    low = hn::InterleaveLower(Ints(), sums[0], sums[1]);
    high = hn::InterleaveUpper(Ints(), sums[0], sums[1]);
}

HWY_INLINE void FoldGroups(const Vector (&sums)[4], Vector& low, Vector& high)
{
    const Ints d;
    const Vector firstLow = hn::InterleaveLower(d, sums[0], sums[1]);
    const Vector firstHigh = hn::InterleaveUpper(d, sums[0], sums[1]);
    const Vector lastLow = hn::InterleaveLower(d, sums[2], sums[3]);
    const Vector lastHigh = hn::InterleaveUpper(d, sums[2], sums[3]);
    low = hn::Add(LowerHalves(firstLow, lastLow), UpperHalves(firstLow, lastLow));
    high = hn::Add(LowerHalves(firstHigh, lastHigh), UpperHalves(firstHigh, lastHigh));
}

/// Sums of the four lanes of each block, of four vectors.
HWY_INLINE Vector AddBlocks(Vector first, Vector second, Vector third, Vector fourth)
{
    const Ints d;
    const Vector left = hn::Add(hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second));
    const Vector right = hn::Add(hn::InterleaveLower(d, third, fourth), hn::InterleaveUpper(d, third, fourth));
    return hn::Add(LowerHalves(left, right), UpperHalves(left, right));
}

HWY_INLINE void FoldGroups(const Vector (&sums)[8], Vector& low, Vector& high)
{
    low = AddBlocks(sums[0], sums[1], sums[2], sums[3]);
    high = AddBlocks(sums[4], sums[5], sums[6], sums[7]);
}

/// Reorders columns from the order of GetPaddedColumnInt16 to ascending order.
HWY_INLINE void SortColumns([[maybe_unused]] Vector& low, [[maybe_unused]] Vector& high)
{
#if HWY_TARGET == HWY_AVX3
    const __m512i first = _mm512_shuffle_i64x2(low.raw, high.raw, 0x44);
    const __m512i last = _mm512_shuffle_i64x2(low.raw, high.raw, 0xEE);
    low.raw = _mm512_shuffle_i64x2(first, first, 0xD8);
    high.raw = _mm512_shuffle_i64x2(last, last, 0xD8);
#elif HWY_TARGET == HWY_AVX2
    const Vector first = hn::ConcatLowerLower(Ints(), high, low);
    high = hn::ConcatUpperUpper(Ints(), high, low);
    low = first;
#else
    static_assert(hn::MaxLanes(Ints()) == 4);
#endif
}

/// Groups: channels are read in place. A lane's pair of channels is multiplied by the weights of one output of its
/// group after the other; each output has a vector of sums of its own.
template <typename Dot, size_t Group, size_t Pixels, bool IsWhole>
HWY_INLINE void SumGroups(const DepthwiseTileInt16& tile)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Pixels][Group];
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        HWY_UNROLL(8)
        for (size_t o = 0; o < Group; ++o)
        {
            acc[p][o] = hn::Zero(d);
        }
    }
    const int16_t* const* data = tile.m_Indirection;
    const int32_t* weights = tile.m_Weights;
    const size_t tapStep = tile.m_TapStep;
    const size_t offset = tile.m_Offset;
    const size_t channels = tile.m_Channels;
    for (size_t left = tile.m_Steps; left > 0; --left, data += tapStep, weights += Group * lanes)
    {
        Vector x[Pixels];
        HWY_UNROLL(4)
        for (size_t p = 0; p < Pixels; ++p)
        {
            x[p] = hn::BitCast(d, LoadChannels<IsWhole>(data[p] + offset, channels));
        }
        HWY_UNROLL(8)
        for (size_t o = 0; o < Group; ++o)
        {
            const Vector w = hn::Load(d, weights + o * lanes);
            HWY_UNROLL(4)
            for (size_t p = 0; p < Pixels; ++p)
            {
                Dot::Add(acc[p][o], x[p], w);
            }
        }
    }
    int32_t* const sums = tile.m_Sums;
    HWY_UNROLL(4)
    for (size_t p = 0; p < Pixels; ++p)
    {
        Vector low;
        Vector high;
        FoldGroups(acc[p], low, high);
        if (tile.m_Bias != nullptr)
        {
            SortColumns(low, high);
            low = hn::Add(low, hn::Load(d, tile.m_Bias));
            high = hn::Add(high, hn::Load(d, tile.m_Bias + lanes));
        }
        hn::Store(low, d, sums + 2 * p * lanes);
        hn::Store(high, d, sums + (2 * p + 1) * lanes);
    }
}

template <size_t Group>
struct GroupsKind
{
    template <typename Dot, size_t Pixels>
    static void Run(const DepthwiseTileInt16& tile)
    {
        tile.m_Channels >= hn::Lanes(TagInt16()) ? SumGroups<Dot, Group, Pixels, true>(tile)
                                                 : SumGroups<Dot, Group, Pixels, false>(tile);
    }
};

/// Loads a vector of pairs.
HWY_INLINE Vector LoadPairs(const int16_t* from)
{
    return hn::BitCast(Ints(), hn::Load(hn::Repartition<int16_t, Ints>(), from));
}

HWY_INLINE Vector LoadPairs(const int8_t* from)
{
    const hn::Repartition<int16_t, Ints> d16;
    return hn::BitCast(Ints(), hn::PromoteTo(d16, hn::Load(hn::Rebind<int8_t, decltype(d16)>(), from)));
}

/// A tile of Rows x Vectors vectors of sums; W: type of the packed weights.
template <typename Dot, typename W, size_t Rows, size_t Vectors>
void Tile(const TileInt16& tile)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    Vector acc[Rows][Vectors];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[r][v] = hn::Zero(d);
        }
    }
    const auto* weights = static_cast<const W*>(tile.m_Panel);
    const int16_t* const* data = tile.m_Indirection;
    const int16_t* const zeros = tile.m_Zeros;
    size_t begin = tile.m_FirstGroup;
    for (size_t left = tile.m_Groups; left > 0; data += tile.m_TapStep, begin = 0)
    {
        const size_t end = std::min(tile.m_TapGroups, begin + left);
        left -= end - begin;
        if (zeros != nullptr && IsTapPadding<Rows>(data, zeros))
        {
            weights += 2 * Vectors * lanes * (end - begin);
            continue;
        }
        const int16_t* rows[Rows];
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            rows[r] = data[r];
        }
        for (size_t g = begin; g < end; ++g)
        {
            Vector w[Vectors];
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                w[v] = LoadPairs(weights + 2 * v * lanes);
            }
            weights += 2 * Vectors * lanes;
            HWY_UNROLL(8)
            for (size_t r = 0; r < Rows; ++r)
            {
                int32_t pair;
                std::memcpy(&pair, rows[r] + 2 * g, sizeof(pair));
                const Vector x = hn::Set(d, pair);
                HWY_UNROLL(4)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    AddSame<Dot>(acc[r][v], x, w[v]);
                }
            }
        }
    }
    int32_t* const sums = tile.m_Sums;
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            hn::Store(acc[r][v], d, sums + (r * Vectors + v) * lanes);
        }
    }
}

/// Fills the microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <typename Dot, size_t Vectors, size_t Rows>
void FillTiles(MicrokernelsInt16& microkernels)
{
    microkernels.m_Tiles[Vectors][Rows] = Tile<Dot, int16_t, Rows, Vectors>;
    if constexpr (Rows <= MicrokernelsInt16::MaxInt8Rows)
    {
        microkernels.m_Int8WeightTiles[Vectors][Rows] = Tile<Dot, int8_t, Rows, Vectors>;
    }
    microkernels.m_Rows[Vectors] = std::max(microkernels.m_Rows[Vectors], Rows);
    microkernels.m_Vectors = std::max(microkernels.m_Vectors, Vectors);
    if constexpr (Rows > 1)
    {
        FillTiles<Dot, Vectors, Rows - 1>(microkernels);
    }
}

/// Fills the microkernels of 1 to `Pixels` pixels.
template <typename Dot, typename Kind, size_t Pixels>
void FillPixels(DepthwiseMicrokernelsInt16& tiles)
{
    static_assert(Pixels <= DepthwiseMicrokernelsInt16::MaxPixels);
    tiles.m_Pixels = std::max(tiles.m_Pixels, Pixels);
    tiles.m_Run[Pixels] = Kind::template Run<Dot, Pixels>;
    if constexpr (Pixels > 1)
    {
        FillPixels<Dot, Kind, Pixels - 1>(tiles);
    }
}

/// 32 registers: 24 sums, 4 vectors of weights, and the data.
template <typename Dot>
void FillWide(MicrokernelsInt16& microkernels)
{
    FillTiles<Dot, 1, 8>(microkernels);
    FillTiles<Dot, 2, 8>(microkernels);
    FillTiles<Dot, 3, 8>(microkernels);
    FillTiles<Dot, 4, 6>(microkernels);
    FillPixels<Dot, DepthwiseKind, 4>(microkernels.m_Depthwise);
    FillPixels<Dot, GroupsKind<2>, 4>(microkernels.m_Groups[2]);
    FillPixels<Dot, GroupsKind<4>, 4>(microkernels.m_Groups[4]);
    FillPixels<Dot, GroupsKind<8>, 3>(microkernels.m_Groups[8]);
}

/// 16 registers: 12 sums, 2 vectors of weights, the data and a product.
template <typename Dot>
void FillNarrow(MicrokernelsInt16& microkernels)
{
    FillTiles<Dot, 1, 8>(microkernels);
    FillTiles<Dot, 2, 6>(microkernels);
    FillPixels<Dot, DepthwiseKind, 4>(microkernels.m_Depthwise);
    FillPixels<Dot, GroupsKind<2>, 4>(microkernels.m_Groups[2]);
    FillPixels<Dot, GroupsKind<4>, 2>(microkernels.m_Groups[4]);
    FillPixels<Dot, GroupsKind<8>, 1>(microkernels.m_Groups[8]);
}

MicrokernelsInt16 MakeMicrokernels()
{
    MicrokernelsInt16 microkernels;
    microkernels.m_Lanes = hn::Lanes(Ints());
#if HWY_TARGET == HWY_AVX3
    GetCpuFeatures().m_Avx512Vnni ? FillWide<VnniPairs>(microkernels) : FillWide<Int16x2>(microkernels);
#elif HWY_TARGET == HWY_AVX2
    GetCpuFeatures().m_AvxVnni ? FillNarrow<VnniPairs>(microkernels) : FillNarrow<Int16x2>(microkernels);
#else
    FillNarrow<Int16x2>(microkernels);
#endif
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const MicrokernelsInt16& GetMicrokernelsInt16()
{
    static constinit PerIsa<MicrokernelsInt16> microkernels;
    return microkernels.Get(
        []
        {
            MicrokernelsInt16 made = TENON_CHOOSE(MakeMicrokernels)();
            SetRequantization(made);
            return made;
        });
}

} // namespace tenon::cpu
#endif
