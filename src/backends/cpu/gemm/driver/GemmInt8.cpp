// SPDX-License-Identifier: Apache-2.0
// Partition of an int8 GEMM: tasks, blocks of rows for the cache, panels of columns, tiles for the registers. A panel
// is multiplied by implicit GEMM, by microkernels with a fused epilogue, or by accumulators in memory.
// GemmInt8Blocks.cpp prepares the rows of a block, except for implicit GEMM.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data in a block: an eighth of a second-level cache of 1 MiB, as the panels pass through it too.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MaxBlockRows = 512;
constexpr size_t MaxIndirectRows = 1024;
/// With fewer channels per tap, the test whether a tap is skipped takes too long compared with its products.
constexpr int64_t MinSkippedDepth = 128;
/// With fewer pixels or columns, implicit GEMM gains more than tiles that skip taps.
constexpr size_t MinSkippedRows = 24;
constexpr size_t MinSkippedColumns = 64;

} // namespace

GemmInt8::GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, const ReshapeArgs& args)
    : m_Weights(&weights), m_Im2col(windows), m_Rows(rows)
{
    const TensorInfo& output = args.GetOutput(0);
    const backends::QuantizedRange range = backends::GetFusedRange(output, args.m_FusedActivation);
    m_OutputIsSigned = output.GetDataType() != DataType::QAsymmU8;
    m_Min = range.m_Min;
    m_Max = range.m_Max;
    m_ImplicitGemm = ImplicitGemmInt8(weights, windows, rows);
    Plan(Scratch(), args.m_MaxThreads);
}

GemmInt8::GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, const HybridDataInt8& data,
                   const ReshapeArgs& args)
    : m_Weights(&weights), m_Im2col(windows), m_Rows(rows), m_IsHybrid(true), m_BatchRows(rows / data.m_Batches)
{
    const backends::FloatClamp clamp(args.m_FusedActivation);
    m_HasClamp = clamp.IsActive();
    m_Low = clamp.GetLow();
    m_High = clamp.GetHigh();
    Scratch shared;
    HybridDataInt8 biased = data;
    biased.m_SignXor = weights.GetTiles().m_IsQuantizedDataBiased ? 0x80 : 0;
    m_Quantizer = HybridQuantizerInt8(biased, args.GetInput(0).GetNumElements(), shared);
    m_ImplicitGemm = ImplicitGemmInt8(weights, windows, rows, true);
    Plan(shared, args.m_MaxThreads);
}

GemmInt8::GemmInt8(const PackedWeightsInt8& weights, const Im2col& windows, size_t rows, unsigned int maxThreads)
    : m_Weights(&weights), m_Im2col(windows), m_Rows(rows)
{
    Plan(Scratch(), maxThreads);
}

