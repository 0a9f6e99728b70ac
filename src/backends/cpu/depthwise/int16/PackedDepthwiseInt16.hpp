// SPDX-License-Identifier: Apache-2.0
// Constant weights of an int16 depthwise convolution, or of one in small groups, and their requantization:
//   depthwise: [chunk][pair of taps][2 * lanes] pairs of int16      groups: see SmallGroupsInt16.hpp
// A chunk is two vectors of channels; the last one may overlap the one before. Read by DepthwiseDriverInt16.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/depthwise/int16/SmallGroupsInt16.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/gemm/pack/WeightReaderInt16.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// Channels are packed in chunks of two vectors of sums.
class PackedDepthwiseInt16 final : public backends::PackedWeights
{
public:
    /// Weights are [taps, channels]; those of small groups, for which there are grouped microkernels, are [channels,
    /// taps, channels of a group].
    PackedDepthwiseInt16(const WeightReaderInt16& weights, size_t taps, size_t channels, size_t groupChannels,
                         backends::PackedStore& store);

    static uint64_t GetPackedBytes(uint64_t taps, uint64_t channels, uint64_t groupChannels);

    /// Whether the microkernels give the numbers of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const MicrokernelsInt16& GetMicrokernels() const { return *m_Microkernels; }
    const DepthwiseMicrokernelsInt16& GetTiles() const
    {
        return m_GroupChannels == 1 ? m_Microkernels->m_Depthwise : m_Microkernels->m_Groups[m_GroupChannels];
    }
    size_t GetChannels() const { return m_Channels; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    /// Steps of the microkernels: pairs of taps, or taps of small groups.
    size_t GetSteps() const { return m_Steps; }
    size_t GetTableTaps() const { return m_Steps * (m_GroupChannels == 1 ? 2 : 1); }
    size_t GetChunks() const { return m_Chunks.GetChunks(); }
    /// First channel of a chunk, and number of its channels.
    size_t GetFirst(size_t chunk) const { return m_Chunks.GetFirst(chunk); }
    size_t GetCount() const { return m_Chunks.GetCount(); }
    /// Weights in the layout of DepthwiseTileInt16.
    const int32_t* GetWeights(size_t chunk) const;
    /// Requantization to int16; the caller sets the output's range.
    RequantizeColumnsInt16 GetRequantization(size_t chunk) const
    {
        return m_Arrays.From(chunk * 2 * m_Microkernels->m_Lanes);
    }
    /// A pixel in the padding: zeros.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const WeightReaderInt16& weights, size_t taps, backends::PackedStore& store);
    int64_t SumMagnitudes(const WeightReaderInt16& weights, size_t taps, size_t channel) const;
    void PackTaps(const WeightReaderInt16& weights, size_t taps, int16_t* packed) const;
    /// Pairs of int16 in a step of a chunk.
    size_t GetStepPairs() const { return std::max<size_t>(m_GroupChannels, 2) * m_Microkernels->m_Lanes; }

    const MicrokernelsInt16* m_Microkernels;
    size_t m_Channels;
    size_t m_GroupChannels;
    size_t m_Steps;
    ChannelChunks m_Chunks;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArraysInt16 m_Arrays;
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
