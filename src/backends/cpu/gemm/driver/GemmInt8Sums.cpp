// SPDX-License-Identifier: Apache-2.0
// int8 GEMM whose sums are the output.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>

namespace tenon::cpu
{

void Product8::RunSums(const void* data, const int32_t* start, int32_t* sums, void* scratch,
                       IParallelFor& parallel) const
{
    RunAll({{static_cast<const uint8_t*>(data), nullptr}, sums, start}, scratch, parallel);
}

void Product8::WriteSums(const RequantizeRows& rows) const
{
    for (size_t row = 0; row < rows.m_Rows; ++row)
    {
        const int32_t term = rows.m_RowTerms != nullptr ? rows.m_RowTerms[row] : 0;
        std::transform(rows.m_Sums + row * rows.m_SumStride, rows.m_Sums + row * rows.m_SumStride + rows.m_Columns,
                       static_cast<int32_t*>(rows.m_Out) + row * rows.m_OutStride,
                       [term](int32_t sum) { return ref::WrappingAdd(sum, term); });
    }
}

void Product8::WriteStoredSums(const Memory& memory, const PanelRange& range, const Block& block, size_t first) const
{
    const std::vector<Panel8>& panels = m_Weights->GetPanels();
    const Panel8& begin = panels[range.m_FirstPanel];
    const Panel8& last = panels[range.m_LastPanel - 1];
    WriteStoredSums8(
        m_Weights->GetTiles(), m_Weights->GetStored(), begin.m_Column, last.m_Column + last.m_Columns - begin.m_Column,
        memory.m_Start + begin.m_Place, {block.m_Data, block.m_Stride, block.m_Rows},
        static_cast<int32_t*>(memory.m_Output) + m_Place.GetOffset(first) + begin.m_Column, m_Place.m_PixelStride);
}

} // namespace tenon::cpu
