// SPDX-License-Identifier: Apache-2.0
// Panels of an int8 GEMM for the rows of a block: by microkernels with a fused epilogue, or by accumulators in memory.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"

#include <algorithm>

namespace tenon::cpu
{

void GemmInt8::RunImplicitGemm(const Memory& memory, const PanelRange& range, std::byte* scratch) const
{
    const std::vector<PanelInt8>& panels = m_Weights->GetPanels();
    const OutputCacheLines lines = FindCacheLines(memory, range);
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        const size_t last = m_ImplicitGemm.GetBlockEnd(first, std::min(first + lines.GetBlockRows(), range.m_LastRow));
        lines.Prepare(FindRow(memory, first), last - first);
        m_ImplicitGemm.Make(memory.m_Data.m_Values, GetPadding(memory.m_Data, first), first, last, m_OutputLayout,
                            scratch);
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const PanelInt8& panel = panels[p];
            const size_t at = m_OutputLayout.GetOffset(first) + panel.m_Column;
            if (m_IsHybrid)
            {
                m_ImplicitGemm.WriteDequantized(panel, GetDequantization(panel),
                                                memory.m_Data.m_Batches[first / m_BatchRows], last - first,
                                                static_cast<float*>(memory.m_Output) + at, scratch);
            }
            else
            {
                m_ImplicitGemm.Write(panel, GetRequantization(panel), m_OutputIsSigned, last - first,
                                     static_cast<uint8_t*>(memory.m_Output) + at, scratch);
            }
        }
        first = last;
    }
}