/// `scratch`: with the memory that all tasks share.
void GemmInt8::Plan(Scratch scratch, unsigned int maxThreads)
{
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const bool isWide = tiles.IsDataInt16();
    const bool isDoubled = tiles.IsDataDoubled();
    const size_t depth = m_Weights->GetDepth();
    m_IsInPlace =
        !isDoubled && !tiles.m_IsPackedDataBiased && (depth % 4 == 0 || tiles.IsUnpacked()) && m_Im2col.IsPointwise();
    m_InputPitch = static_cast<size_t>(m_Im2col.m_Channels);
    m_InputBytes = m_Rows * m_InputPitch;
    m_OutputLayout.m_PixelStride = m_Weights->GetColumns();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    m_Pitch = m_Weights->GetGroups() * tiles.GetGroupDepth(); // as many values as there are weights, padding included
    const bool isPlainRows = m_Im2col.IsPointwise() && depth == m_InputPitch && depth == m_Pitch;
    m_CopiesStrips = !m_IsInPlace && !isPlainRows;
    m_UsesIndirection = m_CopiesStrips && m_IsHybrid && m_Weights->GetRowSumFactor() == 0 &&
                        tiles.m_MinIndirectRows != 0 && m_Im2col.m_GroupChannels % 4 == 0 &&
                        m_BatchRows >= tiles.m_MinIndirectRows;
    const auto countRows = [&](size_t rowBytes, size_t maxRows)
    {
        const size_t rows = std::clamp<size_t>(BlockBytes / rowBytes, tileRows, maxRows) / tileRows * tileRows;
        return std::min(rows, DivideUp(m_Rows, tileRows) * tileRows); // whole tiles: some read whole ones
    };
    m_BlockRows = m_StripRows = countRows(m_Weights->GetGroups() * 4, MaxBlockRows);
    if (m_UsesIndirection && m_BatchRows <= MaxIndirectRows && m_Im2col.m_GroupChannels >= MinSkippedDepth)
    {
        // Taps can be skipped in blocks that are whole images. Neighbouring receptive fields share most of their taps.
        m_BlockRows = std::max(m_BlockRows, countRows(static_cast<size_t>(m_Im2col.m_GroupChannels), MaxIndirectRows));
        m_Order = PixelOrder(m_Im2col, TileCosts::Find(tileRows), true);
    }
    m_StripRows = std::max(m_StripRows, m_UsesIndirection ? tiles.m_MinIndirectRows : 0);
    const size_t maxRows = std::max(m_BlockRows, m_StripRows); // of a block
    if (m_CopiesStrips && tiles.m_Layout == WeightLayoutInt8::Permuted)
    {
        m_ComplementImage = ComplementImageInt8(m_Im2col, m_BlockRows);
    }

    // Columns count as whole vectors, and few rows as at least four, since weights come from memory for these.
    constexpr size_t FewRows = 4;
    const size_t lanes = m_Weights->GetMicrokernels().m_Lanes;
    const double multiplications = static_cast<double>(std::max(m_Rows, FewRows)) *
                                   static_cast<double>(DivideUp(m_Weights->GetColumns(), lanes) * lanes) *
                                   static_cast<double>(depth);
    // The number of tasks is chosen from a cost in float multiply-adds: an int8 multiply-add costs 1/4 of one (1/1.5 as
    // int16 pairs, 1/2 by pmaddubsw), and requantizing one output as much as 12 (36 without dot products).
    const bool isInt16 = tiles.m_Layout == WeightLayoutInt8::Split || tiles.m_Layout == WeightLayoutInt8::Permuted;
    const double fasterThanFloats = isWide ? 1.5 : isInt16 ? 2 : 4;
    const double ofAnOutput = isWide || isInt16 ? 36 : 12;
    const double outputs = static_cast<double>(m_Rows) * static_cast<double>(m_Weights->GetColumns());
    const size_t maxRanges = GetWorthwhileTasks(multiplications / fasterThanFloats + outputs * ofAnOutput);
    const size_t panels = m_Weights->GetPanels().size();
    const size_t tasks = std::min(GetMaxTasks(maxThreads), maxRanges);
    const size_t unit = m_Rows >= tasks * 16 * tileRows ? tileRows : 1; // whole tiles, where more rows do not matter
    m_Partition = PanelPartition(
        {m_Rows, m_Weights->GetColumns(), panels, tileRows, unit, maxRanges, m_CopiesStrips || m_ImplicitGemm.IsUsed()},
        maxThreads);

    Scratch task;
    if (m_ImplicitGemm.IsUsed() && !SkipsTaps())
    {
        task.Add<std::byte>(m_ImplicitGemm.GetScratchBytes());
        m_TaskBytes = task.GetBytes();
        m_TasksOffset = scratch.AddPerTask(task, m_Partition.GetTasks());
        m_ScratchBytes = scratch.GetBytes();
        return;
    }
    task.Add<int32_t>(maxRows);
    m_ZeroPointsOffset = task.Add<int32_t>(m_IsHybrid ? maxRows : 0);
    m_RowScalesOffset = task.Add<float>(m_IsHybrid ? maxRows : 0);
    // In place, fewer rows than a tile and the rows that fill up a unit may have to be copied: at most fifteen of four
    // bytes.
    const bool copiesTail = tiles.m_RowUnit != 1 || tiles.m_GroupUnit != 1;
    const size_t stripRows = m_ComplementImage.IsUsed()                     ? 0
                             : m_CopiesStrips || tiles.m_IsPackedDataBiased ? m_StripRows
                             : m_IsInPlace && copiesTail                    ? 2 * tileRows
                                                                            : 0;
    m_StripOffset = task.Add<uint8_t>(stripRows, m_Pitch);
    task.Add<uint8_t>(Im2col::ShortRowBytes); // past the end of the strip
    m_DoubledOffset = task.Add<int16_t>(isDoubled ? m_StripRows : 0, m_Pitch);
    task.Add<uint8_t>(m_ComplementImage.IsUsed() ? Im2col::ShortRowBytes : 0);
    m_ComplementImageOffset = task.Add<uint8_t>(m_ComplementImage.GetBytes());
    m_TableOffset = task.Add<const uint8_t*>(m_UsesIndirection ? maxRows : 0, GetNumTaps());
    m_PaddingOffset = task.Add<uint8_t>(m_UsesIndirection ? m_InputPitch : 0);
    m_SkippedOffset =
        task.Add<int32_t>(m_Order.IsReordered() ? GetNumTaps() : 0, MicrokernelSetInt8::MaxVectors * lanes);
    m_OutputOffsetsOffset = task.Add<size_t>(m_Order.IsReordered() ? maxRows : 0);
    if (m_ImplicitGemm.GetScratchBytes() > task.GetBytes())
    {
        task.Add<std::byte>(m_ImplicitGemm.GetScratchBytes() -
                            task.GetBytes()); // replaces all of the above, see SetOutputLayout
    }
    m_TaskBytes = task.GetBytes();
    m_TasksOffset = scratch.AddPerTask(task, m_Partition.GetTasks());
    m_ScratchBytes = scratch.GetBytes();
}

