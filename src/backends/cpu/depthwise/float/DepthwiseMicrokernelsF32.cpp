// SPDX-License-Identifier: Apache-2.0
// Tiles of float depthwise convolutions, and the table of all float microkernels. Channels are the outer loop, a vector
// at a time: the weights of the vector stay in registers for all pixels of the tile.
//   sums[r][c] += image[y][x] * w[y - r * stride][x - c * stride]
// Also tiles of Convolution2d in groups of 2, 4 or 8 channels with as many outputs:
//   2, 4:         sum[o] += (in[i], broadcast within its group) * w[tap][i][o]
//   8 (AVX-512):  sum[o][i] += in[i] * w[tap][o][i], lane = input channel; lanes are added up within the group at the
//   end
#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <type_traits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it.
#include "backends/cpu/depthwise/float/RowStripPairAvx2F32-inl.hpp"
#include "backends/cpu/depthwise/float/StripF32-inl.hpp"
#include "backends/cpu/depthwise/float/TileEpilogueF32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Broadcasts channel I of each group within the group's lanes.
template <size_t Group, size_t I>
HWY_INLINE VecF32 BroadcastChannel(VecF32 values)
{
    if constexpr (Group == 4)
    {
        return hn::Broadcast<I>(values);
    }
    else
    {
        return I == 0 ? hn::DupEven(values) : hn::DupOdd(values);
    }
}

/// The same as RunAnyChannels for groups of channels: each output sums all channels of its group.
template <size_t Group, size_t Columns, typename T, typename Memory>
HWY_INLINE void RunGroups(const DepthwiseTileF32<T>& tile, size_t channel, const float* weights, const Memory& memory)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 sums[1][Columns];
    StartSums(tile, channel, sums, memory);
    const T* const* data = tile.m_Data;
    for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += Columns, weights += Group * lanes)
    {
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            const VecF32 values = memory.Load(data[c] + channel);
            sums[0][c] = hn::MulAdd(BroadcastChannel<Group, 0>(values), hn::Load(d, weights), sums[0][c]);
            sums[0][c] = hn::MulAdd(BroadcastChannel<Group, 1>(values), hn::Load(d, weights + lanes), sums[0][c]);
            if constexpr (Group == 4)
            {
                sums[0][c] =
                    hn::MulAdd(BroadcastChannel<Group, 2>(values), hn::Load(d, weights + 2 * lanes), sums[0][c]);
                sums[0][c] =
                    hn::MulAdd(BroadcastChannel<Group, 3>(values), hn::Load(d, weights + 3 * lanes), sums[0][c]);
            }
        }
    }
    StorePixels(tile, channel, sums, memory);
}

template <size_t Group, size_t Columns, typename T>
void GroupsTile(const DepthwiseTileF32<T>& tile)
{
    const size_t lanes = hn::Lanes(TagF32());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += tile.m_Taps * Group * lanes)
    {
        RunGroups<Group, Columns>(tile, channel, weights, FullVector());
    }
    if (channel < tile.m_Channels)
    {
        RunGroups<Group, Columns>(tile, channel, weights, TailVector{tile.m_Channels - channel});
    }
}

#if HWY_TARGET == HWY_AVX3
/// Sums each block of four lanes, of four vectors at once.
HWY_INLINE VecF32 AddBlocks(VecF32 first, VecF32 second, VecF32 third, VecF32 fourth)
{
    const TagF32 d;
    const hn::Repartition<double, TagF32> d64;
    const auto left =
        hn::BitCast(d64, hn::Add(hn::InterleaveLower(d, first, second), hn::InterleaveUpper(d, first, second)));
    const auto right =
        hn::BitCast(d64, hn::Add(hn::InterleaveLower(d, third, fourth), hn::InterleaveUpper(d, third, fourth)));
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, left, right)),
                   hn::BitCast(d, hn::InterleaveUpper(d64, left, right)));
}

/// Outputs of groups of eight: sums[o] has a lane for each input channel, whose lanes are added up within the group.
HWY_INLINE VecF32 ReduceGroupsOf8(const VecF32 (&sums)[8])
{
    const VecF32 low = AddBlocks(sums[0], sums[1], sums[2], sums[3]);
    const VecF32 high = AddBlocks(sums[4], sums[5], sums[6], sums[7]);
    return hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high), low),
                   hn::OddEvenBlocks(high, hn::SwapAdjacentBlocks(low)));
}

