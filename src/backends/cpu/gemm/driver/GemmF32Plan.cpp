// SPDX-License-Identifier: Apache-2.0
// GemmF32: sizes of the loops. Blocks of rows for the cache, slices of the depth, panels of columns, tiles for the
// registers.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
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
    m_Tasks = std::min({GetMaxTasks(maxThreads), GetWorthwhileTasks(multiplications),
                        std::max(m_Rows, m_Unpacked != nullptr ? sizes.m_Columns : m_Panels->Get().size())});
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
    scratch.AddPerTask(task, m_Tasks);
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

    const MicrokernelsF32& engine = m_Panels->GetMicrokernels();
    const size_t vectors = m_Panels->IsInPlace() ? engine.m_MaxVectors : engine.m_Vectors;
    const size_t stepBytes = vectors * engine.m_Lanes * sizeof(float);
    const size_t maxSteps = std::min(SliceBytes / stepBytes, MaxSumDepth);
    const size_t slicesOfTap = std::max<size_t>(DivideUp(m_TapDepth, maxSteps), 1);
    m_SliceDepth = DivideUp(m_TapDepth, slicesOfTap);
    const size_t tapsInSlice = slicesOfTap == 1 ? std::max<size_t>(maxSteps / std::max<size_t>(m_TapDepth, 1), 1) : 1;
    m_SliceTaps = std::max<size_t>(DivideUp(m_Taps, std::max<size_t>(DivideUp(m_Taps, tapsInSlice), 1)), 1);
}

bool GemmF32::CanSlide() const
{
    const MicrokernelsF32& engine = m_Panels->GetMicrokernels();
    const std::vector<PanelF32>& panels = m_Panels->Get();
    // Microkernels whose rows share half vectors are faster than sliding ones.
    return engine.m_SlidingRows != 0 && panels.size() == 1 && panels[0].m_Vectors == 1 &&
           static_cast<size_t>(m_Im2col.m_Channels) <= engine.m_MaxSlidingChannels &&
           2 * panels[0].m_Columns > engine.m_Lanes && m_Im2col.m_Width == SlidingColumns && m_Im2col.m_StrideX == 1;
}

} // namespace tenon::cpu
