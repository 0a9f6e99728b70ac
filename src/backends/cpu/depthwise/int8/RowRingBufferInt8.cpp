// SPDX-License-Identifier: Apache-2.0
// Fills the ring buffer. A row strip may take no more than a microsecond, so values that are the same for all row
// strips are computed once for a run.
#include "backends/cpu/depthwise/int8/RowRingBufferInt8.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Output pixels of a run: its interleaved columns stay in the first-level cache, together with its int32 sums, if
/// there are any.
constexpr size_t RunPixels = 64;
constexpr size_t RunPixelsWithSums = 32;
/// Limit of a run's interleaved bytes, unless one pixel has more.
constexpr size_t MaxRunBytes = size_t{4} << 20;

/// Bytes that RepeatByte writes at a time.
constexpr size_t RepeatedBytes = 16;

/// Writes whole RepeatedBytes: later calls overwrite the bytes past the end. For as few bytes as a channel has outputs,
/// memset would take longer.
void RepeatByte(uint8_t byte, size_t count, uint8_t* to)
{
    std::array<uint8_t, RepeatedBytes> bytes;
    bytes.fill(byte);
    for (size_t i = 0; i < count; i += RepeatedBytes)
    {
        std::memcpy(to + i, bytes.data(), RepeatedBytes);
    }
}

} // namespace

RowRingBufferInt8::RowRingBufferInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& geometry)
    : m_Weights(&weights), m_Geometry(geometry)
{
    const size_t imageRowStep = weights.GetRowsPerStrip() * static_cast<size_t>(geometry.m_Y.m_Stride);
    const bool overlaps = geometry.m_Y.m_Dilation == 1 && imageRowStep % weights.GetRowsPerGroup() == 0;
    m_NewRowGroups =
        overlaps ? std::min(imageRowStep / weights.GetRowsPerGroup(), weights.GetRowGroups()) : weights.GetRowGroups();
    // A group that the next row strip shares is interleaved with all of its rows, even rows that this one does not
    // read.
    const size_t groupRows = weights.GetRowGroups() * weights.GetRowsPerGroup();
    m_WindowRows =
        m_NewRowGroups == weights.GetRowGroups()
            ? imageRowStep - static_cast<size_t>(geometry.m_Y.m_Stride) + static_cast<size_t>(geometry.m_Y.m_Kernel)
            : groupRows;
    if (weights.GetFold() > 1)
    {
        m_WindowRows = weights.GetFold();
        m_RowShift = geometry.m_X.m_Dilation / static_cast<int64_t>(weights.GetFold());
    }
    for (const ChannelBlockInt8& block : weights.GetBlocks())
    {
        // Strip blocks are not interleaved in memory.
        const size_t chunks = block.IsStrip() ? 0 : block.m_Chunks;
        m_MaxColumnBytes = std::max(m_MaxColumnBytes, chunks * DepthwiseMicrokernelsInt8::ChunkBytes);
    }
    PlanRuns();
}

void RowRingBufferInt8::PlanRuns()
{
    const ref::WindowAxis& x = m_Geometry.m_X;
    const bool writes = m_Weights->GetMicrokernels().m_SumToInt8[1] != nullptr;
    for (m_RunPixels = std::min(writes ? RunPixels : RunPixelsWithSums, x.m_Output);; m_RunPixels /= 2)
    {
        const size_t byTap = backends::CheckedCount(x.m_Kernel, m_RunPixels);
        // Columns from the first to the last, as a double: they may exceed an integer.
        const double reach = static_cast<double>(m_RunPixels - 1) * static_cast<double>(x.m_Stride) +
                             static_cast<double>(x.m_Kernel - 1) * static_cast<double>(x.m_Dilation) + 1.0;
        m_IsByTap = reach > static_cast<double>(byTap);
        m_RunColumns = m_IsByTap ? byTap : static_cast<size_t>(reach);
        const double bytes = static_cast<double>(m_RunColumns) * static_cast<double>(m_Weights->GetRowGroups()) *
                             static_cast<double>(m_MaxColumnBytes);
        if (m_RunPixels == 1 || bytes <= static_cast<double>(MaxRunBytes))
        {
            return;
        }
    }
}

void RowRingBufferInt8::Reserve(Scratch& taskScratch)
{
    m_ColumnsOffset = taskScratch.Add<std::byte>(m_Weights->GetRowGroups(), m_RunColumns, m_MaxColumnBytes);
    m_PaddingOffset = taskScratch.Add<uint8_t>(MaxBlockChannels);
    m_TapsOffset = taskScratch.Add<size_t>(m_Weights->GetTaps());
    const size_t repeatedRows = m_Geometry.m_GroupOutputs != 1 ? InterleaveArgsInt8::MaxRows : 0;
    m_RepeatedOffset = taskScratch.Add<uint8_t>(repeatedRows, m_RunColumns, MaxBlockChannels);
    taskScratch.Add<uint8_t>(repeatedRows != 0 ? RepeatedBytes : 0); // RepeatByte writes past the last byte
}

