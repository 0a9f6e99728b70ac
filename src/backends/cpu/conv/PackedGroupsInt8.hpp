// SPDX-License-Identifier: Apache-2.0
// Constant weights of 8 or 4 bits of a convolution in small groups of channels that give as many, beside bytes or
// floats, packed as those of 16-bit data, together with what turns sums into bytes or floats. Read by
// Convolution2dGroupsInt8.cpp.
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

class PackedGroups8 final : public backends::PackedWeights
{
public:
    PackedGroups8(const LayerView& layer, backends::PackedStore& store);

    static uint64_t GetPackedBytes(const TensorShape& weights);

    /// Whether the loops give the numbers of the reference kernel. Nothing is packed otherwise.
    bool IsExact() const { return m_IsExact; }
    bool RefersToConstants() const override { return !m_IsExact; }

    const DepthwiseTiles16& GetTiles() const { return m_Engine->m_Groups[m_GroupChannels]; }
    const ChannelChunks& GetChunks() const { return m_Chunks; }
    size_t GetTaps() const { return m_Taps; }
    size_t GetGroupChannels() const { return m_GroupChannels; }
    const int32_t* GetWeights(size_t chunk) const
    {
        return m_Data.As<int32_t>() + chunk * m_Taps * m_GroupChannels * m_Engine->m_Lanes;
    }
    /// What sums begin with.
    const int32_t* GetBias(size_t chunk) const { return m_Arrays.GetBias(chunk * m_Chunks.m_Width); }
    /// Of bytes; the output's range is the caller's.
    RequantizeColumns GetRequantization(size_t chunk) const { return m_Arrays.From(chunk * m_Chunks.m_Width); }
    /// Of floats, whose data are less their zero point already; the clamp is the caller's.
    FloatColumns GetFloatColumns(size_t chunk) const;
    /// A pixel outside of the image.
    const int16_t* GetZeros() const { return m_Zeros.data(); }

private:
    void SetUpChannels(const LayerView& layer, const int64_t* magnitudes);

    const Engine16* m_Engine;
    ChannelChunks m_Chunks;
    size_t m_GroupChannels;
    size_t m_Taps;
    bool m_IsExact = true;
    backends::PackedBlock m_Data;
    RequantizeArrays m_Arrays;
    AlignedMemory m_Floats; ///< of the channels' places: zeros, scales of the weights, biases
    std::vector<int16_t> m_Zeros;
};

} // namespace tenon::cpu
