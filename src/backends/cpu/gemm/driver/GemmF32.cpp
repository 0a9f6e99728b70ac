// SPDX-License-Identifier: Apache-2.0
// GemmF32: the loops over blocks of rows for the cache, slices of the depth, panels of columns and tiles for the
// registers; their sizes first (Plan, PlanBlocks). Products by unpacked weights: GemmF32Unpacked.cpp.
#include "backends/cpu/gemm/driver/GemmF32.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/f32/MaxSumDepth.hpp"
#include "backends/cpu/im2col/SlidingWindows.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data of a block: a quarter of a second-level cache of 1 MiB.
constexpr size_t BlockBytes = 256 * 1024;
constexpr size_t MaxBlockRows = 480;
/// Bytes of a panel's slice, which each tile of a block reads: half of a second-level cache of 1 MiB.
constexpr size_t SliceBytes = 512 * 1024;
/// With fewer channels than this the loop over one tap is short. It then takes longer than im2col does, where the
/// columns exceed this multiple of the channels or the rows of taps are copied by moves of constant size.
constexpr size_t MinTapDepth = 8;
constexpr size_t ManyColumns = 16;

/// Rows of the highest microkernel.
size_t FindTileRows(const PanelsF32& panels)
{
    size_t rows = DotProductsF32::Rows;
    if (!panels.Get().empty())
    {
        const PanelF32& first = panels.Get().front();
        panels.GetMicrokernels().FindTiles(first.m_Vectors, first.m_Columns, rows);
    }
    return rows;
}

/// Up to this depth tiles write more than they read and are bound by memory bandwidth.
constexpr size_t ShallowDepth = 32;

/// Prefetches cache lines that will be written in part.
void FetchToWrite([[maybe_unused]] const float* rows, [[maybe_unused]] size_t stride, [[maybe_unused]] size_t count,
                  [[maybe_unused]] size_t columns)
{
#if defined(__GNUC__)
    for (size_t r = 0; r < count; ++r)
    {
        for (size_t c = 0; c < columns; c += LineBytes / sizeof(float))
        {
            __builtin_prefetch(rows + r * stride + c, 1, 3);
        }
    }
#endif
}

} // namespace

GemmF32::GemmF32(const PackedWeightsF32& weights, const Im2col& windows, size_t rows, const backends::FloatClamp& clamp,
                 unsigned int maxThreads)
    : m_Panels(&weights.GetPanels()), m_Data(weights.GetData()), m_Unpacked(weights.GetUnpacked()),
      m_UnpackedType(weights.GetUnpackedType()), m_Zeros(weights.GetZeros()), m_Im2col(windows), m_Rows(rows),
      m_Clamp(clamp)
{
    Plan(maxThreads);
}

GemmF32::GemmF32(const PanelsF32& panels, const Im2col& windows, size_t rows, unsigned int maxThreads)
    : m_Panels(&panels), m_Im2col(windows), m_Rows(rows)
{
    Plan(maxThreads);
}

