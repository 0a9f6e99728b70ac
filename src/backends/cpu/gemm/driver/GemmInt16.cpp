// SPDX-License-Identifier: Apache-2.0
// GemmInt16: blocks of rows for the cache, panels of columns, tiles for the registers, slices of the depth for int32
// sums.
#include "backends/cpu/gemm/driver/GemmInt16.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data of a block: an eighth of a second-level cache of 1 MiB, as the panels pass through it as well.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MostBlockRows = 240;
/// With fewer channels than this the loop over one tap is too short.
constexpr int64_t LeastTapDepth = 8;
/// With fewer, border columns as runs of their own cost more time than the skipped products save.
constexpr int64_t LeastTapDepthOfColumns = 32;

} // namespace

Product16::Product16(const PackedWeights16& weights, const Windows& windows, size_t rows,
                     const backends::QuantizedRange& range, unsigned int maxThreads)
    : m_Weights(&weights), m_Windows(windows), m_Rows(rows), m_Min(static_cast<int16_t>(range.m_Min)),
      m_Max(static_cast<int16_t>(range.m_Max)),
      m_InPlace(windows.m_GroupChannels % 2 == 0 && (windows.ArePixels() || windows.m_GroupChannels >= LeastTapDepth)),
      m_TapGroups(weights.GetGroups())
{
    const Sizes16& sizes = weights.GetSizes();
    m_Place.m_PixelStride = sizes.m_Columns;
    if (m_InPlace)
    {
        m_Taps = static_cast<size_t>(windows.m_Height * windows.m_Width);
        m_TapGroups = static_cast<size_t>(windows.m_GroupChannels) / 2;
        m_Order = PixelOrder(windows, TileCosts::Find(weights.GetTileRows(weights.GetPanels().front())),
                             windows.m_GroupChannels >= LeastTapDepthOfColumns);
    }
    // Neighbouring windows share most of their pixels.
    const size_t rowBytes = m_TapGroups * sizeof(int32_t);
    m_BlockRows = std::min(std::clamp(BlockBytes / rowBytes, Engine16::MostRows, MostBlockRows), rows);

    const double multiplications =
        static_cast<double>(rows) * static_cast<double>(sizes.m_Columns) * static_cast<double>(sizes.m_Depth);
    constexpr double FasterThanFloats = 2; // the number of tasks is stated in float multiplications
    m_Parts = std::min({GetMaxParts(maxThreads), GetWorthwhileParts(multiplications / FasterThanFloats),
                        std::max(rows, weights.GetPanels().size())});
    Scratch part;
    part.Add<const int16_t*>(m_BlockRows, m_Taps);
    m_StripOffset = part.Add<int32_t>(m_InPlace ? 0 : m_BlockRows, m_TapGroups);
    part.Add<std::byte>(Windows::ShortRowBytes); // CopyBytes may write past the end of the im2col buffer
    m_PartBytes = part.GetBytes();
    Scratch scratch;
    scratch.AddParts(part, m_Parts);
    m_ScratchBytes = scratch.GetBytes();
}

void Product16::Run(const ExecuteArgs& args) const
{
    const Operands operands{args.GetInput<int16_t>(0), args.GetOutput<int16_t>(0)};
    const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
    auto* const scratch = static_cast<std::byte*>(args.m_Scratch);
    RunPanelRanges(*args.m_Parallel, parts,
                   {m_Rows, m_Weights->GetSizes().m_Columns, m_Weights->GetPanels().size(), Engine16::MostRows}, 1,
                   [&](size_t part, const PanelRange& range)
                   { RunRange(operands, range, scratch + part * m_PartBytes); });
}

void Product16::RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const
{
    const std::vector<Panel16>& panels = m_Weights->GetPanels();
    const size_t rows = range.m_LastRow - range.m_FirstRow;
    const size_t blocks = (rows + m_BlockRows - 1) / m_BlockRows;
    for (size_t i = 0; i < blocks; ++i)
    {
        const Part block = GetPart(rows, blocks, i); // of nearly equal size
        const size_t first = range.m_FirstRow + block.m_Begin;
        const size_t last = range.m_FirstRow + block.m_End;
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            if (p == range.m_FirstPanel || panels[p].m_Group != panels[p - 1].m_Group)
            {
                const size_t channel = panels[p].m_Group * static_cast<size_t>(m_Windows.m_GroupChannels);
                FindRows(operands.m_Input + channel, first, last, scratch);
            }
            RunPanel(operands, panels[p], first, last, Scratch::At<const int16_t*>(scratch, 0));
        }
    }
}