void RowRingBufferInt8::Prepare(std::byte* scratch) const
{
    std::memset(Scratch::At<uint8_t>(scratch, m_PaddingOffset), m_Weights->GetPadding(), MaxBlockChannels);
}

RowRingBufferInt8::ColumnRange RowRingBufferInt8::GetColumnRange(const IndexRange& pixels, size_t range) const
{
    const ref::WindowAxis& x = m_Geometry.m_X;
    const size_t count = pixels.m_End - pixels.m_Begin;
    ColumnRange result;
    result.m_First = x.Origin(pixels.m_Begin) + static_cast<int64_t>(range) * x.m_Dilation;
    result.m_Step = m_IsByTap ? x.m_Stride : 1;
    result.m_Count = m_IsByTap ? count
                               : (count - 1) * static_cast<size_t>(x.m_Stride) +
                                     (x.m_Kernel - 1) * static_cast<size_t>(x.m_Dilation) + 1;
    result.m_Begin = CountColumnsBelow(result, 0);
    result.m_End = CountColumnsBelow(result, static_cast<int64_t>(x.m_Input));
    return result;
}

size_t RowRingBufferInt8::CountColumnsBelow(const ColumnRange& range, int64_t position)
{
    const int64_t before = position - range.m_First;
    const int64_t columns = before <= 0 ? 0 : (before - 1) / range.m_Step + 1;
    // Padding may exceed a 32-bit size_t.
    return static_cast<size_t>(std::min(columns, static_cast<int64_t>(range.m_Count)));
}