void GemmF32::Plan(unsigned int maxThreads)
{
    const WeightSizes& sizes = m_Panels->GetSizes();
    const auto channels = static_cast<size_t>(m_Im2col.m_GroupChannels);
    m_TapDepth = channels;
    const bool hasShortRows = m_Im2col.HasShortRows(sizeof(float));
    const bool hasRows = m_Im2col.HasContiguousRows() && !hasShortRows;
    const TileCosts tiles = TileCosts::Find(FindTileRows(*m_Panels));
    const PixelOrder byTaps(m_Im2col, tiles, true);
    if (!m_Im2col.IsPointwise() && hasRows && !byTaps.PrefersTaps(channels))
    {
        m_Reading = CanSlide() ? Reading::Sliding : Reading::Rows;
        m_TapDepth = channels * static_cast<size_t>(m_Im2col.m_Width);
    }
    else if (!m_Im2col.IsPointwise() && channels < MinTapDepth &&
             (m_Unpacked != nullptr || hasShortRows || sizes.m_Columns > ManyColumns * channels * sizes.m_Groups))
    {
        m_Reading = Reading::Im2col;
        m_TapDepth = sizes.m_Depth;
    }
    m_Order = m_Reading == Reading::Taps   ? byTaps
              : m_Reading == Reading::Rows ? PixelOrder(m_Im2col, tiles, false)
                                           : PixelOrder();
    m_Taps = m_TapDepth != 0 ? sizes.m_Depth / m_TapDepth : 0;
    m_TapDepth = m_Taps != 0 ? m_TapDepth : 0;
    m_OutputLayout.m_PixelStride = sizes.m_Columns;
    m_OutputBytes = m_Rows * sizes.m_Columns * sizeof(float);
    PlanBlocks(m_Rows);

    const double multiplications =
        static_cast<double>(m_Rows) * static_cast<double>(sizes.m_Columns) * static_cast<double>(sizes.m_Depth);
    const size_t maxRanges = GetWorthwhileTasks(multiplications);
    const size_t tasks = std::min({GetMaxTasks(maxThreads), maxRanges,
                                   std::max(m_Rows, m_Unpacked != nullptr ? sizes.m_Columns : m_Panels->Get().size())});
    m_Partition = PanelPartition({m_Rows, sizes.m_Columns, m_Panels->Get().size(), MicrokernelsF32::MaxRows, 1,
                                  maxRanges, m_Reading == Reading::Im2col || m_Reading == Reading::Sliding},
                                 tasks);
    if (m_Unpacked != nullptr && m_Im2col.IsPointwise())
    {
        return;
    }
    Scratch task;
    if (m_Reading == Reading::Sliding)
    {
        const size_t pixels = m_Panels->GetMicrokernels().m_SlidingRows + SlidingColumns - 1;
        task.Add<const float*>(m_Taps);
        m_Im2colOffset = task.Add<float>(m_Taps * pixels, static_cast<size_t>(m_Im2col.m_Channels));
    }
    else
    {
        task.Add<const float*>(HasMatrixRows() ? 0 : m_BlockRows, m_Taps);
        m_Im2colOffset = task.Add<float>(m_Reading == Reading::Im2col ? m_BlockRows
                                         : m_Reading == Reading::Rows ? m_Im2col.CountMaxBorderWindows(m_BlockRows)
                                                                      : 0,
                                         sizes.m_Depth);
        task.Add<std::byte>(m_Reading == Reading::Im2col ? Im2col::ShortRowBytes : 0); // slack for CopyBytes
    }
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    scratch.AddPerTask(task, m_Partition.GetTasks());
    m_ScratchBytes = scratch.GetBytes();
}

void GemmF32::PlanBlocks(size_t rows)
{
    // Neighbouring windows share most of their pixels.
    const auto channels = static_cast<size_t>(m_Im2col.m_GroupChannels);
    const size_t newBytes = std::max<size_t>(m_Reading == Reading::Im2col ? m_TapDepth : channels, 1) * sizeof(float);
    m_BlockRows = std::min(std::clamp(BlockBytes / newBytes, MicrokernelsF32::MaxRows, MaxBlockRows), rows);
    if (m_Reading == Reading::Rows)
    {
        const size_t windowBytes = m_Panels->GetSizes().m_Depth * sizeof(float);
        m_BlockRows = m_Im2col.LimitBorderWindows(m_BlockRows, MicrokernelsF32::MaxRows, windowBytes, BlockBytes);
    }

    const MicrokernelsF32& microkernels = m_Panels->GetMicrokernels();
    const size_t vectors = m_Panels->IsInPlace() ? microkernels.m_MaxVectors : microkernels.m_Vectors;
    const size_t stepBytes = vectors * microkernels.m_Lanes * sizeof(float);
    const size_t maxSteps = std::min(SliceBytes / stepBytes, MaxSumDepth);
    const size_t slicesOfTap = std::max<size_t>(DivideUp(m_TapDepth, maxSteps), 1);
    m_SliceDepth = DivideUp(m_TapDepth, slicesOfTap);
    const size_t tapsInSlice = slicesOfTap == 1 ? std::max<size_t>(maxSteps / std::max<size_t>(m_TapDepth, 1), 1) : 1;
    m_SliceTaps = std::max<size_t>(DivideUp(m_Taps, std::max<size_t>(DivideUp(m_Taps, tapsInSlice), 1)), 1);
}

bool GemmF32::CanSlide() const
{
    const MicrokernelsF32& microkernels = m_Panels->GetMicrokernels();
    const std::vector<PanelF32>& panels = m_Panels->Get();
    // Microkernels whose rows share half vectors are faster than sliding ones.
    return microkernels.m_SlidingRows != 0 && panels.size() == 1 && panels[0].m_Vectors == 1 &&
           static_cast<size_t>(m_Im2col.m_Channels) <= microkernels.m_MaxSlidingChannels &&
           2 * panels[0].m_Columns > microkernels.m_Lanes && m_Im2col.m_Width == SlidingColumns &&
           m_Im2col.m_StrideX == 1;
}

