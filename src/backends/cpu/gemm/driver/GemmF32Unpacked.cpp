// SPDX-License-Identifier: Apache-2.0
// GemmF32 without packed panels: dot products by weights [columns][depth], and panels read in place.
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>

namespace tenon::cpu
{

void GemmF32::RunUnpacked(const Operands& operands, IParallelFor& parallel) const
{
    const WeightSizes& sizes = m_Panels->GetSizes();
    const size_t tasks = std::min<size_t>(m_Partition.GetTasks(), parallel.GetNumThreads());
    constexpr size_t ColumnUnit = 16; // a cache line of the output
    const bool isSplitByRows = m_Rows / DotProductsF32::Rows > sizes.m_Columns / ColumnUnit;
    RunTasks(parallel, tasks,
             [&](size_t index)
             {
                 const IndexRange rows =
                     isSplitByRows ? GetTaskRange(m_Rows, tasks, index, DotProductsF32::Rows) : IndexRange{0, m_Rows};
                 const IndexRange columns = isSplitByRows ? IndexRange{0, sizes.m_Columns}
                                                          : GetTaskRange(sizes.m_Columns, tasks, index, ColumnUnit);
                 DotProductsF32 dots;
                 dots.m_Data = operands.m_Input + rows.m_Begin * sizes.m_Depth;
                 dots.m_Columns = columns.m_End - columns.m_Begin;
                 dots.m_Out = operands.m_Out + rows.m_Begin * m_OutputLayout.m_PixelStride + columns.m_Begin;
                 dots.m_OutStride = m_OutputLayout.m_PixelStride;
                 dots.m_Rows = rows.m_End - rows.m_Begin;
                 RunDotProducts(dots, operands, columns.m_Begin);
             });
}

void GemmF32::RunUnpackedBlock(const Operands& operands, const PanelRange& block, std::byte* scratch) const
{
    const BlockRows rows = FindRows(operands.m_Input, block.m_FirstRow, block.m_LastRow, scratch);
    DotProductsF32 dots;
    dots.m_Columns = m_Panels->GetSizes().m_Columns;
    m_Order.ForEachRun(block.m_FirstRow, block.m_LastRow,
                       [&](const PixelRun& run, size_t row)
                       {
                           if (rows.m_Indirection != nullptr)
                           {
                               dots.m_Indirection = rows.m_Indirection + row;
                               dots.m_Taps = m_Taps;
                               dots.m_TapStep = block.m_LastRow - block.m_FirstRow;
                               dots.m_Zeros = run.m_LacksTaps ? m_Zeros : nullptr;
                           }
                           else
                           {
                               dots.m_Data = rows.m_First + row * rows.m_Stride;
                           }
                           dots.m_Rows = run.m_Count;
                           dots.m_Out = operands.m_Out + m_OutputLayout.GetOffset(run.m_First);
                           dots.m_OutStride = run.m_Step * m_OutputLayout.m_PixelStride;
                           RunDotProducts(dots, operands, 0);
                       });
}

/// Computes the columns from `firstColumn` on; data and output are set.
void GemmF32::RunDotProducts(DotProductsF32& dots, const Operands& operands, size_t firstColumn) const
{
    dots.m_Depth = m_Panels->GetSizes().m_Depth;
    dots.m_Weights =
        static_cast<const std::byte*>(m_Unpacked) + firstColumn * dots.m_Depth * GetDataTypeSize(m_UnpackedType);
    dots.m_WeightType = m_UnpackedType;
    dots.m_Bias = operands.m_Bias != nullptr ? operands.m_Bias + firstColumn : nullptr;
    RunDotProductsF32(dots);
    if (dots.m_OutStride == dots.m_Columns)
    {
        m_Clamp.Run(dots.m_Out, dots.m_Rows * dots.m_Columns);
        return;
    }
    for (size_t r = 0; r < dots.m_Rows; ++r)
    {
        m_Clamp.Run(dots.m_Out + r * dots.m_OutStride, dots.m_Columns);
    }
}

/// Whether a range is one block and one slice of a product of two matrices. RunInPlace then skips the bookkeeping of
/// RunRange, which costs as much as a tile of a small product.
bool GemmF32::IsOneBlock(const PanelRange& range) const
{
    const bool isOneSlice = m_SliceTaps == m_Taps && m_SliceDepth == m_TapDepth;
    return m_Panels->IsInPlace() && m_Im2col.IsPointwise() && isOneSlice && m_OutputLayout.m_Width == 0 &&
           range.m_LastRow - range.m_FirstRow <= m_BlockRows && OutputCacheLines::IsInCache(m_OutputBytes);
}

/// Precondition: IsOneBlock(range).
void GemmF32::RunInPlace(const Operands& operands, const PanelRange& range) const
{
    const MicrokernelsF32& microkernels = m_Panels->GetMicrokernels();
    const size_t rows = range.m_LastRow - range.m_FirstRow;
    const auto dataStride = static_cast<size_t>(m_Im2col.m_Channels);
    const size_t outStride = m_OutputLayout.m_PixelStride;
    WeightPrefetcher next(nullptr, 0);
    TileF32 tile;
    tile.m_Next = &next;
    tile.m_HasFewRows = m_Rows <= TileF32::FewRows;
    tile.m_Depth = m_TapDepth;
    tile.m_DataStride = dataStride;
    tile.m_PanelStride = m_Panels->GetSizes().m_InPlaceStride;
    tile.m_Accumulates = m_Accumulates;
    tile.m_HasClamp = m_Clamp.IsActive();
    tile.m_Low = m_Clamp.GetLow();
    tile.m_High = m_Clamp.GetHigh();
    tile.m_OutStride = outStride;
    const size_t first = m_OutputLayout.GetOffset(range.m_FirstRow);
    for (size_t index = range.m_FirstPanel; index < range.m_LastPanel; ++index)
    {
        const PanelF32& panel = m_Panels->Get()[index];
        tile.m_Panel = operands.m_Packed + (panel.m_Offset - operands.m_FirstOffset);
        tile.m_Columns = panel.m_Columns;
        tile.m_Bias = operands.m_Bias != nullptr ? operands.m_Bias + panel.m_Column : nullptr;
        next = WeightPrefetcher(tile.m_Panel, 0);
        ForEachHeight(rows, microkernels.m_Rows[panel.m_Vectors],
                      [&](size_t begin, size_t height, size_t count)
                      {
                          const size_t offset = first + panel.m_Column + begin * outStride;
                          tile.m_Data = operands.m_Input + (range.m_FirstRow + begin) * dataStride;
                          tile.m_Out = operands.m_Out + offset;
                          tile.m_Added = operands.m_Added != nullptr ? operands.m_Added + offset : nullptr;
                          microkernels.m_InPlaceTiles[panel.m_Vectors][height](tile, count);
                      });
    }
}

} // namespace tenon::cpu
