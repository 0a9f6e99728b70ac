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
constexpr size_t MostBlockRows = 512;
constexpr size_t MostTableRows = 1024;
/// With fewer channels per tap, the test whether a tap is skipped takes too long compared with its products.
constexpr int64_t LeastSkippedDepth = 128;
/// With fewer pixels or columns, implicit GEMM gains more than tiles that skip taps.
constexpr size_t LeastSkippedRows = 24;
constexpr size_t LeastSkippedColumns = 64;

} // namespace

Product8::Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const ReshapeArgs& args)
    : m_Weights(&weights), m_Windows(windows), m_Rows(rows)
{
    const TensorInfo& output = args.GetOutput(0);
    const backends::QuantizedRange range = backends::GetFusedRange(output, args.m_FusedActivation);
    m_OutputIsSigned = output.GetDataType() != DataType::QAsymmU8;
    m_Min = range.m_Min;
    m_Max = range.m_Max;
    m_Image = ImageProduct8(weights, windows, rows);
    Plan(Scratch(), args.m_MaxThreads);
}

Product8::Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const HybridData8& data,
                   const ReshapeArgs& args)
    : m_Weights(&weights), m_Windows(windows), m_Rows(rows), m_IsHybrid(true), m_BatchRows(rows / data.m_Batches)
{
    const backends::FloatClamp clamp(args.m_FusedActivation);
    m_HasClamp = clamp.IsActive();
    m_Low = clamp.GetLow();
    m_High = clamp.GetHigh();
    Scratch shared;
    HybridData8 flipped = data;
    flipped.m_Flip = weights.GetTiles().m_FlipsFloats ? 0x80 : 0;
    m_Quantizer = HybridQuantizer8(flipped, args.GetInput(0).GetNumElements(), shared);
    m_Image = ImageProduct8(weights, windows, rows, true);
    Plan(shared, args.m_MaxThreads);
}

Product8::Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, unsigned int maxThreads)
    : m_Weights(&weights), m_Windows(windows), m_Rows(rows)
{
    Plan(Scratch(), maxThreads);
}

/// `scratch`: with the memory that all tasks share.
void Product8::Plan(Scratch scratch, unsigned int maxThreads)
{
    const TileSet8& tiles = m_Weights->GetTiles();
    const bool isWide = tiles.IsWide();
    const bool areDoubled = tiles.AreDoubled();
    const size_t depth = m_Weights->GetDepth();
    m_InPlace = !areDoubled && !tiles.m_FlipsRows && (depth % 4 == 0 || tiles.AreStored()) && m_Windows.ArePixels();
    m_InputPitch = static_cast<size_t>(m_Windows.m_Channels);
    m_InputBytes = m_Rows * m_InputPitch;
    m_Place.m_PixelStride = m_Weights->GetColumns();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    m_Pitch = m_Weights->GetGroups() * tiles.GetGroupDepth(); // as many values as there are weights, padding included
    const bool areRows = m_Windows.ArePixels() && depth == m_InputPitch && depth == m_Pitch;
    m_CopiesStrips = !m_InPlace && !areRows;
    m_FindsPoints = m_CopiesStrips && m_IsHybrid && m_Weights->GetRowFactor() == 0 && tiles.m_LeastTableRows != 0 &&
                    m_Windows.m_GroupChannels % 4 == 0 && m_BatchRows >= tiles.m_LeastTableRows;
    const auto countRows = [&](size_t rowBytes, size_t most)
    {
        const size_t rows = std::clamp<size_t>(BlockBytes / rowBytes, tileRows, most) / tileRows * tileRows;
        return std::min(rows, DivideUp(m_Rows, tileRows) * tileRows); // whole tiles: some read whole ones
    };
    m_BlockRows = m_StripRows = countRows(m_Weights->GetGroups() * 4, MostBlockRows);
    if (m_FindsPoints && m_BatchRows <= MostTableRows && m_Windows.m_GroupChannels >= LeastSkippedDepth)
    {
        // Taps can be skipped in blocks that are whole images. Neighbouring receptive fields share most of their taps.
        m_BlockRows = std::max(m_BlockRows, countRows(static_cast<size_t>(m_Windows.m_GroupChannels), MostTableRows));
        m_Order = PixelOrder(m_Windows, TileCosts::Find(tileRows), true);
    }
    m_StripRows = std::max(m_StripRows, m_FindsPoints ? tiles.m_LeastTableRows : 0);
    const size_t mostRows = std::max(m_BlockRows, m_StripRows); // of a block
    if (m_CopiesStrips && tiles.m_Layout == Layout8::Permuted)
    {
        m_WindowImage = WindowImage8(m_Windows, m_BlockRows);
    }

    // Columns count as whole vectors, and few rows as at least four, since weights come from memory for these.
    constexpr size_t FewRows = 4;
    const size_t lanes = m_Weights->GetEngine().m_Lanes;
    const double multiplications = static_cast<double>(std::max(m_Rows, FewRows)) *
                                   static_cast<double>(DivideUp(m_Weights->GetColumns(), lanes) * lanes) *
                                   static_cast<double>(depth);
    // The number of tasks is chosen from a cost in float multiply-adds: an int8 multiply-add costs 1/4 of one (1/1.5 as
    // int16 pairs, 1/2 by pmaddubsw), and requantizing one output as much as 12 (36 without dot products).
    const bool areShorts = tiles.m_Layout == Layout8::Splits || tiles.m_Layout == Layout8::Permuted;
    const double fasterThanFloats = isWide ? 1.5 : areShorts ? 2 : 4;
    const double ofAnOutput = isWide || areShorts ? 36 : 12;
    const double outputs = static_cast<double>(m_Rows) * static_cast<double>(m_Weights->GetColumns());
    m_Parts = std::min({GetMaxParts(maxThreads),
                        GetWorthwhileParts(multiplications / fasterThanFloats + outputs * ofAnOutput),
                        std::max(m_Rows, m_Weights->GetPanels().size())});

    Scratch part;
    if (m_Image.IsUsed() && !SkipsPoints())
    {
        part.Add<std::byte>(m_Image.GetScratchBytes());
        m_PartBytes = part.GetBytes();
        m_PartsOffset = scratch.AddParts(part, m_Parts);
        m_ScratchBytes = scratch.GetBytes();
        return;
    }
    part.Add<int32_t>(mostRows);
    m_ZeroPointsOffset = part.Add<int32_t>(m_IsHybrid ? mostRows : 0);
    m_RowScalesOffset = part.Add<float>(m_IsHybrid ? mostRows : 0);
    // In place, fewer rows than a tile and the rows that fill up a unit may have to be copied: at most fifteen of four
    // bytes.
    const bool copiesTail = tiles.m_RowUnit != 1 || tiles.m_GroupUnit != 1;
    const size_t stripRows = m_WindowImage.IsUsed()                ? 0
                             : m_CopiesStrips || tiles.m_FlipsRows ? m_StripRows
                             : m_InPlace && copiesTail             ? 2 * tileRows
                                                                   : 0;
    m_StripOffset = part.Add<uint8_t>(stripRows, m_Pitch);
    part.Add<uint8_t>(Windows::ShortRowBytes); // past the end of the strip
    m_DoubledOffset = part.Add<int16_t>(areDoubled ? m_StripRows : 0, m_Pitch);
    part.Add<uint8_t>(m_WindowImage.IsUsed() ? Windows::ShortRowBytes : 0);
    m_ImageOffset = part.Add<uint8_t>(m_WindowImage.GetBytes());
    m_TableOffset = part.Add<const uint8_t*>(m_FindsPoints ? mostRows : 0, GetPoints());
    m_PaddingOffset = part.Add<uint8_t>(m_FindsPoints ? m_InputPitch : 0);
    m_SkippedOffset = part.Add<int32_t>(m_Order.IsOther() ? GetPoints() : 0, TileSet8::MostVectors * lanes);
    m_PlacesOffset = part.Add<size_t>(m_Order.IsOther() ? mostRows : 0);
    if (m_Image.GetScratchBytes() > part.GetBytes())
    {
        part.Add<std::byte>(m_Image.GetScratchBytes() - part.GetBytes()); // replaces all of the above, see SetPlace
    }
    m_PartBytes = part.GetBytes();
    m_PartsOffset = scratch.AddParts(part, m_Parts);
    m_ScratchBytes = scratch.GetBytes();
}

