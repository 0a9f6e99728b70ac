// SPDX-License-Identifier: Apache-2.0
// Packed weights of Convolution2dGroupsInt8.cpp: (w - zw) as int16, and the constants of the epilogue by channel.
//
//   [chunk of 2 vectors of channels][tap][output o of the group][lane]     lane i reads input channel i of the chunk
//   element = w[first output of the lane's group + o][tap][i % channels of a group] - zw
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/depthwise/int16/SmallGroupsInt16.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class PackedGroupsInt8 final : public backends::PackedWeights
{
public:
    PackedGroupsInt8(const LayerView& layer, backends::PackedStore& store);

    static uint64_t GetPackedBytes(const TensorShape& weights);

    /// Whether all sums stay below the limit of exact requantization, so that results are those of the reference
    /// kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact; }
    bool RefersToConstants() const override { return !m_IsExact; }

    const DepthwiseMicrokernelsInt16& GetTiles() const { return m_Microkernels->m_Groups[m_GroupChannels]; }
    const ChannelChunks& GetChunks() const { return m_Chunks; }
    size_t GetTaps() const { return m_Taps; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    const int32_t* GetWeights(size_t chunk) const
    {
        return m_Data.As<int32_t>() + chunk * m_Taps * m_GroupChannels * m_Microkernels->m_Lanes;
    }
    /// Initial accumulators: the bias.
    const int32_t* GetBias(size_t chunk) const { return m_Arrays.GetBias(chunk * m_Chunks.m_Width); }
    /// Requantization to int8; the caller sets the output's range.
    RequantizeColumns GetRequantization(size_t chunk) const { return m_Arrays.From(chunk * m_Chunks.m_Width); }
    /// Scales and bias of hybrid layers, without a zero-point correction; the caller sets the clamp.
    DequantizeColumns GetDequantization(size_t chunk) const;
    /// A pixel in the padding: zeros.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const LayerView& layer, const int64_t* magnitudes);

    const MicrokernelsInt16* m_Microkernels;
    ChannelChunks m_Chunks;
    size_t m_GroupChannels;
    size_t m_Taps;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArraysInt8 m_Arrays;
    AlignedMemory m_Floats; ///< by channel in packed order: zeros, scales of the weights, biases
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