GemmDataInt8 GemmInt8::Quantize(const ExecuteArgs& args) const
{
    return m_IsHybrid ? m_Quantizer.Quantize(args) : GemmDataInt8{args.GetInput<uint8_t>(0), nullptr};
}

void GemmInt8::RunQuantized(const ExecuteArgs& args, const GemmDataInt8& data) const
{
    RunAll({data, args.m_Outputs[0], nullptr}, args.m_Scratch, *args.m_Parallel);
}

void GemmInt8::RunSums(const void* data, const int32_t* start, int32_t* sums, void* scratch,
                       IParallelFor& parallel) const
{
    RunAll({{static_cast<const uint8_t*>(data), nullptr}, sums, start}, scratch, parallel);
}

void GemmInt8::RunAll(const Memory& memory, void* scratch, IParallelFor& parallel) const
{
    std::byte* const ofTasks = static_cast<std::byte*>(scratch) + m_TasksOffset;
    m_Partition.Run(parallel, [&](size_t task, const PanelRange& range)
                    { RunRange(memory, range, ofTasks + task * m_TaskBytes); });
}

bool GemmInt8::SkipsTaps() const
{
    return m_IsHybrid && m_Order.IsReordered() && m_BatchRows >= MinSkippedRows &&
           m_Weights->GetColumns() >= MinSkippedColumns;
}

size_t GemmInt8::GetBlockEnd(size_t first, size_t last) const
{
    if (m_ComplementImage.IsUsed())
    {
        return m_ComplementImage.GetBlockEnd(first, std::min(first + m_BlockRows, last));
    }
    if (!m_UsesIndirection)
    {
        return std::min(first + m_BlockRows, last);
    }
    // All rows of an indirection buffer share the padding pixel.
    const size_t end = std::min(last, (first / m_BatchRows + 1) * m_BatchRows);
    return std::min(first + (m_OutputLayout.m_Width == 0 ? m_BlockRows : m_StripRows), end);
}

