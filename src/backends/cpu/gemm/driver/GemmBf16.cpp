// SPDX-License-Identifier: Apache-2.0
// GemmBf16: blocks of rows for the cache, panels of columns, tiles for the registers.
#include "backends/cpu/gemm/driver/GemmBf16.hpp"

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/im2col/SlidingWindows.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data of a block: a quarter of a second-level cache of 1 MiB.
constexpr size_t BlockBytes = 256 * 1024;
constexpr size_t MaxBlockRows = 512;
/// With fewer channels than this the loop over one tap is too short.
constexpr size_t MinTapDepth = 8;

/// Padded images: bytes of a block, of the largest block, and output pixels of a block.
constexpr size_t ImageBytes = 256 * 1024;
constexpr size_t MaxImageBytes = 1024 * 1024;
constexpr size_t MaxImagePixels = 4096;

} // namespace

GemmBf16::GemmBf16(const PackedWeightsBf16& weights, const Im2col& windows, size_t rows,
                   const backends::FloatClamp& clamp, unsigned int maxThreads)
    : m_Panels(&weights.GetPanels()), m_Weights(&weights), m_Im2col(windows), m_Rows(rows), m_Clamp(clamp)
{
    Plan(maxThreads);
}

GemmBf16::GemmBf16(const PanelsBf16& panels, const Im2col& windows, size_t rows, unsigned int maxThreads)
    : m_Panels(&panels), m_Im2col(windows), m_Rows(rows)
{
    Plan(maxThreads);
}

void GemmBf16::Plan(unsigned int maxThreads)
{
    const WeightSizes& sizes = m_Panels->GetSizes();
    const MicrokernelsBf16& microkernels = m_Panels->GetMicrokernels();
    const Im2col& windows = m_Im2col;
    const size_t rows = m_Rows;
    m_OutputLayout.m_PixelStride = sizes.m_Columns;
    m_OutputBytes = rows * sizes.m_Columns * sizeof(uint16_t);
    m_Pitch = m_Panels->GetPairs() * 2;
    m_InPlace = windows.IsPointwise() && (m_Pitch == sizes.m_Depth || microkernels.m_ReadsIndirection);
    const auto channels = static_cast<size_t>(windows.m_GroupChannels);
    size_t rowElements = m_Pitch;
    m_Pitch = m_InPlace ? static_cast<size_t>(windows.m_Channels) : m_Pitch;
    if (microkernels.m_ReadsIndirection && !windows.IsPointwise() && channels % 2 == 0 && channels >= MinTapDepth)
    {
        const IndexRange panel = m_Panels->GetPanel(0);
        const TileCosts tiles = TileCosts::Find(microkernels.m_Rows[panel.m_End - panel.m_Begin]);
        const PixelOrder byTaps(windows, tiles, true);
        m_IndirectsRows = windows.HasContiguousRows() && !byTaps.PrefersTaps(channels);
        m_IndirectionTaps =
            static_cast<size_t>(m_IndirectsRows ? windows.m_Height : windows.m_Height * windows.m_Width);
        m_Slides = m_IndirectsRows && m_IndirectionTaps != 0 && microkernels.m_SlidingRows != 0 &&
                   m_Panels->GetVectors() == 1 && windows.m_Width == SlidingColumns && windows.m_StrideX == 1;
        m_Order = m_Slides ? PixelOrder() : m_IndirectsRows ? PixelOrder(windows, tiles, false) : byTaps;
        rowElements = channels; // neighbouring windows share most of their pixels
    }
    m_BlockRows = std::clamp<size_t>(BlockBytes / (std::max<size_t>(rowElements, 1) * sizeof(uint16_t)),
                                     MicrokernelsBf16::MaxRows, MaxBlockRows);
    m_BlockRows = std::min(m_BlockRows, rows);
    if (m_IndirectsRows)
    {
        m_BlockRows =
            windows.LimitBorderWindows(m_BlockRows, MicrokernelsBf16::MaxRows, m_Pitch * sizeof(uint16_t), BlockBytes);
    }

    PlanImage();

    const double multiplications =
        static_cast<double>(rows) * static_cast<double>(sizes.m_Columns) * static_cast<double>(sizes.m_Depth);
    constexpr double FasterThanFloats = 4; // the number of tasks is stated in float multiplications
    const size_t maxRanges = GetWorthwhileTasks(multiplications / FasterThanFloats);
    m_Partition = PanelPartition({rows, sizes.m_Columns, m_Panels->GetPanels(), MicrokernelsBf16::MaxRows, 1, maxRanges,
                                  !m_InPlace && m_IndirectionTaps == 0},
                                 maxThreads);
    Scratch task;
    if (m_Image.IsUsed())
    {
        // The last group may read as many windows as if it were whole.
        const auto past = WindowsBf16::MaxPixels * static_cast<size_t>(windows.m_StrideX * windows.m_Channels);
        task.Add<std::byte>(m_Image.GetBytes() + past * sizeof(uint16_t));
        m_WindowsOffset = task.Add<WindowsBf16>(m_Image.GetBlockPixels());
    }
    else
    {
        task.Add<const uint16_t*>(m_BlockRows, m_IndirectionTaps);
        m_Im2colOffset = task.Add<uint16_t>(m_Slides          ? microkernels.m_SlidingRows + SlidingColumns - 1
                                            : m_IndirectsRows ? windows.CountMaxBorderWindows(m_BlockRows)
                                            : m_InPlace || m_IndirectionTaps != 0 ? 0
                                                                                  : m_BlockRows,
                                            m_Pitch);
        task.Add<std::byte>(Im2col::ShortRowBytes); // CopyBytes may write past the end of the im2col buffer
    }
    m_TaskBytes = task.GetBytes();
    Scratch scratch;
    scratch.AddPerTask(task, m_Partition.GetTasks());
    m_ScratchBytes = scratch.GetBytes();
}

