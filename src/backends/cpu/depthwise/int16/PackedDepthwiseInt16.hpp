// SPDX-License-Identifier: Apache-2.0
// Constant weights of a depthwise convolution of 16-bit data, or of one in small groups, packed for the processor at
// hand when a workload is made, together with what turns sums into numbers of the output. Read by Depthwise16.
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

/// Channels are in chunks of two vectors' worth of sums.
class PackedDepthwise16 final : public backends::PackedWeights
{
public:
    /// Weights are [taps, channels]; those of groups of channels that give as many, for which the engine has tiles, are
    /// [channels, taps, channels of a group].
    PackedDepthwise16(const Weights16& weights, size_t taps, size_t channels, size_t groupChannels,
                      backends::PackedStore& store);

    static uint64_t GetPackedBytes(uint64_t taps, uint64_t channels, uint64_t groupChannels);

    /// Whether Engine16 gives the numbers of the reference kernel. Nothing is packed otherwise.
    bool IsExact() const { return m_IsExact && m_Arrays.IsExact(); }
    bool RefersToConstants() const override { return !IsExact(); }

    const Engine16& GetEngine() const { return *m_Engine; }
    const DepthwiseTiles16& GetTiles() const
    {
        return m_GroupChannels == 1 ? m_Engine->m_Depthwise : m_Engine->m_Groups[m_GroupChannels];
    }
    size_t GetChannels() const { return m_Channels; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    /// As tiles have them: pairs of taps, or taps of groups.
    size_t GetSteps() const { return m_Steps; }
    size_t GetTableTaps() const { return m_Steps * (m_GroupChannels == 1 ? 2 : 1); }
    size_t GetChunks() const { return m_Chunks.GetChunks(); }
    /// The first channel of a chunk, and how many it has.
    size_t GetFirst(size_t chunk) const { return m_Chunks.GetFirst(chunk); }
    size_t GetCount() const { return m_Chunks.GetCount(); }
    /// As DepthwiseTile16 has them.
    const int32_t* GetWeights(size_t chunk) const;
    /// The output's range is the caller's.
    Columns16 GetRequantization(size_t chunk) const { return m_Arrays.From(chunk * 2 * m_Engine->m_Lanes); }
    /// A pixel outside of the image.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const Weights16& weights, size_t taps, backends::PackedStore& store);
    int64_t SumMagnitudes(const Weights16& weights, size_t taps, size_t channel) const;
    void PackTaps(const Weights16& weights, size_t taps, int16_t* packed) const;
    /// Pairs of a step of a chunk.
    size_t GetStepPairs() const { return std::max<size_t>(m_GroupChannels, 2) * m_Engine->m_Lanes; }

    const Engine16* m_Engine;
    size_t m_Channels;
    size_t m_GroupChannels;
    size_t m_Steps;
    ChannelChunks m_Chunks;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArrays16 m_Arrays;
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
