// SPDX-License-Identifier: Apache-2.0
// Constant weights of an int8 depthwise convolution, packed for the instruction set at hand, block by block:
//   [output row of the row strip][term][row group][window column][chunk][channel][row of the group]
// with w' = w - zw as a sum of int8 terms (most often one), or as int16, and bias' = bias - za' * sum w'. Read by
// DepthwiseConvolution2dInt8.cpp, RowRingBufferInt8 and RowStripDriverInt8.
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

class CentredWeightsInt8;

/// A block of channels that are computed together.
struct ChannelBlockInt8
{
    size_t m_Channel = 0; ///< first channel
    size_t m_Channels = 0;
    size_t m_Chunks = 0;
    size_t m_ArrayOffset = 0; ///< offset of the block in the arrays of bias and scales
    size_t m_Offset = 0;      ///< bytes from the start of the packed weights
    bool m_IsInterleaved = false;
    /// 0: a buffered block. Else a strip block: this many row strips are computed at once (RowStripsInt8). The packed
    /// arrays then hold each channel m_StripCount times, in lane order.
    size_t m_StripCount = 0;

    bool IsStrip() const { return m_StripCount != 0; }
    /// Number of copies of each channel's weights and bias in the block.
    size_t GetCopies() const { return m_StripCount > 1 ? m_StripCount : 1; }
};

class PackedDepthwiseInt8 final : public backends::PackedWeights
{
public:
    /// Packs input 1 of the layer, [1, H, W, channels].
    PackedDepthwiseInt8(const LayerView& layer, backends::PackedStore& store);

    /// Bytes of the layer's packed weights, if each weight is one int8 term.
    static uint64_t GetPackedBytes(const LayerView& layer);

    /// Whether sums and scales allow the bytes of the reference kernel. Otherwise nothing is packed.
    bool IsExact() const { return m_IsExact; }
    /// A transposed window fits images of one column only: the reference kernel runs others, from the layer's weights.
    bool RefersToConstants() const override { return !m_IsExact || m_IsTransposed; }

    /// Whether the window is transposed: an image of one column is read as one row.
    bool IsTransposed() const { return m_IsTransposed; }
    /// Fold of an image of one row: row r of a group is the image row shifted by r pixels, and window columns are this
    /// many times further apart. 1: not folded.
    size_t GetFold() const { return m_Fold; }

    /// Whether there are strip blocks; the channel multiplier is 1 then.
    bool HasStripBlocks() const { return m_HasStripBlocks; }

    const DepthwiseMicrokernelsInt8& GetMicrokernels() const { return *m_Microkernels; }
    const std::vector<ChannelBlockInt8>& GetBlocks() const { return m_Blocks; }
    /// Rows of a row group, and row groups of a window.
    size_t GetRowsPerGroup() const { return m_RowsPerGroup; }
    size_t GetRowGroups() const { return m_RowGroups; }
    /// Output rows of a row strip: their windows lie in the same row groups.
    size_t GetRowsPerStrip() const { return m_RowsPerStrip; }
    /// Number of taps, [term][row group][window column]; a tap is one dot product: a window column within a row group.
    size_t GetTaps() const { return m_WeightTerms * m_RowGroups * m_Width; }
    size_t GetWeightTerms() const { return m_WeightTerms; }
    size_t GetWidth() const { return m_Width; }
    const void* GetData(const ChannelBlockInt8& block, size_t outputRow) const
    {
        return m_Data.Data() + block.m_Offset +
               outputRow * GetTaps() * block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkBytes;
    }
    /// Initial accumulators of a block: the bias with the zero-point correction.
    const int32_t* GetBias(const ChannelBlockInt8& block) const { return m_Arrays.GetBias(block.m_ArrayOffset); }
    RequantizeColumns GetRequantization(const ChannelBlockInt8& block) const
    {
        return m_Arrays.From(block.m_ArrayOffset);
    }
    bool IsDataSigned() const { return m_IsDataSigned; }
    /// The byte of pixels in the padding: the zero point.
    uint8_t GetPadding() const { return static_cast<uint8_t>(m_DataZeroPoint); }

private:
    struct Window;

    PackedDepthwiseInt8(const LayerView& layer, backends::PackedStore& store, const Window& window);

    /// Computes m_Facts: the sums of each channel's weights, from which the constants of the sums follow.
    void SumChannels(const LayerView& layer, int64_t* facts) const;
    size_t MakeBlocks(const LayerView& layer, const std::vector<double>& scales);
    size_t GetMaxStripCount(const LayerView& layer) const;
    ChannelBlockInt8 MakeStripBlock(size_t channel, size_t maxStripCount) const;
    ChannelBlockInt8 MakeBlock(size_t channel, bool interleaves) const;
    /// The lane of each channel in its block; the channels of the first copy come first.
    using LaneOrder =
        std::array<uint16_t, DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels>;
    LaneOrder FindLaneOrder(const ChannelBlockInt8& block) const;
    void PackTaps(const CentredWeightsInt8& weights, const ChannelBlockInt8& block, std::byte* to) const;
    void SetUpSums(const LayerView& layer, const std::vector<double>& scales, const ChannelBlockInt8& block);

    const DepthwiseMicrokernelsInt8* m_Microkernels;
    bool m_IsTransposed;
    size_t m_Fold;
    size_t m_Height;
    size_t m_Width; ///< columns of the packed window
    size_t m_NumChannels;
    size_t m_NumWeights; ///< weights of a channel
    size_t m_StrideY;
    size_t m_RowsPerGroup;
    size_t m_RowGroups;
    size_t m_RowsPerStrip;
    /// Terms, sums and sums of magnitudes of each channel's weights. Read during construction.
    backends::PackedBlock m_Facts;
    size_t m_WeightTerms; ///< int8 terms of a weight less its zero point; 1 if all of them fit int8
    bool m_IsDataSigned;
    int32_t m_DataZeroPoint;
    bool m_IsExact = true;
    bool m_HasStripBlocks = false;
    std::vector<ChannelBlockInt8> m_Blocks;
    size_t m_BlockBytes = 0; ///< packed weights of all blocks
    backends::PackedBlock m_Data;
    RequantizeArraysInt8 m_Arrays;
};

} // namespace tenon::cpu