bool GemmF32::CanAdd() const
{
    // Between slices the output holds partial sums, so `added` needs a product of one slice.
    return m_Unpacked == nullptr && m_Taps != 0 && GetSlice(0).m_IsLast;
}

OutputCacheLines GemmF32::FindCacheLines(const Operands& operands, const PanelRange& range) const
{
    const bool isWhole =
        m_OutputLayout.m_PixelStride == m_Panels->GetSizes().m_Columns && range.HasPanels(m_Panels->Get().size());
    const bool isNew =
        m_Unpacked == nullptr && !m_Accumulates && operands.m_Added == nullptr && !m_Order.HasSplitColumns();
    return {m_OutputBytes, m_OutputLayout.m_PixelStride * sizeof(float), m_BlockRows, isWhole && isNew};
}

GemmF32::Slice GemmF32::GetSlice(size_t index) const
{
    if (m_SliceTaps == m_Taps && m_SliceDepth == m_TapDepth) // no divisions, for small products
    {
        return {0, m_Taps, 0, m_TapDepth, true};
    }
    const size_t slicesOfTap = std::max<size_t>(DivideUp(m_TapDepth, std::max<size_t>(m_SliceDepth, 1)), 1);
    Slice slice;
    slice.m_FirstTap = index / slicesOfTap * m_SliceTaps;
    slice.m_Taps = std::min(m_SliceTaps, m_Taps - slice.m_FirstTap);
    slice.m_FirstDepth = index % slicesOfTap * m_SliceDepth;
    slice.m_Depth = std::min(m_SliceDepth, m_TapDepth - slice.m_FirstDepth);
    slice.m_IsLast = slice.m_FirstTap + slice.m_Taps == m_Taps && slice.m_FirstDepth + slice.m_Depth == m_TapDepth;
    return slice;
}

void GemmF32::Run(const Operands& operands, void* scratch, IParallelFor& parallel) const
{
    if (m_Unpacked != nullptr && m_Im2col.IsPointwise())
    {
        RunUnpacked(operands, parallel);
        return;
    }
    m_Partition.Run(parallel, [&](size_t task, const PanelRange& range)
                    { RunRange(operands, range, static_cast<std::byte*>(scratch) + task * m_TaskBytes); });
}

void GemmF32::RunRange(const float* input, const float* weights, const float* bias, float* out, const PanelRange& range,
                       void* scratch) const
{
    const size_t firstOffset = m_Panels->IsInPlace() ? 0 : m_Panels->Get()[range.m_FirstPanel].m_Offset;
    RunRange({input, bias, out, weights, firstOffset, nullptr}, range, static_cast<std::byte*>(scratch));
}

void GemmF32::RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const
{
    if (IsOneBlock(range))
    {
        RunInPlace(operands, range);
        return;
    }
    const OutputCacheLines lines = FindCacheLines(operands, range);
    const size_t maxRows = lines.GetBlockRows();
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        const size_t end = m_OutputLayout.GetRunEnd(first, range.m_LastRow);
        if (m_Reading == Reading::Sliding)
        {
            RunSliding(operands, first, end, scratch);
            first = end;
            continue;
        }
        const size_t blocks = end - first <= maxRows ? 1 : DivideUp(end - first, maxRows);
        for (size_t i = 0; i < blocks; ++i)
        {
            const IndexRange rows = GetTaskRange(end - first, blocks, i); // of nearly equal size
            const PanelRange block{first + rows.m_Begin, first + rows.m_End, range.m_FirstPanel, range.m_LastPanel};
            lines.Prepare(operands.m_Out + m_OutputLayout.GetOffset(block.m_FirstRow), rows.m_End - rows.m_Begin);
            RunBlock(operands, block, scratch);
        }
        first = end;
    }
}

