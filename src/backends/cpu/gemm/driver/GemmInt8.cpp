// SPDX-License-Identifier: Apache-2.0
// Partition of an int8 GEMM: tasks, blocks of rows for the cache, panels of columns, tiles for the registers.
// GemmInt8Blocks.cpp prepares the rows of a block.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

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
    const auto countRows = [&](size_t rowBytes, size_t most)
    {
        const size_t rows = std::clamp<size_t>(BlockBytes / rowBytes, tileRows, most) / tileRows * tileRows;
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
    m_Tasks = std::min({GetMaxTasks(maxThreads),
                        GetWorthwhileTasks(multiplications / fasterThanFloats + outputs * ofAnOutput),
                        std::max(m_Rows, m_Weights->GetPanels().size())});

    Scratch task;
    if (m_ImplicitGemm.IsUsed() && !SkipsTaps())
    {
        task.Add<std::byte>(m_ImplicitGemm.GetScratchBytes());
        m_TaskBytes = task.GetBytes();
        m_TasksOffset = scratch.AddPerTask(task, m_Tasks);
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
    m_TasksOffset = scratch.AddPerTask(task, m_Tasks);
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

void GemmInt8::RunAll(const Memory& memory, void* scratch, IParallelFor& parallel) const
{
    const size_t tasks = std::min<size_t>(m_Tasks, parallel.GetNumThreads());
    const size_t panels = m_Weights->GetPanels().size();
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    const size_t unit = m_Rows >= tasks * 16 * tileRows ? tileRows : 1; // whole tiles, where more rows do not matter
    std::byte* const ofTasks = static_cast<std::byte*>(scratch) + m_TasksOffset;
    RunPanelRanges(parallel, tasks, {m_Rows, m_Weights->GetColumns(), panels, tileRows}, unit,
                   [&](size_t task, const PanelRange& range)
                   { RunRange(memory, range, ofTasks + task * m_TaskBytes); });
}

bool GemmInt8::SkipsTaps() const
{
    return m_Order.IsReordered() && m_BatchRows >= MinSkippedRows && m_Weights->GetColumns() >= MinSkippedColumns;
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

} // namespace tenon::cpu