void GemmBf16::PlanImage()
{
    const Im2col& windows = m_Im2col;
    const IndexRange panel = m_Panels->GetPanels() != 0 ? m_Panels->GetPanel(0) : IndexRange();
    const auto rowPairs = static_cast<size_t>(windows.m_Width * windows.m_Channels) / 2;
    const size_t stepPairs = m_Panels->GetStepPairs();
    if (m_Panels->GetMicrokernels().m_WindowTiles[panel.m_End - panel.m_Begin] == nullptr ||
        !windows.HasContiguousRows() || windows.m_Channels % 2 != 0 || !HasSharedPixels(windows) ||
        rowPairs % stepPairs != 0 || m_Panels->GetPairs() != rowPairs * static_cast<size_t>(windows.m_Height))
    {
        return;
    }
    // Narrow images leave rows of the tiles empty.
    constexpr double MinUse = 0.6;
    const auto width = static_cast<size_t>(windows.m_OutputWidth);
    const size_t tileRows = DivideUp(width, WindowsBf16::MaxPixels) * WindowsBf16::MaxPixels;
    if (static_cast<double>(width) >= MinUse * static_cast<double>(tileRows))
    {
        m_Image = PaddedImage(windows, MaxImagePixels, sizeof(uint16_t), ImageBytes, MaxImageBytes);
    }
}

void GemmBf16::Run(const uint16_t* input, uint16_t* out, void* scratch, IParallelFor& parallel,
                   const uint16_t* added) const
{
    m_Partition.Run(
        parallel,
        [&](size_t task, const PanelRange& range)
        {
            const uint16_t* const packed = m_Weights->GetData() + m_Panels->GetElements({0, range.m_FirstPanel});
            RunRange({input, packed, out, added}, range, static_cast<std::byte*>(scratch) + task * m_TaskBytes);
            m_Panels->GetMicrokernels().m_Release();
        });
}

