// SPDX-License-Identifier: Apache-2.0
// Tiles of float Convolution2d in groups of 2, 4 or 8 channels with as many outputs.
//   2, 4:         sum[o] += (in[i], broadcast within its group) * w[tap][i][o]
//   8 (AVX-512):  sum[o][i] += in[i] * w[tap][o][i], lane = input channel; lanes are added up within the group at the
//   end
#if defined(TENON_CPU_GROUP_TILE_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_GROUP_TILE_F32_INL
#undef TENON_CPU_GROUP_TILE_F32_INL
#else
#define TENON_CPU_GROUP_TILE_F32_INL
#endif

#include "backends/cpu/depthwise/float/TileEpilogueF32-inl.hpp"

#include <cstddef>

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

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