/// `data`: the first channel of the group.
void Product16::FindRows(const int16_t* data, size_t first, size_t last, std::byte* scratch) const
{
    auto* table = Scratch::At<const int16_t*>(scratch, 0);
    if (!m_InPlace)
    {
        // With an odd depth, the element after each row is multiplied by 0.
        const size_t pitch = 2 * m_TapGroups;
        auto* strip = Scratch::At<int16_t>(scratch, m_StripOffset);
        m_Windows.CopyNumbers(data, first, last, pitch, strip);
        for (size_t row = 0; row < last - first; ++row)
        {
            table[row] = strip + row * pitch;
        }
    }
    else if (m_Windows.ArePixels())
    {
        const auto channels = static_cast<size_t>(m_Windows.m_Channels);
        for (size_t row = first; row < last; ++row)
        {
            table[row - first] = data + row * channels;
        }
    }
    else
    {
        m_Order.FindPoints(m_Windows, data, first, last, m_Weights->GetZeros(), table);
    }
}

void Product16::RunPanel(const Operands& operands, const Panel16& panel, size_t first, size_t last,
                         const int16_t* const* table) const
{
    const Engine16& engine = m_Weights->GetEngine();
    constexpr size_t MostSums = Engine16::MostRows * Engine16::MostVectors * Engine16::MostLanes;
    alignas(64) int32_t sums[MostSums];
    alignas(64) double totals[MostSums];
    const std::span<const size_t> slices = m_Weights->GetSlices(panel);
    Columns16 columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    Rows16 out;
    out.m_SumStride = panel.m_Vectors * engine.m_Lanes;
    out.m_Columns = panel.m_Columns;
    Tile16 tile;
    tile.m_TapStep = last - first;
    tile.m_TapGroups = m_TapGroups;
    tile.m_Sums = sums;
    const TileFunction16* tiles =
        m_Weights->AreBytes() ? engine.m_ByteTiles[panel.m_Vectors] : engine.m_Tiles[panel.m_Vectors];
    const size_t most = m_Weights->GetTileRows(panel);
    const auto runTile = [&](const PixelRun& run, size_t before, size_t begin, size_t height)
    {
        size_t done = 0;
        for (size_t s = 0; s < slices.size(); ++s)
        {
            tile.m_Data = table + done / m_TapGroups * tile.m_TapStep + before + begin;
            tile.m_FirstGroup = done % m_TapGroups;
            tile.m_Groups = slices[s] - done;
            tile.m_Panel = m_Weights->GetData(panel, done);
            tiles[height](tile);
            if (s + 1 < slices.size())
            {
                engine.m_Accumulate(sums, height * out.m_SumStride, s == 0, totals);
            }
            done = slices[s];
        }
        for (size_t row = 0; row < height; row += out.m_Rows)
        {
            const size_t pixel = run.m_First + (begin + row) * run.m_Step;
            out.m_Rows = m_Place.GetRunEnd(pixel, pixel + height - row) - pixel;
            out.m_Sums = sums + row * out.m_SumStride;
            out.m_Totals = slices.size() > 1 ? totals + row * out.m_SumStride : nullptr;
            out.m_Out = operands.m_Output + m_Place.GetOffset(pixel) + panel.m_Column;
            engine.m_Requantize(out, columns);
        }
    };
    m_Order.ForEachRun(first, last,
                       [&](const PixelRun& run, size_t before)
                       {
                           tile.m_Zeros = run.m_LacksPoints ? m_Weights->GetZeros() : nullptr;
                           out.m_OutStride = run.m_Step * m_Place.m_PixelStride;
                           ForEachTile(run.m_Count, most,
                                       [&](size_t begin, size_t height) { runTile(run, before, begin, height); });
                       });
}

} // namespace tenon::cpu