OutputCacheLines GemmBf16::FindCacheLines(const Operands& operands, const PanelRange& range) const
{
    const bool isWhole =
        m_OutputLayout.m_PixelStride == m_Panels->GetSizes().m_Columns && range.HasPanels(m_Panels->GetPanels());
    const bool isNew = operands.m_Added == nullptr && !m_Order.HasSplitColumns();
    return {m_OutputBytes, m_OutputLayout.m_PixelStride * sizeof(uint16_t), m_BlockRows, isWhole && isNew};
}

void GemmBf16::RunRange(const Operands& operands, const PanelRange& range, std::byte* scratch) const
{
    if (m_Image.IsUsed())
    {
        RunWindows(operands, range, scratch);
        return;
    }
    const OutputCacheLines lines = FindCacheLines(operands, range);
    const size_t maxRows = lines.GetBlockRows();
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        if (m_Slides)
        {
            const size_t end = m_OutputLayout.GetRunEnd(first, range.m_LastRow);
            RunSliding(operands, first, end, scratch);
            first = end;
            continue;
        }
        const size_t last = std::min(first + maxRows, m_OutputLayout.GetRunEnd(first, range.m_LastRow));
        const Rows rows = FindRows(operands.m_Input, first, last, scratch);
        lines.Prepare(operands.m_Out + m_OutputLayout.GetOffset(first), last - first);
        ForEachPanel(range, operands.m_Packed,
                     [&](const IndexRange& vectors, const uint16_t* packed, WeightPrefetcher& next)
                     {
                         Operands panel = operands;
                         panel.m_Packed = packed;
                         RunPanel(vectors, rows, panel, next);
                     });
        first = last;
    }
}

template <typename F>
void GemmBf16::ForEachPanel(const PanelRange& range, const uint16_t* packed, const F& run) const
{
    for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
    {
        const uint16_t* const nextPanel = packed + m_Panels->GetElements({p, p + 1});
        const size_t nextElements = m_Panels->GetElements({p + 1, std::min(p + 2, range.m_LastPanel)});
        WeightPrefetcher next(nextElements != 0 ? nextPanel : packed, nextElements * sizeof(uint16_t));
        run(m_Panels->GetPanel(p), packed, next);
        packed = nextPanel;
    }
}

void GemmBf16::RunSliding(const Operands& operands, size_t first, size_t last, std::byte* scratch) const
{
    const MicrokernelsBf16& microkernels = m_Panels->GetMicrokernels();
    auto* const places = Scratch::At<const uint16_t*>(scratch, 0);
    TileBf16 tile = MakeTile(IndexRange{0, 1});
    tile.m_Indirection = places;
    tile.m_PixelStep = static_cast<size_t>(m_Im2col.m_Channels);
    tile.m_Panel = operands.m_Packed;
    tile.m_OutStride = m_OutputLayout.m_PixelStride;
    ForEachSlide(m_Im2col, operands.m_Input, first, last, microkernels.m_SlidingRows,
                 Scratch::At<uint16_t>(scratch, m_Im2colOffset), places,
                 [&](size_t window, size_t count)
                 {
                     const size_t offset = m_OutputLayout.GetOffset(window);
                     tile.m_Out = operands.m_Out + offset;
                     tile.m_Added = operands.m_Added != nullptr ? operands.m_Added + offset : nullptr;
                     microkernels.m_SlidingTiles[count](tile, 1);
                 });
}

