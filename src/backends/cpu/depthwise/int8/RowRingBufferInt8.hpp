// SPDX-License-Identifier: Apache-2.0
// A ring buffer of interleaved image rows for the buffered int8 microkernels (DepthwiseMicrokernelsInt8.hpp), for one
// block of channels and one run of output pixels:
//   [row group: a ring][column][chunk of 16 channels][channel][row of the group]
// A row strip writes only the row groups that the row strip above did not. Columns lie as in the image, shared
// by all windows; where strides or dilations would skip most of them, tap by tap: [row group][window column][pixel]
// instead.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class RowRingBufferInt8
{
public:
    /// `geometry`: of the packed window (transposed, folded).
    RowRingBufferInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& geometry);

    /// Adds its share of a task's scratch memory.
    void Reserve(backends::Scratch& taskScratch);
    /// Prepares a task's scratch memory; called first.
    void Prepare(std::byte* scratch) const;

    /// Upper bound of the output pixels of a run.
    size_t GetRunPixels() const { return m_RunPixels; }
    /// Row groups that a row strip reads and the row strip above did not.
    size_t GetNewRowGroups() const { return m_NewRowGroups; }
    /// Upper bound of the bytes of an interleaved column.
    size_t GetMaxColumnBytes() const { return m_MaxColumnBytes; }

    /// A range of image columns, m_Step apart, that are interleaved one after the other.
    struct ColumnRange
    {
        int64_t m_First = 0;
        int64_t m_Step = 1;
        size_t m_Count = 0;
        size_t m_Begin = 0; ///< columns inside of the image: [begin, end)
        size_t m_End = 0;
    };

    /// A run of output pixels, for one block of channels.
    struct Run
    {
        const ChannelBlockInt8* m_Block = nullptr;
        IndexRange m_Pixels;
        ColumnRange m_ColumnRange; ///< first range of columns
        size_t m_ColumnBytes = 0;  ///< bytes of an interleaved column
        size_t m_RowGroupBytes = 0;
        size_t m_TapBytes = 0;   ///< bytes from a window column to the next
        size_t m_PixelBytes = 0; ///< bytes from an output pixel to the next
    };
    Run MakeRun(const ChannelBlockInt8& block, const IndexRange& pixels) const;

    /// Interleaves the row groups that output row `y` reads, from group `known` on. `ring`: position of the first group
    /// in the ring.
    void LayOut(const uint8_t* image, const Run& run, size_t y, size_t known, size_t ring, std::byte* scratch) const;
    /// The bytes of a pixel in the padding.
    const uint8_t* GetPadding(std::byte* scratch) const
    {
        return backends::Scratch::At<uint8_t>(scratch, m_PaddingOffset);
    }
    /// The interleaved columns.
    std::byte* GetColumns(std::byte* scratch) const
    {
        return backends::Scratch::At<std::byte>(scratch, m_ColumnsOffset);
    }
    /// Byte offset of each tap of the run's first pixel from the first interleaved column.
    const size_t* FindTapOffsets(const Run& run, size_t ring, std::byte* scratch) const;
    /// Writes the same to `taps`, PackedDepthwiseInt8::GetTaps() of them.
    void WriteTapOffsets(const Run& run, size_t ring, size_t* taps) const;

private:
    static constexpr size_t MaxBlockChannels =
        DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels;

    void PlanRuns();
    size_t CountColumnRanges() const { return m_IsByTap ? m_Geometry.m_X.m_Kernel : 1; }
    ColumnRange GetColumnRange(const IndexRange& pixels, size_t range) const;
    /// Number of columns of a range before a position in the image.
    static size_t CountColumnsBelow(const ColumnRange& range, int64_t position);
    /// For folded rows: the sorted columns of a range at which any row of the group enters or leaves the image.
    std::array<size_t, 2 * InterleaveArgsInt8::MaxRows + 2> FindCuts(const ColumnRange& range) const;
    /// Interleaves columns [begin, end) of a range, which lie all inside or all outside of the image, for the row group
    /// that begins with image row `firstRow`.
    void Fill(const uint8_t* image, const Run& run, const ColumnRange& range, const IndexRange& columns, size_t group,
              int64_t firstRow, std::byte* out, std::byte* scratch) const;
    const uint8_t* Repeat(const uint8_t* pixels, size_t step, size_t count, const ChannelBlockInt8& block, size_t row,
                          std::byte* scratch) const;

    const PackedDepthwiseInt8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    size_t m_WindowRows = 0; ///< image rows that a row strip reads
    size_t m_NewRowGroups = 0;
    int64_t m_RowShift = 0; ///< shift in pixels from a row of a group to the next, see GetFold
    size_t m_MaxColumnBytes = 0;
    size_t m_RunPixels = 0;
    size_t m_RunColumns = 0; ///< interleaved columns of a row group
    bool m_IsByTap = false;  ///< tap by tap, else all columns from the first to the last
    size_t m_ColumnsOffset = 0;
    size_t m_PaddingOffset = 0;
    size_t m_TapsOffset = 0;
    size_t m_RepeatedOffset = 0;
};

} // namespace tenon::cpu
