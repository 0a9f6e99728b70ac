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
constexpr size_t MostBlockRows = 480;
/// Bytes of a panel's slice, which each tile of a block reads: half of a second-level cache of 1 MiB.
constexpr size_t SliceBytes = 512 * 1024;
/// With fewer channels than this the loop over one tap is short. It then takes longer than im2col does, where the
/// columns exceed this multiple of the channels or the rows of taps are copied by moves of constant size.
constexpr size_t LeastTapDepth = 8;
constexpr size_t ManyColumns = 16;

/// Rows of the highest microkernel.
size_t FindTileRows(const PanelsF32& panels)
{
    size_t rows = DotsF32::Rows;
    if (!panels.Get().empty())
    {
        const PanelF32& first = panels.Get().front();
        panels.GetEngine().FindTiles(first.m_Vectors, first.m_Columns, rows);
    }
    return rows;
}

} // namespace

ProductF32::ProductF32(const PackedWeightsF32& weights, const Windows& windows, size_t rows,
                       const backends::FloatClamp& clamp, unsigned int maxThreads)
    : m_Panels(&weights.GetPanels()), m_Data(weights.GetData()), m_Plain(weights.GetPlain()),
      m_PlainType(weights.GetPlainType()), m_Zeros(weights.GetZeros()), m_Windows(windows), m_Rows(rows), m_Clamp(clamp)
{
    Plan(maxThreads);
}

ProductF32::ProductF32(const PanelsF32& panels, const Windows& windows, size_t rows, unsigned int maxThreads)
    : m_Panels(&panels), m_Windows(windows), m_Rows(rows)
{
    Plan(maxThreads);
}

void ProductF32::Plan(unsigned int maxThreads)
{
    const WeightSizes& sizes = m_Panels->GetSizes();
    const auto channels = static_cast<size_t>(m_Windows.m_GroupChannels);
    m_TapDepth = channels;
    const bool hasShortRows = m_Windows.HaveShortRows(sizeof(float));
    const bool hasRows = m_Windows.HaveWholeRows() && !hasShortRows;
    const TileCosts tiles = TileCosts::Find(FindTileRows(*m_Panels));
    const PixelOrder byPoints(m_Windows, tiles, true);
    if (!m_Windows.ArePixels() && hasRows && !byPoints.PrefersPoints(channels))
    {
        m_Reading = CanSlide() ? Reading::Sliding : Reading::Rows;
        m_TapDepth = channels * static_cast<size_t>(m_Windows.m_Width);
    }
    else if (!m_Windows.ArePixels() && channels < LeastTapDepth &&
             (m_Plain != nullptr || hasShortRows || sizes.m_Columns > ManyColumns * channels * sizes.m_Groups))
    {
        m_Reading = Reading::Strips;
        m_TapDepth = sizes.m_Depth;
    }
    m_Order = m_Reading == Reading::Points ? byPoints
              : m_Reading == Reading::Rows ? PixelOrder(m_Windows, tiles, false)
                                           : PixelOrder();
    m_Taps = m_TapDepth != 0 ? sizes.m_Depth / m_TapDepth : 0;
    m_TapDepth = m_Taps != 0 ? m_TapDepth : 0;
    m_Place.m_PixelStride = sizes.m_Columns;
    m_OutputBytes = m_Rows * sizes.m_Columns * sizeof(float);
    PlanBlocks(m_Rows);

    const double multiplications =
        static_cast<double>(m_Rows) * static_cast<double>(sizes.m_Columns) * static_cast<double>(sizes.m_Depth);
    m_Parts = std::min({GetMaxParts(maxThreads), GetWorthwhileParts(multiplications),
                        std::max(m_Rows, m_Plain != nullptr ? sizes.m_Columns : m_Panels->Get().size())});
    if (m_Plain != nullptr && m_Windows.ArePixels())
    {
        return;
    }
    Scratch part;
    if (m_Reading == Reading::Sliding)
    {
        const size_t pixels = m_Panels->GetEngine().m_SlidingRows + SlidingColumns - 1;
        part.Add<const float*>(m_Taps);
        m_StripOffset = part.Add<float>(m_Taps * pixels, static_cast<size_t>(m_Windows.m_Channels));
    }
    else
    {
        part.Add<const float*>(AreRows() ? 0 : m_BlockRows, m_Taps);
        m_StripOffset = part.Add<float>(m_Reading == Reading::Strips ? m_BlockRows
                                        : m_Reading == Reading::Rows ? m_Windows.GetMostCut(m_BlockRows)
                                                                     : 0,
                                        sizes.m_Depth);
        part.Add<std::byte>(m_Reading == Reading::Strips ? Windows::ShortRowBytes : 0); // slack for CopyBytes
    }
    m_PartBytes = part.GetBytes();
    Scratch scratch;
    scratch.AddParts(part, m_Parts);
    m_ScratchBytes = scratch.GetBytes();
}

void ProductF32::PlanBlocks(size_t rows)
{
    // Neighbouring windows share most of their pixels.
    const auto channels = static_cast<size_t>(m_Windows.m_GroupChannels);
    const size_t newBytes = std::max<size_t>(m_Reading == Reading::Strips ? m_TapDepth : channels, 1) * sizeof(float);
    m_BlockRows = std::min(std::clamp(BlockBytes / newBytes, EngineF32::MostRows, MostBlockRows), rows);
    if (m_Reading == Reading::Rows)
    {
        const size_t windowBytes = m_Panels->GetSizes().m_Depth * sizeof(float);
        m_BlockRows = m_Windows.LimitCut(m_BlockRows, EngineF32::MostRows, windowBytes, BlockBytes);
    }

    const EngineF32& engine = m_Panels->GetEngine();
    const size_t vectors = m_Panels->AreInPlace() ? engine.m_MostVectors : engine.m_Vectors;
    const size_t stepBytes = vectors * engine.m_Lanes * sizeof(float);
    const size_t mostSteps = std::min(SliceBytes / stepBytes, MaxSumDepth);
    const size_t slicesOfTap = std::max<size_t>(DivideUp(m_TapDepth, mostSteps), 1);
    m_SliceDepth = DivideUp(m_TapDepth, slicesOfTap);
    const size_t tapsInSlice = slicesOfTap == 1 ? std::max<size_t>(mostSteps / std::max<size_t>(m_TapDepth, 1), 1) : 1;
    m_SliceTaps = std::max<size_t>(DivideUp(m_Taps, std::max<size_t>(DivideUp(m_Taps, tapsInSlice), 1)), 1);
}

bool ProductF32::CanSlide() const
{
    const EngineF32& engine = m_Panels->GetEngine();
    const std::vector<PanelF32>& panels = m_Panels->Get();
    // Microkernels whose rows share half vectors are faster than sliding ones.
    return engine.m_SlidingRows != 0 && panels.size() == 1 && panels[0].m_Vectors == 1 &&
           static_cast<size_t>(m_Windows.m_Channels) <= engine.m_MostSlidingChannels &&
           2 * panels[0].m_Columns > engine.m_Lanes && m_Windows.m_Width == SlidingColumns && m_Windows.m_StrideX == 1;
}

} // namespace tenon::cpu