void GemmBf16::RunWindows(const Operands& operands, const PanelRange& range, std::byte* scratch) const
{
    auto* const image = Scratch::At<uint8_t>(scratch, 0);
    auto* const groups = Scratch::At<WindowsBf16>(scratch, m_WindowsOffset);
    const size_t pixelBytes = static_cast<size_t>(m_Im2col.m_Channels) * sizeof(uint16_t);
    const auto* const input = reinterpret_cast<const uint8_t*>(operands.m_Input);
    const auto pad = [&](size_t pixels, uint8_t* to) { std::memset(to, 0, pixels * pixelBytes); };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    { std::memcpy(to, input + from * pixelBytes, pixels * pixelBytes); };
    const MicrokernelsBf16& microkernels = m_Panels->GetMicrokernels();
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        const size_t last = m_Image.GetBlockEnd(first, range.m_LastRow);
        m_Image.Make(first, last, image, pad, fill);
        const size_t count = FindWindows(first, last, reinterpret_cast<const uint16_t*>(image), groups);
        ForEachPanel(range, operands.m_Packed,
                     [&](const IndexRange& vectors, const uint16_t* packed, WeightPrefetcher& next)
                     {
                         const size_t column = vectors.m_Begin * microkernels.m_Lanes;
                         TileBf16 tile = MakeTile(vectors);
                         tile.m_Panel = packed;
                         tile.m_Next = &next;
                         tile.m_DataStride = static_cast<size_t>(m_Im2col.m_StrideX * m_Im2col.m_Channels);
                         tile.m_TapPairs = tile.m_Pairs / static_cast<size_t>(m_Im2col.m_Height);
                         tile.m_TapStep =
                             static_cast<size_t>(m_Im2col.m_DilationY) * m_Image.GetRowBytes() / sizeof(uint16_t);
                         tile.m_Out = operands.m_Out + column;
                         tile.m_Added = operands.m_Added != nullptr ? operands.m_Added + column : nullptr;
                         tile.m_OutStride = m_OutputLayout.m_PixelStride;
                         microkernels.m_WindowTiles[vectors.m_End - vectors.m_Begin](tile, groups, count);
                     });
        first = last;
    }
}

size_t GemmBf16::FindWindows(size_t first, size_t last, const uint16_t* image, WindowsBf16* groups) const
{
    const auto width = static_cast<size_t>(m_Im2col.m_OutputWidth);
    const auto step = static_cast<size_t>(m_Im2col.m_StrideX * m_Im2col.m_Channels);
    const size_t rowStep = static_cast<size_t>(m_Im2col.m_StrideY) * m_Image.GetRowBytes() / sizeof(uint16_t);
    const size_t origin = m_Image.GetFirstColumn(first);
    const WindowsBf16* const begin = groups;
    for (size_t pixel = first; pixel < last; image += rowStep)
    {
        for (const size_t end = std::min(last, (pixel / width + 1) * width); pixel < end; ++groups)
        {
            groups->m_Data = image + (pixel % width - origin) * step;
            groups->m_Pixels = std::min(m_OutputLayout.GetRunEnd(pixel, end) - pixel, WindowsBf16::MaxPixels);
            groups->m_OutOffset = m_OutputLayout.GetOffset(pixel);
            pixel += groups->m_Pixels;
        }
    }
    return static_cast<size_t>(groups - begin);
}

GemmBf16::Rows GemmBf16::FindRows(const uint16_t* input, size_t first, size_t last, std::byte* scratch) const
{
    const size_t depth = m_Panels->GetSizes().m_Depth;
    if (m_InPlace)
    {
        return {input + first * m_Pitch, nullptr, first, last - first};
    }
    auto* strip = Scratch::At<uint16_t>(scratch, m_Im2colOffset);
    if (m_IndirectionTaps != 0)
    {
        auto* table = Scratch::At<const uint16_t*>(scratch, 0);
        m_IndirectsRows ? m_Order.FindRows(m_Im2col, input, first, last, m_Weights->GetZeros(), strip, table)
                        : m_Order.FindTaps(m_Im2col, input, first, last, m_Weights->GetZeros(), table);
        return {nullptr, table, first, last - first};
    }
    m_Im2col.CopyNumbers(reinterpret_cast<const int16_t*>(input), first, last, m_Pitch,
                         reinterpret_cast<int16_t*>(strip));
    if (m_Pitch != depth)
    {
        // Padding of the depth must be zeros: any other value times a weight of zero could be NaN.
        for (size_t r = 0; r < last - first; ++r)
        {
            std::fill(strip + r * m_Pitch + depth, strip + (r + 1) * m_Pitch, uint16_t{0});
        }
    }
    return {strip, nullptr, first, last - first};
}