void GemmInt8::RunPanel(const Memory& memory, const PanelInt8& panel, const Block& block, const RowValues& values,
                        size_t first) const
{
    alignas(64) static constexpr int32_t NoBias[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    const size_t sumStride = panel.m_Vectors * m_Weights->GetMicrokernels().m_Lanes;
    const PackedPanelInt8 packed = {&m_Weights->GetTiles(),
                                    panel.m_Vectors,
                                    sumStride,
                                    m_Weights->GetData(panel),
                                    m_Weights->GetGroups(),
                                    m_IsHybrid                  ? NoBias
                                    : memory.m_Start != nullptr ? memory.m_Start + panel.m_PaddedColumn
                                                                : m_Weights->GetBias(panel)};
    const auto writeRun = [&](const int32_t* sums, size_t row, size_t rows)
    {
        const int32_t* terms = values.m_RowCorrections != nullptr ? values.m_RowCorrections + row : nullptr;
        const size_t at = m_OutputLayout.GetOffset(first + row) + panel.m_Column;
        if (m_IsHybrid)
        {
            m_Weights->GetMicrokernels().m_Dequantize(
                {sums, sumStride, rows, panel.m_Columns, terms, values.m_ZeroPoints + row, values.m_Scales + row,
                 static_cast<float*>(memory.m_Output) + at, m_OutputLayout.m_PixelStride},
                GetDequantization(panel));
        }
        else if (memory.m_Start != nullptr)
        {
            WriteSums({sums, sumStride, rows, panel.m_Columns, terms, static_cast<int32_t*>(memory.m_Output) + at,
                       m_OutputLayout.m_PixelStride});
        }
        else
        {
            WriteBytes(panel,
                       {sums, sumStride, rows, panel.m_Columns, terms, static_cast<uint8_t*>(memory.m_Output) + at,
                        m_OutputLayout.m_PixelStride, m_OutputIsSigned});
        }
    };
    const auto write = [&](const int32_t* sums, size_t row, size_t rows)
    {
        for (const size_t last = row + rows; row < last;)
        {
            const size_t end = m_OutputLayout.GetRunEnd(first + row, first + last) - first;
            writeRun(sums, row, end - row);
            sums += (end - row) * sumStride;
            row = end;
        }
    };
    if (m_Weights->GetTiles().IsUnpacked())
    {
        MultiplyUnpackedPanelInt8(m_Weights->GetUnpacked(), panel, packed, {block.m_Data, block.m_Stride, block.m_Rows},
                                  write);
        return;
    }
    if (!RunFusedEpilogue(memory, panel, packed, block, values, first))
    {
        MultiplyPanelInt8(packed, {block.m_Data, block.m_Stride, block.m_SafeRows}, write);
    }
    MultiplyPanelInt8(packed, {block.m_Tail, m_Pitch, block.m_Rows - block.m_SafeRows},
                      [&](const int32_t* sums, size_t row, size_t rows) { write(sums, block.m_SafeRows + row, rows); });
}

bool GemmInt8::RunFusedEpilogue(const Memory& memory, const PanelInt8& panel, const PackedPanelInt8& packed,
                                const Block& block, const RowValues& values, size_t first) const
{
    const size_t count = block.m_SafeRows;
    if (m_OutputLayout.GetRunEnd(first, first + count) != first + count)
    {
        return false;
    }
    const size_t at = m_OutputLayout.GetOffset(first) + panel.m_Column;
    if (m_IsHybrid)
    {
        const DequantizedKernelInt8 write = m_Weights->GetTiles().m_DequantizedKernels[panel.m_Vectors];
        DequantizeRows rows;
        rows.m_Rows = count;
        rows.m_Columns = panel.m_Columns;
        rows.m_RowCorrections = values.m_RowCorrections;
        rows.m_ZeroPoints = values.m_ZeroPoints;
        rows.m_Scales = values.m_Scales;
        rows.m_Out = static_cast<float*>(memory.m_Output) + at;
        rows.m_OutStride = m_OutputLayout.m_PixelStride;
        rows.m_HasOneScale = values.m_HasOneScale;
        if (block.m_OutputOffsets != nullptr)
        {
            rows.m_OutputOffsets = block.m_OutputOffsets;
            FindSkipped(packed, block.m_Taps);
        }
        return write != nullptr && write({block.m_Data, block.m_Stride, block.m_Taps, packed.m_Weights,
                                          packed.m_Groups / block.m_Taps.m_Taps, packed.m_Bias, rows},
                                         GetDequantization(panel));
    }
    if (memory.m_Start != nullptr)
    {
        return false;
    }
    const RequantizeColumns columns = GetRequantization(panel);
    const auto prepare = m_Weights->GetMicrokernels().m_PrepareRequantization;
    if (prepare == nullptr || !columns.m_HasOnlyRightShifts)
    {
        return false;
    }
    const RequantizedKernelInt8 write =
        m_Weights->GetTiles()
            .m_RequantizedKernels[columns.IsNegativeUniform()][values.m_RowCorrections != nullptr][panel.m_Vectors];
    if (write == nullptr)
    {
        return false;
    }
    PreparedRequantizationInt8 prepared;
    prepare(columns, packed.m_Bias, panel.m_Columns, m_OutputIsSigned, prepared);
    uint8_t* const out = static_cast<uint8_t*>(memory.m_Output) + at;
    return write({block.m_Data, block.m_Stride, count, packed.m_Weights, packed.m_Groups, values.m_RowCorrections, out,
                  m_OutputLayout.m_PixelStride},
                 prepared);
}

RequantizeColumns GemmInt8::GetRequantization(const PanelInt8& panel) const
{
    RequantizeColumns columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    return columns;
}

void GemmInt8::WriteBytes(const PanelInt8& panel, const RequantizeRows& rows) const
{
    m_Weights->GetMicrokernels().m_Requantize(rows, GetRequantization(panel));
}

DequantizeColumns GemmInt8::GetDequantization(const PanelInt8& panel) const
{
    DequantizeColumns columns = m_Weights->GetDequantization(panel);
    columns.m_HasClamp = m_HasClamp;
    columns.m_Low = m_Low;
    columns.m_High = m_High;
    return columns;
}

} // namespace tenon::cpu