OutputCacheLines GemmInt8::FindCacheLines(const Memory& memory, const PanelRange& range) const
{
    const size_t columns = m_Weights->GetColumns();
    const size_t rowBytes = columns * GetElementBytes();
    const size_t blockRows = UsesImplicitGemm() ? m_ImplicitGemm.GetBlockPixels() : m_BlockRows;
    const bool isWhole = m_OutputLayout.m_PixelStride == columns && m_OutputLayout.m_Width == 0 &&
                         range.HasPanels(m_Weights->GetPanels().size());
    return {m_Rows * rowBytes, rowBytes, blockRows, isWhole && memory.m_Start == nullptr};
}

uint8_t GemmInt8::GetPadding(const GemmDataInt8& data, size_t row) const
{
    const int32_t zeroPoint =
        m_IsHybrid ? data.m_Batches[row / m_BatchRows].m_ZeroPoint : m_Weights->GetDataZeroPoint();
    const bool isBiased = UsesImplicitGemm() || m_Weights->GetTiles().m_IsQuantizedDataBiased;
    return static_cast<uint8_t>(zeroPoint ^ (isBiased ? 0x80 : 0));
}

void GemmInt8::RunRange(const Memory& memory, const PanelRange& range, std::byte* scratch) const
{
    if (UsesImplicitGemm())
    {
        RunImplicitGemm(memory, range, scratch);
        return;
    }
    const std::vector<PanelInt8>& panels = m_Weights->GetPanels();
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    if (tiles.m_Begin != nullptr)
    {
        tiles.m_Begin();
    }
    const OutputCacheLines lines = FindCacheLines(memory, range);
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        // Taps are skipped in whole images only.
        const size_t end =
            m_UsesIndirection ? range.m_LastRow : std::min(first + lines.GetBlockRows(), range.m_LastRow);
        const size_t last = GetBlockEnd(first, end);
        if (memory.m_Start != nullptr && tiles.IsUnpacked() && m_Weights->GetRowSumFactor() == 0)
        {
            WriteUnpackedSums(memory, range, MakeBlock(memory.m_Data, {}, 0, first, last, scratch), first);
            first = last;
            continue;
        }
        lines.Prepare(FindRow(memory, first), last - first);
        const IndirectionBufferInt8 taps = FindTaps(memory.m_Data, first, last, scratch);
        if (m_ComplementImage.IsUsed())
        {
            MakeComplementImage(memory.m_Data, first, last, scratch);
        }
        Block block;
        RowValues values;
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const bool isFirst = p == range.m_FirstPanel;
            if (isFirst || panels[p].m_Matrix != panels[p - 1].m_Matrix)
            {
                block = MakeBlock(memory.m_Data, taps, panels[p].m_Matrix, first, last, scratch);
                if (isFirst || m_Weights->GetRowSumFactor() != 0)
                {
                    values = FindRowValues(memory.m_Data, block, first, scratch);
                }
            }
            RunPanel(memory, panels[p], block, values, first);
        }
        first = last;
    }
    if (tiles.m_End != nullptr)
    {
        tiles.m_End();
    }
}

void GemmInt8::RunImplicitGemm(const Memory& memory, const PanelRange& range, std::byte* scratch) const
{
    const std::vector<PanelInt8>& panels = m_Weights->GetPanels();
    const OutputCacheLines lines = FindCacheLines(memory, range);
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        const size_t last = m_ImplicitGemm.GetBlockEnd(first, std::min(first + lines.GetBlockRows(), range.m_LastRow));
        lines.Prepare(FindRow(memory, first), last - first);
        m_ImplicitGemm.Make(memory.m_Data.m_Values, GetPadding(memory.m_Data, first), first, last, m_OutputLayout,
                            scratch);
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const PanelInt8& panel = panels[p];
            const size_t at = m_OutputLayout.GetOffset(first) + panel.m_Column;
            if (m_IsHybrid)
            {
                m_ImplicitGemm.WriteDequantized(panel, GetDequantization(panel),
                                                memory.m_Data.m_Batches[first / m_BatchRows], last - first,
                                                static_cast<float*>(memory.m_Output) + at, scratch);
            }
            else
            {
                m_ImplicitGemm.Write(panel, GetRequantization(panel), m_OutputIsSigned, last - first,
                                     static_cast<uint8_t*>(memory.m_Output) + at, scratch);
            }
        }
        first = last;
    }
}

