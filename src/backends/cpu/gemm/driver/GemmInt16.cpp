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
constexpr size_t MaxBlockRows = 240;
/// With fewer channels than this the loop over one tap is too short.
constexpr int64_t MinTapDepth = 8;
/// With fewer, border columns as runs of their own cost more time than the skipped products save.
constexpr int64_t MinTapDepthOfColumns = 32;

} // namespace

GemmInt16::GemmInt16(const PackedWeightsInt16& weights, const Im2col& windows, size_t rows,
                     const backends::QuantizedRange& range, unsigned int maxThreads)
    : m_Weights(&weights), m_Im2col(windows), m_Min(static_cast<int16_t>(range.m_Min)),
      m_Max(static_cast<int16_t>(range.m_Max)),
      m_InPlace(windows.m_GroupChannels % 2 == 0 && (windows.IsPointwise() || windows.m_GroupChannels >= MinTapDepth)),
      m_TapGroups(weights.GetGroups())
{
    const WeightSizesInt16& sizes = weights.GetSizes();
    m_OutputLayout.m_PixelStride = sizes.m_Columns;
    if (m_InPlace)
    {
        m_Taps = static_cast<size_t>(windows.m_Height * windows.m_Width);
        m_TapGroups = static_cast<size_t>(windows.m_GroupChannels) / 2;
        m_Order = PixelOrder(windows, TileCosts::Find(weights.GetTileRows(weights.GetPanels().front())),
                             windows.m_GroupChannels >= MinTapDepthOfColumns);
    }
    // Neighbouring windows share most of their pixels.
    const size_t rowBytes = m_TapGroups * sizeof(int32_t);
    m_BlockRows = std::min(std::clamp(BlockBytes / rowBytes, MicrokernelsInt16::MaxRows, MaxBlockRows), rows);

    const double multiplications =
        static_cast<double>(rows) * static_cast<double>(sizes.m_Columns) * static_cast<double>(sizes.m_Depth);
    constexpr double FasterThanFloats = 2; // the number of tasks is stated in float multiplications
    const size_t maxRanges = GetWorthwhileTasks(multiplications / FasterThanFloats);
    const size_t panels = weights.GetPanels().size();
    m_Partition = PanelPartition({rows, sizes.m_Columns, panels, MicrokernelsInt16::MaxRows, 1, maxRanges, !m_InPlace},
                                 maxThreads);
    Scratch task;
    task.Add<const int16_t*>(m_BlockRows, m_Taps);
    m_Im2colOffset = task.Add<int32_t>(m_InPlace ? 0 : m_BlockRows, m_TapGroups);
    task.Add<std::byte>(Im2col::ShortRowBytes); // CopyBytes may write past the end of the im2col buffer
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    scratch.AddPerTask(task, m_Partition.GetTasks());
    m_ScratchBytes = scratch.GetBytes();
}

void GemmInt16::Run(const ExecuteArgs& args) const
{
    const Operands operands{args.GetInput<int16_t>(0), args.GetOutput<int16_t>(0)};
    auto* const scratch = static_cast<std::byte*>(args.m_Scratch);
    m_Partition.Run(*args.m_Parallel, [&](size_t task, const PanelRange& range)
                    { RunRange(operands, range, scratch + task * m_TaskBytes); });
}

void GemmInt16::RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const
{
    const std::vector<PanelInt16>& panels = m_Weights->GetPanels();
    const size_t rows = range.m_LastRow - range.m_FirstRow;
    const size_t blocks = (rows + m_BlockRows - 1) / m_BlockRows;
    for (size_t i = 0; i < blocks; ++i)
    {
        const IndexRange block = GetTaskRange(rows, blocks, i); // of nearly equal size
        const size_t first = range.m_FirstRow + block.m_Begin;
        const size_t last = range.m_FirstRow + block.m_End;
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            if (p == range.m_FirstPanel || panels[p].m_Group != panels[p - 1].m_Group)
            {
                const size_t channel = panels[p].m_Group * static_cast<size_t>(m_Im2col.m_GroupChannels);
                FindRows(operands.m_Input + channel, first, last, scratch);
            }
            RunPanel(operands, panels[p], first, last, Scratch::At<const int16_t*>(scratch, 0));
        }
    }
}

