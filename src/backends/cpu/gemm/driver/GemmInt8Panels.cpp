// SPDX-License-Identifier: Apache-2.0
// Panels of an int8 GEMM for the rows of a block: by microkernels with a fused epilogue, or by accumulators in memory.
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/driver/MultiplyPanelInt8.hpp"

#include <algorithm>

namespace tenon::cpu
{

void Product8::RunImage(const Memory& memory, const PanelRange& range, std::byte* scratch) const
{
    const std::vector<Panel8>& panels = m_Weights->GetPanels();
    const OutputLines lines = FindLines(memory, range);
    for (size_t first = range.m_FirstRow; first < range.m_LastRow;)
    {
        const size_t last = m_Image.GetBlockEnd(first, std::min(first + lines.GetBlockRows(), range.m_LastRow));
        lines.Prepare(FindRow(memory, first), last - first);
        m_Image.Make(memory.m_Data.m_Values, GetPadding(memory.m_Data, first), first, last, m_Place, scratch);
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const Panel8& panel = panels[p];
            const size_t at = m_Place.GetOffset(first) + panel.m_Column;
            if (m_IsHybrid)
            {
                m_Image.WriteFloats(panel, GetFloatColumns(panel), memory.m_Data.m_Batches[first / m_BatchRows],
                                    last - first, static_cast<float*>(memory.m_Output) + at, scratch);
            }
            else
            {
                m_Image.Write(panel, GetRequantization(panel), m_OutputIsSigned, last - first,
                              static_cast<uint8_t*>(memory.m_Output) + at, scratch);
            }
        }
        first = last;
    }
}

void Product8::RunPanel(const Memory& memory, const Panel8& panel, const Block& block, const RowValues& values,
                        size_t first) const
{
    alignas(64) static constexpr int32_t NoBias[TileSet8::MostVectors * Engine8::MostLanes] = {};
    const size_t sumStride = panel.m_Vectors * m_Weights->GetEngine().m_Lanes;
    const PackedPanel8 packed = {&m_Weights->GetTiles(),
                                 panel.m_Vectors,
                                 sumStride,
                                 m_Weights->GetData(panel),
                                 m_Weights->GetGroups(),
                                 m_IsHybrid                  ? NoBias
                                 : memory.m_Start != nullptr ? memory.m_Start + panel.m_Place
                                                             : m_Weights->GetBias(panel)};
    const auto writeRun = [&](const int32_t* sums, size_t row, size_t rows)
    {
        const int32_t* terms = values.m_Terms != nullptr ? values.m_Terms + row : nullptr;
        const size_t at = m_Place.GetOffset(first + row) + panel.m_Column;
        if (m_IsHybrid)
        {
            m_Weights->GetEngine().m_ToFloats({sums, sumStride, rows, panel.m_Columns, terms, values.m_ZeroPoints + row,
                                               values.m_Scales + row, static_cast<float*>(memory.m_Output) + at,
                                               m_Place.m_PixelStride},
                                              GetFloatColumns(panel));
        }
        else if (memory.m_Start != nullptr)
        {
            WriteSums({sums, sumStride, rows, panel.m_Columns, terms, static_cast<int32_t*>(memory.m_Output) + at,
                       m_Place.m_PixelStride});
        }
        else
        {
            WriteBytes(panel, {sums, sumStride, rows, panel.m_Columns, terms,
                               static_cast<uint8_t*>(memory.m_Output) + at, m_Place.m_PixelStride, m_OutputIsSigned});
        }
    };
    const auto write = [&](const int32_t* sums, size_t row, size_t rows)
    {
        for (const size_t last = row + rows; row < last;)
        {
            const size_t end = m_Place.GetRunEnd(first + row, first + last) - first;
            writeRun(sums, row, end - row);
            sums += (end - row) * sumStride;
            row = end;
        }
    };
    if (m_Weights->GetTiles().AreStored())
    {
        SumStored8(m_Weights->GetStored(), panel, packed, {block.m_Data, block.m_Stride, block.m_Rows}, write);
        return;
    }
    if (!WriteAtOnce(memory, panel, packed, block, values, first))
    {
        SumPanel8(packed, {block.m_Data, block.m_Stride, block.m_SafeRows}, write);
    }
    SumPanel8(packed, {block.m_Tail, m_Pitch, block.m_Rows - block.m_SafeRows},
              [&](const int32_t* sums, size_t row, size_t rows) { write(sums, block.m_SafeRows + row, rows); });
}

bool Product8::WriteAtOnce(const Memory& memory, const Panel8& panel, const PackedPanel8& packed, const Block& block,
                           const RowValues& values, size_t first) const
{
    const size_t count = block.m_SafeRows;
    if (m_Place.GetRunEnd(first, first + count) != first + count)
    {
        return false;
    }
    const size_t at = m_Place.GetOffset(first) + panel.m_Column;
    if (m_IsHybrid)
    {
        const FloatRowsFunction8 write = m_Weights->GetTiles().m_WriteFloats[panel.m_Vectors];
        FloatRows rows;
        rows.m_Rows = count;
        rows.m_Columns = panel.m_Columns;
        rows.m_RowTerms = values.m_Terms;
        rows.m_ZeroPoints = values.m_ZeroPoints;
        rows.m_Scales = values.m_Scales;
        rows.m_Out = static_cast<float*>(memory.m_Output) + at;
        rows.m_OutStride = m_Place.m_PixelStride;
        rows.m_HaveOneScale = values.m_HaveOneScale;
        if (block.m_Places != nullptr)
        {
            rows.m_Places = block.m_Places;
            FindSkipped(packed, block.m_Points);
        }
        return write != nullptr && write({block.m_Data, block.m_Stride, block.m_Points, packed.m_Weights,
                                          packed.m_Groups / block.m_Points.m_Points, packed.m_Bias, rows},
                                         GetFloatColumns(panel));
    }
    if (memory.m_Start != nullptr)
    {
        return false;
    }
    const RequantizeColumns columns = GetRequantization(panel);
    const auto prepare = m_Weights->GetEngine().m_PrepareColumns;
    if (prepare == nullptr || !columns.m_AllShift)
    {
        return false;
    }
    const ByteRowsFunction8 write =
        m_Weights->GetTiles().m_WriteRows[columns.AreNegativesAlike()][values.m_Terms != nullptr][panel.m_Vectors];
    if (write == nullptr)
    {
        return false;
    }
    ByteColumns8 prepared;
    prepare(columns, packed.m_Bias, panel.m_Columns, m_OutputIsSigned, prepared);
    uint8_t* const out = static_cast<uint8_t*>(memory.m_Output) + at;
    return write({block.m_Data, block.m_Stride, count, packed.m_Weights, packed.m_Groups, values.m_Terms, out,
                  m_Place.m_PixelStride},
                 prepared);
}

RequantizeColumns Product8::GetRequantization(const Panel8& panel) const
{
    RequantizeColumns columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    return columns;
}

void Product8::WriteBytes(const Panel8& panel, const RequantizeRows& rows) const
{
    m_Weights->GetEngine().m_Requantize(rows, GetRequantization(panel));
}

FloatColumns Product8::GetFloatColumns(const Panel8& panel) const
{
    FloatColumns columns = m_Weights->GetFloatColumns(panel);
    columns.m_HasClamp = m_HasClamp;
    columns.m_Low = m_Low;
    columns.m_High = m_High;
    return columns;
}

} // namespace tenon::cpu