void GemmF32::RunSliding(const Operands& operands, size_t first, size_t last, std::byte* scratch) const
{
    const MicrokernelsF32& microkernels = m_Panels->GetMicrokernels();
    auto* const places = Scratch::At<const float*>(scratch, 0);
    TileF32 tile;
    tile.m_Indirection = places;
    tile.m_Taps = m_Taps;
    tile.m_Depth = m_TapDepth;
    tile.m_PixelStep = static_cast<size_t>(m_Im2col.m_Channels);
    tile.m_Panel = operands.m_Packed;
    tile.m_Columns = m_Panels->GetSizes().m_Columns;
    tile.m_Bias = operands.m_Bias;
    tile.m_Accumulates = m_Accumulates;
    tile.m_HasClamp = m_Clamp.IsActive();
    tile.m_Low = m_Clamp.GetLow();
    tile.m_High = m_Clamp.GetHigh();
    tile.m_OutStride = m_OutputLayout.m_PixelStride;
    ForEachSlide(m_Im2col, operands.m_Input, first, last, microkernels.m_SlidingRows,
                 Scratch::At<float>(scratch, m_Im2colOffset), places,
                 [&](size_t window, size_t count)
                 {
                     const size_t offset = m_OutputLayout.GetOffset(window);
                     tile.m_Out = operands.m_Out + offset;
                     tile.m_Added = operands.m_Added != nullptr ? operands.m_Added + offset : nullptr;
                     microkernels.m_SlidingTiles[count](tile, 1);
                 });
}

void GemmF32::RunBlock(const Operands& operands, const PanelRange& block, std::byte* scratch) const
{
    if (m_Unpacked != nullptr)
    {
        RunUnpackedBlock(operands, block, scratch);
        return;
    }
    const std::vector<PanelF32>& panels = m_Panels->Get();
    size_t last = block.m_FirstPanel;
    const float* const* table = nullptr;
    for (size_t first = last; first < block.m_LastPanel; first = last)
    {
        const size_t group = panels[first].m_Group;
        while (last < block.m_LastPanel && panels[last].m_Group == group)
        {
            ++last;
        }
        const BlockRows rows = FindGroup(table, operands.m_Input, group, block, scratch);
        table = rows.m_Indirection;
        bool isLast = false;
        for (size_t i = 0; !isLast; ++i)
        {
            const Slice slice = GetSlice(i);
            isLast = slice.m_IsLast;
            TileF32 tile = MakeTile(slice, block, rows);
            WeightPrefetcher next(nullptr, 0);
            tile.m_Next = &next;
            for (size_t p = first; p < last; ++p)
            {
                RunPanel(operands, p, slice, block, rows, tile);
            }
        }
    }
}

/// `table`: the indirection buffer of another group of the block, if there is one.
GemmF32::BlockRows GemmF32::FindGroup(const float* const* table, const float* input, size_t group,
                                      const PanelRange& block, std::byte* scratch) const
{
    const size_t offset = group * static_cast<size_t>(m_Im2col.m_GroupChannels);
    if (HasMatrixRows() || m_Reading != Reading::Taps)
    {
        return FindRows(input + offset, block.m_FirstRow, block.m_LastRow, scratch);
    }
    return {table != nullptr ? table : FindRows(input, block.m_FirstRow, block.m_LastRow, scratch).m_Indirection,
            nullptr, 0, offset};
}

GemmF32::BlockRows GemmF32::FindRows(const float* data, size_t first, size_t last, std::byte* scratch) const
{
    if (m_Taps == 0) // an empty sum: a phase of a transposed convolution without taps
    {
        return {nullptr, data, 0};
    }
    if (m_Im2col.IsPointwise())
    {
        const auto channels = static_cast<size_t>(m_Im2col.m_Channels);
        return {nullptr, data + first * channels, channels};
    }
    auto* const strip = Scratch::At<float>(scratch, m_Im2colOffset);
    if (m_Reading == Reading::Im2col)
    {
        m_Im2col.CopyNumbers(data, first, last, m_TapDepth, strip);
        return {nullptr, strip, m_TapDepth};
    }
    auto* const table = Scratch::At<const float*>(scratch, 0);
    if (m_Reading == Reading::Rows)
    {
        m_Order.FindRows(m_Im2col, data, first, last, m_Zeros, strip, table);
    }
    else
    {
        m_Order.FindTaps(m_Im2col, data, first, last, m_Zeros, table);
    }
    return {table, nullptr, 0};
}