/// `data`: the first channel of the group.
void GemmInt16::FindRows(const int16_t* data, size_t first, size_t last, std::byte* scratch) const
{
    auto* table = Scratch::At<const int16_t*>(scratch, 0);
    if (!m_InPlace)
    {
        // With an odd depth, the element after each row is multiplied by 0.
        const size_t pitch = 2 * m_TapGroups;
        auto* strip = Scratch::At<int16_t>(scratch, m_Im2colOffset);
        m_Im2col.CopyNumbers(data, first, last, pitch, strip);
        for (size_t row = 0; row < last - first; ++row)
        {
            table[row] = strip + row * pitch;
        }
    }
    else if (m_Im2col.IsPointwise())
    {
        const auto channels = static_cast<size_t>(m_Im2col.m_Channels);
        for (size_t row = first; row < last; ++row)
        {
            table[row - first] = data + row * channels;
        }
    }
    else
    {
        m_Order.FindTaps(m_Im2col, data, first, last, m_Weights->GetZeros(), table);
    }
}

void GemmInt16::RunPanel(const Operands& operands, const PanelInt16& panel, size_t first, size_t last,
                         const int16_t* const* table) const
{
    const MicrokernelsInt16& microkernels = m_Weights->GetMicrokernels();
    constexpr size_t MaxSums = MicrokernelsInt16::MaxRows * MicrokernelsInt16::MaxVectors * MicrokernelsInt16::MaxLanes;
    alignas(64) int32_t sums[MaxSums];
    alignas(64) double totals[MaxSums];
    const std::span<const size_t> slices = m_Weights->GetSlices(panel);
    RequantizeColumnsInt16 columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    RequantizeRowsInt16 out;
    out.m_SumStride = panel.m_Vectors * microkernels.m_Lanes;
    out.m_Columns = panel.m_Columns;
    TileInt16 tile;
    tile.m_TapStep = last - first;
    tile.m_TapGroups = m_TapGroups;
    tile.m_Sums = sums;
    const MicrokernelInt16* tiles =
        m_Weights->IsInt8() ? microkernels.m_Int8WeightTiles[panel.m_Vectors] : microkernels.m_Tiles[panel.m_Vectors];
    const size_t maxRows = m_Weights->GetTileRows(panel);
    const auto runTile = [&](const PixelRun& run, size_t before, size_t begin, size_t height)
    {
        size_t done = 0;
        for (size_t s = 0; s < slices.size(); ++s)
        {
            tile.m_Indirection = table + done / m_TapGroups * tile.m_TapStep + before + begin;
            tile.m_FirstGroup = done % m_TapGroups;
            tile.m_Groups = slices[s] - done;
            tile.m_Panel = m_Weights->GetData(panel, done);
            tiles[height](tile);
            if (s + 1 < slices.size())
            {
                microkernels.m_Accumulate(sums, height * out.m_SumStride, s == 0, totals);
            }
            done = slices[s];
        }
        for (size_t row = 0; row < height; row += out.m_Rows)
        {
            const size_t pixel = run.m_First + (begin + row) * run.m_Step;
            out.m_Rows = m_OutputLayout.GetRunEnd(pixel, pixel + height - row) - pixel;
            out.m_Sums = sums + row * out.m_SumStride;
            out.m_Totals = slices.size() > 1 ? totals + row * out.m_SumStride : nullptr;
            out.m_Out = operands.m_Output + m_OutputLayout.GetOffset(pixel) + panel.m_Column;
            microkernels.m_Requantize(out, columns);
        }
    };
    m_Order.ForEachRun(first, last,
                       [&](const PixelRun& run, size_t before)
                       {
                           tile.m_Zeros = run.m_LacksTaps ? m_Weights->GetZeros() : nullptr;
                           out.m_OutStride = run.m_Step * m_OutputLayout.m_PixelStride;
                           ForEachTile(run.m_Count, maxRows,
                                       [&](size_t begin, size_t height) { runTile(run, before, begin, height); });
                       });
}

} // namespace tenon::cpu