std::array<size_t, 2 * InterleaveArgsInt8::MaxRows + 2> RowRingBufferInt8::FindCuts(const ColumnRange& range) const
{
    std::array<size_t, 2 * InterleaveArgsInt8::MaxRows + 2> cuts{};
    cuts.fill(range.m_Count);
    cuts[0] = 0;
    for (size_t row = 0; row < m_Weights->GetRowsPerGroup(); ++row)
    {
        const int64_t shift = static_cast<int64_t>(row) * m_RowShift;
        cuts[2 * row + 1] = CountColumnsBelow(range, -shift);
        cuts[2 * row + 2] = CountColumnsBelow(range, static_cast<int64_t>(m_Geometry.m_X.m_Input) - shift);
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

RowRingBufferInt8::Run RowRingBufferInt8::MakeRun(const ChannelBlockInt8& block, const IndexRange& pixels) const
{
    const size_t numPixels = pixels.m_End - pixels.m_Begin;
    Run run;
    run.m_Block = &block;
    run.m_Pixels = pixels;
    run.m_ColumnRange = GetColumnRange(pixels, 0);
    run.m_ColumnBytes = block.m_Chunks * DepthwiseMicrokernelsInt8::ChunkBytes;
    run.m_RowGroupBytes = CountColumnRanges() * run.m_ColumnRange.m_Count * run.m_ColumnBytes;
    run.m_TapBytes = (m_IsByTap ? numPixels : static_cast<size_t>(m_Geometry.m_X.m_Dilation)) * run.m_ColumnBytes;
    run.m_PixelBytes = (m_IsByTap ? 1 : static_cast<size_t>(m_Geometry.m_X.m_Stride)) * run.m_ColumnBytes;
    return run;
}

void RowRingBufferInt8::LayOut(const uint8_t* image, const Run& run, size_t y, size_t known, size_t ring,
                               std::byte* scratch) const
{
    const ref::WindowAxis& axis = m_Geometry.m_Y;
    const size_t groups = m_Weights->GetRowGroups();
    for (size_t group = known; group < groups; ++group)
    {
        const size_t place = ring + group < groups ? ring + group : ring + group - groups;
        std::byte* out = GetColumns(scratch) + place * run.m_RowGroupBytes;
        const int64_t firstRow =
            axis.Origin(y) + static_cast<int64_t>(group * m_Weights->GetRowsPerGroup()) * axis.m_Dilation;
        for (size_t i = 0; i < CountColumnRanges(); ++i)
        {
            const ColumnRange range = i == 0 ? run.m_ColumnRange : GetColumnRange(run.m_Pixels, i);
            const auto fill = [&](const IndexRange& columns)
            {
                if (columns.m_Begin != columns.m_End)
                {
                    Fill(image, run, range, columns, group, firstRow, out, scratch);
                }
                out += (columns.m_End - columns.m_Begin) * run.m_ColumnBytes;
            };
            if (m_RowShift == 0)
            {
                fill({0, range.m_Begin});
                fill({range.m_Begin, range.m_End});
                fill({range.m_End, range.m_Count});
                continue;
            }
            const auto cuts = FindCuts(range);
            for (size_t cut = 1; cut < cuts.size(); ++cut)
            {
                fill({cuts[cut - 1], cuts[cut]});
            }
        }
    }
}

void RowRingBufferInt8::Fill(const uint8_t* image, const Run& run, const ColumnRange& range, const IndexRange& columns,
                             size_t group, int64_t firstRow, std::byte* out, std::byte* scratch) const
{
    const ref::WindowAxis& axis = m_Geometry.m_Y;
    const ChannelBlockInt8& block = *run.m_Block;
    const size_t channels = m_Geometry.m_InputChannels;
    const auto width = static_cast<int64_t>(m_Geometry.m_X.m_Input);
    const int64_t first = range.m_First + static_cast<int64_t>(columns.m_Begin) * range.m_Step;
    const int64_t last = range.m_First + static_cast<int64_t>(columns.m_End - 1) * range.m_Step;
    InterleaveArgsInt8 interleaved;
    interleaved.m_Columns = columns.m_End - columns.m_Begin;
    interleaved.m_Channels = block.m_Channels;
    interleaved.m_IsSigned = m_Weights->IsDataSigned();
    for (size_t row = 0; row < m_Weights->GetRowsPerGroup(); ++row)
    {
        const int64_t shift = static_cast<int64_t>(row) * m_RowShift;
        const int64_t imageRow = firstRow + (m_RowShift == 0 ? static_cast<int64_t>(row) * axis.m_Dilation : 0);
        const bool isInside = first + shift >= 0 && last + shift < width;
        // Rows below the last window have zero weights: padding replaces them.
        const bool isSeen = group * m_Weights->GetRowsPerGroup() + row < m_WindowRows;
        if (!isInside || !isSeen || imageRow < 0 || imageRow >= static_cast<int64_t>(axis.m_Input))
        {
            interleaved.m_Rows[row] = Scratch::At<uint8_t>(scratch, m_PaddingOffset);
            interleaved.m_Steps[row] = 0;
            continue;
        }
        const uint8_t* from = image + static_cast<size_t>(imageRow * width + first + shift) * channels;
        const size_t step = static_cast<size_t>(range.m_Step) * channels;
        const bool repeats = m_Geometry.m_GroupOutputs != 1;
        interleaved.m_Rows[row] =
            repeats ? Repeat(from, step, interleaved.m_Columns, block, row, scratch) : from + block.m_Channel;
        interleaved.m_Steps[row] = repeats ? MaxBlockChannels : step;
    }
    m_Weights->GetMicrokernels().m_Interleave(interleaved, block.m_Chunks, out);
}

/// Copies pixels, `step` bytes apart, and repeats each channel for its outputs (channel multiplier).
const uint8_t* RowRingBufferInt8::Repeat(const uint8_t* pixels, size_t step, size_t count,
                                         const ChannelBlockInt8& block, size_t row, std::byte* scratch) const
{
    uint8_t* const repeated = Scratch::At<uint8_t>(scratch, m_RepeatedOffset) + row * m_RunColumns * MaxBlockChannels;
    for (size_t column = 0; column < count; ++column, pixels += step)
    {
        uint8_t* to = repeated + column * MaxBlockChannels;
        size_t channel = block.m_Channel / m_Geometry.m_GroupOutputs;
        size_t next = m_Geometry.m_GroupOutputs - block.m_Channel % m_Geometry.m_GroupOutputs;
        for (size_t i = 0; i < block.m_Channels;)
        {
            const size_t some = std::min(next, block.m_Channels - i);
            RepeatByte(pixels[channel++], some, to + i);
            i += some;
            next = m_Geometry.m_GroupOutputs;
        }
    }
    return repeated;
}

const size_t* RowRingBufferInt8::FindTapOffsets(const Run& run, size_t ring, std::byte* scratch) const
{
    auto* const taps = Scratch::At<size_t>(scratch, m_TapsOffset);
    WriteTapOffsets(run, ring, taps);
    return taps;
}

void RowRingBufferInt8::WriteTapOffsets(const Run& run, size_t ring, size_t* taps) const
{
    const size_t groups = m_Weights->GetRowGroups();
    for (size_t term = 0; term < m_Weights->GetWeightTerms(); ++term)
    {
        for (size_t group = 0; group < groups; ++group)
        {
            size_t offset = (ring + group < groups ? ring + group : ring + group - groups) * run.m_RowGroupBytes;
            for (size_t column = 0; column < m_Weights->GetWidth(); ++column, offset += run.m_TapBytes)
            {
                *taps++ = offset;
            }
        }
    }
}

} // namespace tenon::cpu