TileBf16 GemmBf16::MakeTile(const IndexRange& vectors) const
{
    static constexpr float NoBias[MicrokernelsBf16::MaxVectors * MicrokernelsBf16::MaxLanes] = {};
    TileBf16 tile;
    tile.m_DataStride = m_Pitch;
    tile.m_Pairs = m_Panels->GetPairs();
    tile.m_HasHalfPair = m_InPlace && m_Panels->GetSizes().m_Depth % 2 != 0;
    tile.m_HasFewRows = m_Rows <= TileBf16::FewRows;
    tile.m_StepPairs = m_Panels->GetStepPairs();
    tile.m_TapPairs = m_IndirectionTaps != 0 ? tile.m_Pairs / m_IndirectionTaps : 0;
    tile.m_Bias =
        m_Weights != nullptr ? m_Weights->GetBias() + vectors.m_Begin * m_Panels->GetMicrokernels().m_Lanes : NoBias;
    tile.m_HasClamp = m_Clamp.IsActive();
    tile.m_Low = m_Clamp.GetLow();
    tile.m_High = m_Clamp.GetHigh();
    tile.m_Columns = m_Panels->CountColumns(vectors.m_Begin, vectors.m_End - vectors.m_Begin);
    return tile;
}

void GemmBf16::RunPanel(const IndexRange& vectors, const Rows& rows, const Operands& panel,
                        WeightPrefetcher& next) const
{
    const MicrokernelsBf16& microkernels = m_Panels->GetMicrokernels();
    const size_t width = vectors.m_End - vectors.m_Begin;
    const size_t maxRows = microkernels.m_Rows[width];
    TileBf16 tile = MakeTile(vectors);
    tile.m_Panel = panel.m_Packed;
    tile.m_TapStep = rows.m_Count;
    tile.m_Next = &next;
    const auto run = [&](const PixelRun& pixels, size_t row)
    {
        const size_t stride = pixels.m_Step * m_OutputLayout.m_PixelStride;
        const size_t offset = m_OutputLayout.GetOffset(pixels.m_First) + vectors.m_Begin * microkernels.m_Lanes;
        tile.m_Zeros = pixels.m_LacksTaps ? m_Weights->GetZeros() : nullptr;
        tile.m_OutStride = stride;
        const auto runTiles = [&](size_t begin, size_t height, size_t count)
        {
            tile.m_Rows = height;
            if (rows.m_Indirection != nullptr)
            {
                tile.m_Indirection = rows.m_Indirection + row + begin;
            }
            else
            {
                tile.m_Data = rows.m_Data + (row + begin) * m_Pitch;
            }
            tile.m_Out = panel.m_Out + offset + begin * stride;
            tile.m_Added = panel.m_Added != nullptr ? panel.m_Added + offset + begin * stride : nullptr;
            microkernels.m_Tiles[width][height](tile, count);
        };
        if (microkernels.m_RowUnit == 1)
        {
            ForEachHeight(pixels.m_Count, maxRows, runTiles);
            return;
        }
        const size_t whole = pixels.m_Count / maxRows;
        if (whole != 0)
        {
            runTiles(0, maxRows, whole);
        }
        if (const size_t rest = pixels.m_Count - whole * maxRows; rest != 0)
        {
            runTiles(whole * maxRows, rest, 1);
        }
    };
    m_Order.ForEachRun(rows.m_First, rows.m_First + rows.m_Count, run);
}

} // namespace tenon::cpu
