// SPDX-License-Identifier: Apache-2.0
// Constant weights of an 8-bit depthwise convolution, packed for the processor at hand. Read by
// DepthwiseConvolution2dInt8.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

class CentredWeights8;

/// Channels that are computed together.
struct DepthwiseBlock8
{
    size_t m_Channel = 0; ///< the first one
    size_t m_Channels = 0;
    size_t m_Pieces = 0;
    size_t m_Place = 0;  ///< of the first one in the arrays of sums
    size_t m_Offset = 0; ///< bytes from the start of the packed weights
    bool m_IsInterleaved = false;
    /// Not 0: bytes are written from the image itself, of so many strips of its rows at once (DepthwiseStrips8). Each
    /// has its channels, interleaved over the lanes of the engine's vectors, and the block has as many places as there
    /// are in all.
    size_t m_Parts = 0;

    /// How often it has what belongs to a channel.
    size_t CountCopies() const { return m_Parts > 1 ? m_Parts : 1; }
};

class PackedDepthwise8 final : public backends::PackedWeights
{
public:
    /// Packs input 1 of the layer, [1, H, W, channels].
    PackedDepthwise8(const LayerView& layer, backends::PackedStore& store);

    /// Bytes of what is packed of the layer's weights, if one set holds them.
    static uint64_t GetPackedBytes(const LayerView& layer);

    /// Whether the sums and scales are such that the loops give the bytes of the reference kernel. Nothing is packed
    /// otherwise.
    bool IsExact() const { return m_IsExact; }
    /// The images of a run may have more columns than those of the load: then the reference kernel takes turned ones.
    bool RefersToConstants() const override { return !m_IsExact || m_IsTurned; }

    /// Whether weights are packed for images of one column, laid as such of one row.
    bool IsTurned() const { return m_IsTurned; }
    /// How many neighbours in the one row of a window are rows that are interleaved: row r is the image's row from its
    /// pixel r on, and the window's columns are as many times further apart. 1: rows are rows.
    size_t GetFold() const { return m_Fold; }

    /// Whether blocks are written from the image itself, which has as many channels as there are outputs then.
    bool HasStrips() const { return m_HasStrips; }

    const DepthwiseEngine8& GetEngine() const { return *m_Engine; }
    const std::vector<DepthwiseBlock8>& GetBlocks() const { return m_Blocks; }
    /// Rows of the image that are interleaved, and how many such groups a window has.
    size_t GetGroupRows() const { return m_GroupRows; }
    size_t GetGroups() const { return m_Groups; }
    /// Output rows whose windows lie in one group of rows.
    size_t GetPhases() const { return m_Phases; }
    /// What dot products take, [sets][groups][width]: a column of the window in one group of its rows.
    size_t GetTaps() const { return m_Sets * m_Groups * m_Width; }
    size_t GetSets() const { return m_Sets; }
    size_t GetWidth() const { return m_Width; }
    const void* GetData(const DepthwiseBlock8& block, size_t phase) const
    {
        return m_Data.Data() + block.m_Offset + phase * GetTaps() * block.m_Pieces * DepthwiseEngine8::PieceBytes;
    }
    /// What the sums of a block begin with.
    const int32_t* GetBias(const DepthwiseBlock8& block) const { return m_Arrays.GetBias(block.m_Place); }
    RequantizeColumns GetRequantization(const DepthwiseBlock8& block) const { return m_Arrays.From(block.m_Place); }
    bool IsDataSigned() const { return m_IsDataSigned; }
    /// The byte outside of the image.
    uint8_t GetPadding() const { return static_cast<uint8_t>(m_DataZeroPoint); }

private:
    struct Window;

    PackedDepthwise8(const LayerView& layer, backends::PackedStore& store, const Window& window);

    /// What is known of the weights of each channel, in a block: the rest that a layer needs is worked out from it.
    void SumChannels(const LayerView& layer, int64_t* facts) const;
    size_t MakeBlocks(const LayerView& layer, const std::vector<double>& scales);
    size_t CountParts(const LayerView& layer) const;
    DepthwiseBlock8 MakeStripBlock(size_t channel, size_t mostParts) const;
    DepthwiseBlock8 MakeBlock(size_t channel, bool interleaves) const;
    /// Where the channels of a block lie in it, those of its first copy first.
    using Places = std::array<uint16_t, DepthwiseEngine8::MostPieces * DepthwiseEngine8::PieceChannels>;
    Places FindPlaces(const DepthwiseBlock8& block) const;
    void PackTaps(const CentredWeights8& weights, const DepthwiseBlock8& block, std::byte* to) const;
    void SetUpSums(const LayerView& layer, const std::vector<double>& scales, const DepthwiseBlock8& block);

    const DepthwiseEngine8* m_Engine;
    bool m_IsTurned;
    size_t m_Fold;
    size_t m_Height;
    size_t m_Width; ///< of what is packed
    size_t m_NumChannels;
    size_t m_NumWeights; ///< of a channel
    size_t m_StrideY;
    size_t m_GroupRows;
    size_t m_Groups;
    size_t m_Phases;
    /// Sets, sums and sums of magnitudes of the channels. Read while this is made.
    backends::PackedBlock m_Facts;
    size_t m_Sets; ///< more where weights less their zero point do not fit into int8: each is a sum of some then
    bool m_IsDataSigned;
    int32_t m_DataZeroPoint;
    bool m_IsExact = true;
    bool m_HasStrips = false;
    std::vector<DepthwiseBlock8> m_Blocks;
    size_t m_BlockBytes = 0; ///< of all blocks
    backends::PackedBlock m_Data;
    RequantizeArrays m_Arrays;
};

} // namespace tenon::cpu
