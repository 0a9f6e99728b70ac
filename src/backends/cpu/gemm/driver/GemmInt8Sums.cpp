// SPDX-License-Identifier: Apache-2.0
// int8 GEMM whose sums are the output.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>

namespace tenon::cpu
{

void GemmInt8::RunSums(const void* data, const int32_t* start, int32_t* sums, void* scratch,
                       IParallelFor& parallel) const
{
    RunAll({{static_cast<const uint8_t*>(data), nullptr}, sums, start}, scratch, parallel);
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