void GemmInt8::RunPanel(const Memory& memory, const PanelInt8& panel, const Block& block, const RowValues& values,
                        size_t first) const
{
    alignas(64) static constexpr int32_t NoBias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    const size_t sumStride = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    const PackedPanelInt8 packed = {&m_Weights->GetTiles(),
                                    panel.m_Vectors,
                                    sumStride,
                                    m_Weights->GetData(panel),
                                    m_Weights->GetGroups(),
                                    m_IsHybrid                  ? NoBias
                                    : memory.m_Start != nullptr ? memory.m_Start + panel.m_PaddedColumn
                                                                : m_Weights->GetBias(panel)};
    const auto writeRun = [&](const int32_t* sums, size_t row, size_t rows)
    {
        const int32_t* terms = values.m_RowCorrections != nullptr ? values.m_RowCorrections + row : nullptr;
        const size_t at = m_OutputLayout.GetOffset(first + row) + panel.m_Column;
        if (m_IsHybrid)
        {
            m_Weights->GetMicrokernels().m_Dequantize(
                {sums, sumStride, rows, panel.m_Columns, terms, values.m_ZeroPoints + row, values.m_Scales + row,
                 static_cast<float*>(memory.m_Output) + at, m_OutputLayout.m_PixelStride},
                GetDequantization(panel));
        }
        else if (memory.m_Start != nullptr)
        {
            WriteSums({sums, sumStride, rows, panel.m_Columns, terms, static_cast<int32_t*>(memory.m_Output) + at,
                       m_OutputLayout.m_PixelStride});
        }
        else
        {
            WriteBytes(panel,
                       {sums, sumStride, rows, panel.m_Columns, terms, static_cast<uint8_t*>(memory.m_Output) + at,
                        m_OutputLayout.m_PixelStride, m_OutputIsSigned});
        }
    };
    const auto write = [&](const int32_t* sums, size_t row, size_t rows)
    {
        for (const size_t last = row + rows; row < last;)
        {
            const size_t end = m_OutputLayout.GetRunEnd(first + row, first + last) - first;
            writeRun(sums, row, end - row);
            sums += (end - row) * sumStride;
            row = end;
        }
    };
    if (m_Weights->GetTiles().IsUnpacked())
    {
        MultiplyUnpackedPanelInt8(m_Weights->GetUnpacked(), panel, packed, {block.m_Data, block.m_Stride, block.m_Rows},
                                  write);
        return;
    }
    if (!RunFusedEpilogue(memory, panel, packed, block, values, first))
    {
        MultiplyPanelInt8(packed, {block.m_Data, block.m_Stride, block.m_SafeRows}, write);
    }
    MultiplyPanelInt8(packed, {block.m_Tail, m_Pitch, block.m_Rows - block.m_SafeRows},
                      [&](const int32_t* sums, size_t row, size_t rows) { write(sums, block.m_SafeRows + row, rows); });
}