/// The same as RunGroups for groups of eight. Channels are not broadcast, which would take as long as the products:
/// they are multiplied by the weights of one output of their group after the other, and each output has sums of its
/// own.
template <size_t Columns, typename T, typename Memory>
HWY_INLINE void RunGroupsOf8(const DepthwiseTileF32<T>& tile, size_t channel, const float* weights,
                             const Memory& memory)
{
    constexpr size_t Group = 8;
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 ofOutputs[Columns][Group];
    HWY_UNROLL(8)
    for (size_t c = 0; c < Columns; ++c)
    {
        HWY_UNROLL(8)
        for (size_t o = 0; o < Group; ++o)
        {
            ofOutputs[c][o] = hn::Zero(d);
        }
    }
    const T* const* data = tile.m_Data;
    for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += Columns, weights += Group * lanes)
    {
        VecF32 values[Columns];
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            values[c] = memory.Load(data[c] + channel);
        }
        HWY_UNROLL(8)
        for (size_t o = 0; o < Group; ++o)
        {
            const VecF32 w = hn::Load(d, weights + o * lanes);
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                ofOutputs[c][o] = hn::MulAdd(values[c], w, ofOutputs[c][o]);
            }
        }
    }
    VecF32 sums[1][Columns];
    StartSums(tile, channel, sums, memory);
    HWY_UNROLL(8)
    for (size_t c = 0; c < Columns; ++c)
    {
        sums[0][c] = hn::Add(sums[0][c], ReduceGroupsOf8(ofOutputs[c]));
    }
    StorePixels(tile, channel, sums, memory);
}

template <size_t Columns, typename T>
void Groups8Tile(const DepthwiseTileF32<T>& tile)
{
    const size_t lanes = hn::Lanes(TagF32());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += tile.m_Taps * 8 * lanes)
    {
        RunGroupsOf8<Columns>(tile, channel, weights, FullVector());
    }
    if (channel < tile.m_Channels)
    {
        RunGroupsOf8<Columns>(tile, channel, weights, TailVector{tile.m_Channels - channel});
    }
}
#endif

namespace
{

/// Computes a vector of channels of the pixels of a tile, for a window of Size x Size taps.
template <size_t Size, size_t Stride, size_t Rows, size_t Columns, typename T, typename Memory>
HWY_INLINE void RunChannels(const DepthwiseTileF32<T>& tile, size_t channel, const float* weights, const Memory& memory)
{
    const TagF32 d;
    constexpr size_t Width = (Columns - 1) * Stride + Size;
    constexpr size_t Height = (Rows - 1) * Stride + Size;
    VecF32 w[Size * Size];
    HWY_UNROLL(25)
    for (size_t i = 0; i < Size * Size; ++i)
    {
        w[i] = hn::Load(d, weights + i * hn::Lanes(d));
    }
    VecF32 sums[Rows][Columns];
    StartSums(tile, channel, sums, memory);
    HWY_UNROLL(8)
    for (size_t y = 0; y < Height; ++y)
    {
        HWY_UNROLL(12)
        for (size_t x = 0; x < Width; ++x)
        {
            const VecF32 value = memory.Load(tile.m_Data[y * Width + x] + channel);
            // All taps of the tile's windows that read this pixel.
            HWY_UNROLL(2)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(4)
                for (size_t c = 0; c < Columns; ++c)
                {
                    const size_t i = y - r * Stride;
                    const size_t j = x - c * Stride;
                    if (i < Size && j < Size) // negative indices wrap around to large ones
                    {
                        sums[r][c] = hn::MulAdd(value, w[i * Size + j], sums[r][c]);
                    }
                }
            }
        }
    }
    StorePixels(tile, channel, sums, memory);
}

/// Computes the last channels, fewer than a vector, of one row of pixels. A function of its own, which tiles of two
/// rows call for each row: unrolled for both rows, it would be as large as the code of all full vectors.
template <size_t Size, size_t Stride, size_t Columns, typename T>
HWY_NOINLINE void RunTail(const DepthwiseTileF32<T>& tile, size_t channel, const float* weights)
{
    RunChannels<Size, Stride, 1, Columns>(tile, channel, weights, TailVector{tile.m_Channels - channel});
}

template <size_t Size, size_t Stride, size_t Rows, size_t Columns, typename T>
void Tile(const DepthwiseTileF32<T>& tile)
{
    static_assert(Rows <= 2);
    const size_t lanes = hn::Lanes(TagF32());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += Size * Size * lanes)
    {
        RunChannels<Size, Stride, Rows, Columns>(tile, channel, weights, FullVector());
    }
    if (channel < tile.m_Channels)
    {
        RunTail<Size, Stride, Columns>(tile, channel, weights);
        if constexpr (Rows == 2)
        {
            constexpr size_t Width = (Columns - 1) * Stride + Size; // image columns under a row of the tile
            DepthwiseTileF32<T> second = tile;
            second.m_Data += Stride * Width;
            second.m_Out += second.m_OutRowStride;
            RunTail<Size, Stride, Columns>(second, channel, weights);
        }
    }
}