ByteData8 Product8::Quantize(const ExecuteArgs& args) const
{
    return m_IsHybrid ? m_Quantizer.Quantize(args) : ByteData8{args.GetInput<uint8_t>(0), nullptr};
}

void Product8::RunQuantized(const ExecuteArgs& args, const ByteData8& data) const
{
    RunAll({data, args.m_Outputs[0], nullptr}, args.m_Scratch, *args.m_Parallel);
}

void Product8::RunAll(const Memory& memory, void* scratch, IParallelFor& parallel) const
{
    const size_t parts = std::min<size_t>(m_Parts, parallel.GetNumThreads());
    const size_t panels = m_Weights->GetPanels().size();
    const TileSet8& tiles = m_Weights->GetTiles();
    const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
    const size_t unit = m_Rows >= parts * 16 * tileRows ? tileRows : 1; // whole tiles, where more rows do not matter
    std::byte* const ofParts = static_cast<std::byte*>(scratch) + m_PartsOffset;
    RunPanelRanges(parallel, parts, {m_Rows, m_Weights->GetColumns(), panels, tileRows}, unit,
                   [&](size_t part, const PanelRange& range)
                   { RunRange(memory, range, ofParts + part * m_PartBytes); });
}

bool Product8::SkipsPoints() const
{
    return m_Order.IsOther() && m_BatchRows >= LeastSkippedRows && m_Weights->GetColumns() >= LeastSkippedColumns;
}

void Product8::RunRange(const Memory& memory, const PanelRange& range, std::byte* scratch) const
{
    if (ReadsImage())
    {
        RunImage(memory, range, scratch);
        return;
    }
    const std::vector<Panel8>& panels = m_Weights->GetPanels();
    const TileSet8& tiles = m_Weights->GetTiles();
    if (tiles.m_Begin != nullptr)
    {
        tiles.m_Begin();
    }
    const OutputLines lines = FindLines(memory, range);
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        // Taps are skipped in whole images only.
        const size_t end = m_FindsPoints ? range.m_LastRow : std::min(first + lines.GetBlockRows(), range.m_LastRow);
        const size_t last = GetBlockEnd(first, end);
        if (memory.m_Start != nullptr && tiles.AreStored() && m_Weights->GetRowFactor() == 0)
        {
            WriteStoredSums(memory, range, MakeBlock(memory.m_Data, {}, 0, first, last, scratch), first);
            first = last;
            continue;
        }
        lines.Prepare(FindRow(memory, first), last - first);
        const PointTable8 points = FindPoints(memory.m_Data, first, last, scratch);
        if (m_WindowImage.IsUsed())
        {
            MakeImage(memory.m_Data, first, last, scratch);
        }
        Block block;
        RowValues values;
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const bool isFirst = p == range.m_FirstPanel;
            if (isFirst || panels[p].m_Matrix != panels[p - 1].m_Matrix)
            {
                block = MakeBlock(memory.m_Data, points, panels[p].m_Matrix, first, last, scratch);
                if (isFirst || m_Weights->GetRowFactor() != 0)
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