/// The operands that the tiles of all panels of a slice share.
TileF32 GemmF32::MakeTile(const Slice& slice, const PanelRange& block, const BlockRows& rows) const
{
    TileF32 tile;
    tile.m_HasFewRows = m_Rows <= TileF32::FewRows;
    tile.m_TapStep = block.m_LastRow - block.m_FirstRow;
    tile.m_Taps = slice.m_Taps;
    tile.m_Depth = slice.m_Depth;
    tile.m_DataOffset = slice.m_FirstDepth + rows.m_Offset;
    tile.m_DataStride = rows.m_Stride;
    tile.m_Accumulates = m_Accumulates || slice.m_FirstTap != 0 || slice.m_FirstDepth != 0;
    tile.m_HasClamp = slice.m_IsLast && m_Clamp.IsActive();
    tile.m_Low = m_Clamp.GetLow();
    tile.m_High = m_Clamp.GetHigh();
    return tile;
}

/// The weights of a panel for one slice.
const float* GemmF32::FindWeights(const Operands& operands, const PanelF32& panel, const Slice& slice) const
{
    const size_t firstStep = slice.m_FirstTap * m_TapDepth + slice.m_FirstDepth;
    return operands.m_Packed + (panel.m_Offset - operands.m_FirstOffset) + firstStep * m_Panels->GetStride(panel);
}

void GemmF32::RunPanel(const Operands& operands, size_t index, const Slice& slice, const PanelRange& block,
                       const BlockRows& rows, TileF32& tile) const
{
    const MicrokernelsF32& microkernels = m_Panels->GetMicrokernels();
    const PanelF32& panel = m_Panels->Get()[index];
    tile.m_Panel = FindWeights(operands, panel, slice);
    tile.m_PanelStride = m_Panels->GetStride(panel);
    tile.m_Columns = panel.m_Columns;
    tile.m_Bias = operands.m_Bias != nullptr ? operands.m_Bias + panel.m_Column : nullptr;
    const float* const* const table =
        rows.m_Indirection != nullptr ? rows.m_Indirection + slice.m_FirstTap * tile.m_TapStep : nullptr;
    const bool fetchesOut = microkernels.m_FetchesOutput && slice.m_IsLast &&
                            slice.m_Taps * slice.m_Depth <= ShallowDepth &&
                            FindCacheLines(operands, block).IsPrefetched();
    const bool isInPlace = m_Panels->IsInPlace();
    size_t maxRows = microkernels.m_Rows[panel.m_Vectors];
    const MicrokernelF32* const tiles = isInPlace ? microkernels.m_InPlaceTiles[panel.m_Vectors]
                                                  : microkernels.FindTiles(panel.m_Vectors, panel.m_Columns, maxRows);
    *tile.m_Next = WeightPrefetcher(tile.m_Panel, 0);
    if (!isInPlace && index + 1 < block.m_LastPanel)
    {
        const PanelF32& following = m_Panels->Get()[index + 1];
        const size_t floats = slice.m_Taps * slice.m_Depth * following.m_Vectors * microkernels.m_Lanes;
        *tile.m_Next = WeightPrefetcher(FindWeights(operands, following, slice), floats * sizeof(float));
    }
    m_Order.ForEachRun(block.m_FirstRow, block.m_LastRow,
                       [&](const PixelRun& run, size_t row)
                       {
                           const size_t stride = run.m_Step * m_OutputLayout.m_PixelStride;
                           const size_t offset = m_OutputLayout.GetOffset(run.m_First) + panel.m_Column;
                           float* const out = operands.m_Out + offset;
                           const float* const added = operands.m_Added != nullptr ? operands.m_Added + offset : nullptr;
                           tile.m_Zeros = run.m_LacksTaps ? m_Zeros : nullptr;
                           tile.m_OutStride = stride;
                           const auto runTiles = [&](size_t begin, size_t height, size_t count)
                           {
                               if (table != nullptr)
                               {
                                   tile.m_Indirection = table + row + begin;
                               }
                               else
                               {
                                   tile.m_Data = rows.m_First + (row + begin) * rows.m_Stride + slice.m_FirstDepth;
                               }
                               tile.m_Out = out + begin * stride;
                               tile.m_Added = added != nullptr ? added + begin * stride : nullptr;
                               tiles[height](tile, count);
                           };
                           if (!fetchesOut)
                           {
                               ForEachHeight(run.m_Count, maxRows, runTiles);
                               return;
                           }
                           ForEachTile(run.m_Count, maxRows,
                                       [&](size_t begin, size_t height)
                                       {
                                           const size_t below = begin + height;
                                           FetchToWrite(out + below * stride, stride,
                                                        std::min(height, run.m_Count - below), panel.m_Columns);
                                           runTiles(begin, height, 1);
                                       });
                       });
}

} // namespace tenon::cpu