bool GemmInt8::RunFusedEpilogue(const Memory& memory, const PanelInt8& panel, const PackedPanelInt8& packed,
                                const Block& block, const RowValues& values, size_t first) const
{
    const size_t count = block.m_SafeRows;
    if (m_OutputLayout.GetRunEnd(first, first + count) != first + count)
    {
        return false;
    }
    const size_t at = m_OutputLayout.GetOffset(first) + panel.m_Column;
    if (m_IsHybrid)
    {
        const DequantizedKernelInt8 write = m_Weights->GetTiles().m_DequantizedKernels[panel.m_Vectors];
        DequantizeRows rows;
        rows.m_Rows = count;
        rows.m_Columns = panel.m_Columns;
        rows.m_RowCorrections = values.m_RowCorrections;
        rows.m_ZeroPoints = values.m_ZeroPoints;
        rows.m_Scales = values.m_Scales;
        rows.m_Out = static_cast<float*>(memory.m_Output) + at;
        rows.m_OutStride = m_OutputLayout.m_PixelStride;
        rows.m_HasOneScale = values.m_HasOneScale;
        if (block.m_OutputOffsets != nullptr)
        {
            rows.m_OutputOffsets = block.m_OutputOffsets;
            FindSkipped(packed, block.m_Taps);
        }
        return write != nullptr && write({block.m_Data, block.m_Stride, block.m_Taps, packed.m_Weights,
                                          packed.m_Groups / block.m_Taps.m_Taps, packed.m_Bias, rows},
                                         GetDequantization(panel));
    }
    if (memory.m_Start != nullptr)
    {
        return false;
    }
    const RequantizeColumns columns = GetRequantization(panel);
    const auto prepare = m_Weights->GetMicrokernels().m_PrepareRequantization;
    if (prepare == nullptr || !columns.FitsRegisters())
    {
        return false;
    }
    const auto scale = static_cast<size_t>(columns.GetScale());
    const RequantizedKernelInt8 write =
        m_Weights->GetTiles().m_RequantizedKernels[scale][values.m_RowCorrections != nullptr][panel.m_Vectors];
    if (write == nullptr)
    {
        return false;
    }
    PreparedRequantizationInt8 prepared;
    prepare(columns, packed.m_Bias, panel.m_Columns, m_OutputIsSigned, prepared);
    uint8_t* const out = static_cast<uint8_t*>(memory.m_Output) + at;
    return write({block.m_Data, block.m_Stride, count, packed.m_Weights, packed.m_Groups, values.m_RowCorrections, out,
                  m_OutputLayout.m_PixelStride},
                 prepared);
}

RequantizeColumns GemmInt8::GetRequantization(const PanelInt8& panel) const
{
    RequantizeColumns columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    return columns;
}

void GemmInt8::WriteBytes(const PanelInt8& panel, const RequantizeRows& rows) const
{
    m_Weights->GetMicrokernels().m_Requantize(rows, GetRequantization(panel));
}

DequantizeColumns GemmInt8::GetDequantization(const PanelInt8& panel) const
{
    DequantizeColumns columns = m_Weights->GetDequantization(panel);
    columns.m_HasClamp = m_HasClamp;
    columns.m_Low = m_Low;
    columns.m_High = m_High;
    return columns;
}

void GemmInt8::WriteSums(const RequantizeRows& rows) const
{
    for (size_t row = 0; row < rows.m_Rows; ++row)
    {
        const int32_t term = rows.m_RowCorrections != nullptr ? rows.m_RowCorrections[row] : 0;
        std::transform(rows.m_Sums + row * rows.m_SumStride, rows.m_Sums + row * rows.m_SumStride + rows.m_Columns,
                       static_cast<int32_t*>(rows.m_Out) + row * rows.m_OutStride,
                       [term](int32_t sum) { return ref::WrappingAdd(sum, term); });
    }
}

void GemmInt8::WriteUnpackedSums(const Memory& memory, const PanelRange& range, const Block& block, size_t first) const
{
    const std::vector<PanelInt8>& panels = m_Weights->GetPanels();
    const PanelInt8& begin = panels[range.m_FirstPanel];
    const PanelInt8& last = panels[range.m_LastPanel - 1];
    MultiplyUnpackedInt8(m_Weights->GetTiles(), m_Weights->GetUnpacked(), begin.m_Column,
                         last.m_Column + last.m_Columns - begin.m_Column, memory.m_Start + begin.m_PaddedColumn,
                         {block.m_Data, block.m_Stride, block.m_Rows},
                         static_cast<int32_t*>(memory.m_Output) + m_OutputLayout.GetOffset(first) + begin.m_Column,
                         m_OutputLayout.m_PixelStride);
}

} // namespace tenon::cpu
