// SPDX-License-Identifier: Apache-2.0
// The rows of an image that the windows of an 8-bit depthwise convolution cover, laid out for its loops
// (DepthwiseMicrokernelsInt8.hpp): a block of channels and a run of output columns at a time, groups of rows
// interleaved. What the next output rows read, too, is not laid out again: groups lie in a ring. Columns are
// interleaved as they lie in the image, once for all windows; where strides or dilations would make most of them
// columns that no window sees, tap by tap instead.
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

class DepthwiseRing8
{
public:
    /// The geometry of the window as it is packed.
    DepthwiseRing8(const PackedDepthwise8& weights, const ref::ConvolutionGeometry& geometry);

    /// Adds what it needs of a thread's scratch memory.
    void Reserve(backends::Scratch& part);
    /// To be called for a thread's scratch memory first.
    void Prepare(std::byte* scratch) const;

    /// Output pixels of a run, at most.
    size_t GetRunPixels() const { return m_RunPixels; }
    /// Groups of rows that a strip of output rows reads and the one above it does not.
    size_t GetNewGroups() const { return m_NewGroups; }
    /// Bytes of an interleaved column, at most.
    size_t GetMostColumnBytes() const { return m_MostColumnBytes; }

    /// Columns of the image that are interleaved one after the other, a step apart.
    struct Line
    {
        int64_t m_First = 0;
        int64_t m_Step = 1;
        size_t m_Count = 0;
        size_t m_Begin = 0; ///< those of the image: [begin, end)
        size_t m_End = 0;
    };

    /// A run of output pixels of a block of channels.
    struct Run
    {
        const DepthwiseBlock8* m_Block = nullptr;
        Part m_Pixels;
        Line m_Line;              ///< the first one
        size_t m_ColumnBytes = 0; ///< interleaved
        size_t m_GroupBytes = 0;
        size_t m_TapBytes = 0;   ///< from a column of the window to the next one
        size_t m_PixelBytes = 0; ///< from an output pixel to the next one
    };
    Run MakeRun(const DepthwiseBlock8& block, const Part& pixels) const;

    /// Lays out the groups of rows from `known` on that output row `y` reads. `ring`: where the first one of all lies.
    void LayOut(const uint8_t* image, const Run& run, size_t y, size_t known, size_t ring, std::byte* scratch) const;
    /// The bytes of a pixel outside of the image.
    const uint8_t* GetPadding(std::byte* scratch) const
    {
        return backends::Scratch::At<uint8_t>(scratch, m_PaddingOffset);
    }
    /// The interleaved columns.
    std::byte* GetColumns(std::byte* scratch) const
    {
        return backends::Scratch::At<std::byte>(scratch, m_ColumnsOffset);
    }
    /// Where the taps of a window lie for the first pixel of the run: bytes from the first interleaved column.
    const size_t* FindTaps(const Run& run, size_t ring, std::byte* scratch) const;

private:
    static constexpr size_t MostBlockChannels = DepthwiseEngine8::MostPieces * DepthwiseEngine8::PieceChannels;

    void PlanRuns();
    size_t CountLines() const { return m_IsByTap ? m_Geometry.m_X.m_Kernel : 1; }
    Line GetLine(const Part& pixels, size_t line) const;
    /// How many columns of a range lie before a position in the image.
    static size_t CountColumnsBelow(const Line& line, int64_t position);
    /// Where rows of a group that begin with other pixels enter or leave the image, between the begin and the end of a
    /// range; in order.
    std::array<size_t, 2 * InterleaveColumns8::MostRows + 2> FindCuts(const Line& line) const;
    /// Of a range, and a group whose first row is `firstRow`: columns [begin, end), which are in the image or not.
    void Fill(const uint8_t* image, const Run& run, const Line& line, const Part& columns, size_t group,
              int64_t firstRow, std::byte* out, std::byte* scratch) const;
    const uint8_t* Repeat(const uint8_t* pixels, size_t step, size_t count, const DepthwiseBlock8& block, size_t row,
                          std::byte* scratch) const;

    const PackedDepthwise8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    size_t m_WindowRows = 0; ///< of the image, that the windows of a strip of output rows see
    size_t m_NewGroups = 0;
    int64_t m_RowShift = 0; ///< pixels that each row of a group begins behind the one before, see GetFold
    size_t m_MostColumnBytes = 0;
    size_t m_RunPixels = 0;
    size_t m_RunColumns = 0; ///< interleaved, of a group of rows
    bool m_IsByTap = false;  ///< else they are all columns from the first to the last one
    size_t m_ColumnsOffset = 0;
    size_t m_PaddingOffset = 0;
    size_t m_TapsOffset = 0;
    size_t m_RepeatedOffset = 0;
};

} // namespace tenon::cpu