/// The same for any window: the pixel of each tap comes from the indirection buffer.
template <size_t Columns, typename T, typename Memory>
HWY_INLINE void RunAnyChannels(const DepthwiseTileF32<T>& tile, size_t channel, const float* weights,
                               const Memory& memory)
{
    const TagF32 d;
    VecF32 sums[1][Columns];
    StartSums(tile, channel, sums, memory);
    const T* const* data = tile.m_Data;
    for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += Columns, weights += hn::Lanes(d))
    {
        const VecF32 w = hn::Load(d, weights);
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[0][c] = hn::MulAdd(memory.Load(data[c] + channel), w, sums[0][c]);
        }
    }
    StorePixels(tile, channel, sums, memory);
}

template <size_t Columns, typename T>
void AnyTile(const DepthwiseTileF32<T>& tile)
{
    const size_t lanes = hn::Lanes(TagF32());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += tile.m_Taps * lanes)
    {
        RunAnyChannels<Columns>(tile, channel, weights, FullVector());
    }
    if (channel < tile.m_Channels)
    {
        RunAnyChannels<Columns>(tile, channel, weights, TailVector{tile.m_Channels - channel});
    }
}

HWY_INLINE VecF32 BroadcastChannel(const float* from)
{
    return hn::Set(TagF32(), *from);
}
HWY_INLINE VecF32 BroadcastChannel(const uint16_t* from)
{
    const TagF32 d;
    return hn::BitCast(d, hn::Set(hn::RebindToUnsigned<TagF32>(), uint32_t{*from} << 16));
}

/// The same for a channel multiplier of whole vectors: one channel of the image is broadcast to them.
template <size_t Columns, typename T>
void BroadcastTile(const DepthwiseTileF32<T>& tile)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const float* weights = tile.m_Weights;
    size_t made = 0; // outputs of the image's channel so far
    for (size_t channel = 0, from = 0; channel < tile.m_Channels; channel += lanes)
    {
        VecF32 sums[1][Columns];
        StartSums(tile, channel, sums, FullVector());
        const T* const* data = tile.m_Data;
        for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += Columns, weights += lanes)
        {
            const VecF32 w = hn::Load(d, weights);
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                sums[0][c] = hn::MulAdd(BroadcastChannel(data[c] + from), w, sums[0][c]);
            }
        }
        StorePixels(tile, channel, sums, FullVector());
        made += lanes;
        if (made == tile.m_Multiplier)
        {
            made = 0;
            ++from;
        }
    }
}

/// Calls set(number of columns as a constant) for each width of tiles.
template <typename F, size_t... Columns>
void ForEachWidth(const F& set, std::index_sequence<Columns...>)
{
    (set(std::integral_constant<size_t, Columns + 1>()), ...);
}

template <size_t Size, size_t Stride, typename T>
DepthwiseTileSetF32<T> MakeTiles()
{
    DepthwiseTileSetF32<T> tiles;
    tiles.m_Size = Size;
    tiles.m_Rows = 2;
    tiles.m_Columns = 4; // two rows of four pixels: as many sums as registers hold
    ForEachWidth(
        [&tiles](auto columns)
        {
            tiles.m_Run[1][columns] = Tile<Size, Stride, 1, columns, T>;
            tiles.m_Run[2][columns] = Tile<Size, Stride, 2, columns, T>;
        },
        std::make_index_sequence<4>());
    return tiles;
}

template <typename T>
DepthwiseMicrokernelsF32<T> MakeMicrokernels()
{
    DepthwiseMicrokernelsF32<T> microkernels;
    microkernels.m_Size2 = MakeTiles<2, 1, T>();
    microkernels.m_Size3[0] = MakeTiles<3, 1, T>();
    microkernels.m_Size3[1] = MakeTiles<3, 2, T>();
#if HWY_TARGET == HWY_AVX3
    // Vectors are whole cache lines, and registers hold all operands of a strip.
    microkernels.m_RowStrips[0][1] = RowStrip<1, 1, SlideDirection::Across, T>;
    microkernels.m_RowStrips[0][2] = RowStrip<2, 1, SlideDirection::Across, T>;
    microkernels.m_RowStrips[1][1] = RowStrip<1, 2, SlideDirection::Across, T>;
    microkernels.m_RowStrips[1][2] = RowStrip<2, 2, SlideDirection::Across, T>;
    if constexpr (std::is_same_v<T, float>)
    {
        microkernels.m_ScalingStrips[0][1] = RowStrip<1, 1, SlideDirection::AcrossScaling, T>;
        microkernels.m_ScalingStrips[0][2] = RowStrip<2, 1, SlideDirection::AcrossScaling, T>;
        microkernels.m_ScalingStrips[1][1] = RowStrip<1, 2, SlideDirection::AcrossScaling, T>;
        microkernels.m_ScalingStrips[1][2] = RowStrip<2, 2, SlideDirection::AcrossScaling, T>;
        microkernels.m_QuantizePixels = QuantizePixels;
        ForEachWidth(
            [&microkernels](auto columns)
            {
                microkernels.m_ColumnStrips[0][columns] = ColumnStrip<columns, 1>;
                microkernels.m_ColumnStrips[1][columns] = ColumnStrip<columns, 2>;
            },
            std::make_index_sequence<DepthwiseColumnStrips::MaxColumns>());
    }
#elif HWY_TARGET == HWY_AVX2
    // Registers hold nearly all operands of a strip, and pairs of vectors are whole cache lines. On other instruction
    // sets tiles are as fast.
    if constexpr (std::is_same_v<T, float>)
    {
        microkernels.m_RowStrips[0][1] = RowStrip<1, 1, SlideDirection::Across, T>;
        microkernels.m_RowStrips[0][2] = RowStrip<2, 1, SlideDirection::Across, T>;
        microkernels.m_RowStrips[1][1] = RowStrip<1, 2, SlideDirection::Across, T>;
        microkernels.m_RowStrips[1][2] = RowStrip<2, 2, SlideDirection::Across, T>;
        microkernels.m_PairStrips[0][1] = PairStrip<1, 1>;
        microkernels.m_PairStrips[0][2] = PairStrip<2, 1>;
        microkernels.m_PairStrips[1][1] = PairStrip<1, 2>;
        microkernels.m_PairStrips[1][2] = PairStrip<2, 2>;
    }
#endif
    microkernels.m_Size5[0] = MakeTiles<5, 1, T>();
    microkernels.m_Size5[1] = MakeTiles<5, 2, T>();
    // Enough independent sums to hide the latency of a multiply-add.
    constexpr size_t Columns = DepthwiseTileSetF32<T>::MaxColumns;
    microkernels.m_AnyWindow.m_Columns = microkernels.m_Groups2.m_Columns = microkernels.m_Groups4.m_Columns = Columns;
    microkernels.m_BroadcastTiles.m_Columns = Columns;
    microkernels.m_BroadcastTiles.m_BroadcastsChannels = true;
    ForEachWidth(
        [&microkernels](auto columns)
        {
            microkernels.m_AnyWindow.m_Run[1][columns] = AnyTile<columns, T>;
            microkernels.m_BroadcastTiles.m_Run[1][columns] = BroadcastTile<columns, T>;
            microkernels.m_Groups2.m_Run[1][columns] = GroupsTile<2, columns, T>;
            microkernels.m_Groups4.m_Run[1][columns] = GroupsTile<4, columns, T>;
        },
        std::make_index_sequence<Columns>());
#if HWY_TARGET == HWY_AVX3
    // With fewer registers the weights would be read for too few pixels at a time.
    constexpr size_t Groups8Columns = 3;
    microkernels.m_Groups8.m_Columns = Groups8Columns;
    ForEachWidth([&microkernels](auto columns) { microkernels.m_Groups8.m_Run[1][columns] = Groups8Tile<columns, T>; },
                 std::make_index_sequence<Groups8Columns>());
#endif
    microkernels.m_Lanes = hn::Lanes(TagF32());
    return microkernels;
}

DepthwiseMicrokernelsF32<float> MakeMicrokernelsF32()
{
    return MakeMicrokernels<float>();
}

DepthwiseMicrokernelsF32<uint16_t> MakeMicrokernelsBf16()
{
    DepthwiseMicrokernelsF32<uint16_t> microkernels = MakeMicrokernels<uint16_t>();
    microkernels.m_RoundsFast = HWY_TARGET == HWY_AVX3 && GetCpuFeatures().m_Avx512Bf16;
    return microkernels;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

template <>
const DepthwiseMicrokernelsF32<float>& GetDepthwiseMicrokernelsF32()
{
    static constinit PerIsa<DepthwiseMicrokernelsF32<float>> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernelsF32)(); });
}

template <>
const DepthwiseMicrokernelsF32<uint16_t>& GetDepthwiseMicrokernelsF32()
{
    static constinit PerIsa<DepthwiseMicrokernelsF32<uint16_t>> microkernels;
    return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernelsBf16)(); });
}

} // namespace tenon::cpu
#endif
