// SPDX-License-Identifier: Apache-2.0
// Rows of data of an int8 GEMM for the microkernels: in place, by an indirection buffer, or copied to the scratch
// memory.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

using backends::Scratch;

size_t Product8::GetBlockEnd(size_t first, size_t last) const
{
    if (m_WindowImage.IsUsed())
    {
        return m_WindowImage.GetBlockEnd(first, std::min(first + m_BlockRows, last));
    }
    if (!m_FindsPoints)
    {
        return std::min(first + m_BlockRows, last);
    }
    // All rows of an indirection buffer share the padding pixel.
    const size_t end = std::min(last, (first / m_BatchRows + 1) * m_BatchRows);
    return std::min(first + (m_Place.m_Width == 0 ? m_BlockRows : m_StripRows), end);
}

OutputLines Product8::FindLines(const Memory& memory, const PanelRange& range) const
{
    const size_t columns = m_Weights->GetColumns();
    const size_t rowBytes = columns * GetElementBytes();
    const size_t blockRows = ReadsImage() ? m_Image.GetBlockPixels() : m_BlockRows;
    const bool areWhole =
        m_Place.m_PixelStride == columns && m_Place.m_Width == 0 && range.HasPanels(m_Weights->GetPanels().size());
    return {m_Rows * rowBytes, rowBytes, blockRows, areWhole && memory.m_Start == nullptr};
}

uint8_t Product8::GetPadding(const ByteData8& data, size_t row) const
{
    const int32_t zeroPoint =
        m_IsHybrid ? data.m_Batches[row / m_BatchRows].m_ZeroPoint : m_Weights->GetDataZeroPoint();
    const bool isFlipped = ReadsImage() || m_Weights->GetTiles().m_FlipsFloats;
    return static_cast<uint8_t>(zeroPoint ^ (isFlipped ? 0x80 : 0));
}

PointTable8 Product8::FindPoints(const ByteData8& data, size_t first, size_t last, std::byte* scratch) const
{
    const size_t rows = last - first;
    if (!m_FindsPoints || rows < m_Weights->GetTiles().m_LeastTableRows || m_Place.GetRunEnd(first, last) != last)
    {
        return {};
    }
    auto* const padding = Scratch::At<uint8_t>(scratch, m_PaddingOffset);
    std::memset(padding, GetPadding(data, first), m_InputPitch);
    auto* const table = Scratch::At<const uint8_t*>(scratch, m_TableOffset);
    PointTable8 points = {table, GetPoints(), rows, 0, nullptr, nullptr};
    if (!m_Order.IsOther() || rows != m_BatchRows)
    {
        m_Windows.Find<uint8_t>(data.m_Values, first, last, padding, table);
        return points;
    }
    m_Order.FindPoints<uint8_t>(m_Windows, data.m_Values, first, last, padding, table);
    auto* const places = Scratch::At<size_t>(scratch, m_PlacesOffset);
    const size_t begin = m_Place.GetOffset(first);
    m_Order.ForEachRun(first, last,
                       [&](const PixelRun& run, size_t before)
                       {
                           for (size_t i = 0; i < run.m_Count; ++i)
                           {
                               places[before + i] = m_Place.GetOffset(run.m_First + i * run.m_Step) - begin;
                           }
                       });
    points.m_Padding = padding;
    points.m_Skipped = Scratch::At<int32_t>(scratch, m_SkippedOffset);
    return points;
}

void Product8::FindSkipped(const PackedPanel8& packed, const PointTable8& points) const
{
    alignas(64) static constexpr int32_t Zeros[TileSet8::MostVectors * Engine8::MostLanes] = {};
    const size_t groups = packed.m_Groups / points.m_Points;
    const auto* weights = static_cast<const std::byte*>(packed.m_Weights);
    for (size_t point = 0; point < points.m_Points; ++point)
    {
        packed.m_Tiles->m_Tiles[packed.m_Vectors][1](points.m_Padding + points.m_Offset, 0, weights, groups, Zeros,
                                                     points.m_Skipped + point * packed.m_Width);
        weights += groups * packed.m_Width * packed.m_Tiles->GetGroupBytes();
    }
}

void Product8::MakeImage(const ByteData8& data, size_t first, size_t last, std::byte* scratch) const
{
    m_WindowImage.Make(m_Weights->GetEngine(), data.m_Values, first, last, GetPadding(data, first),
                       Scratch::At<uint8_t>(scratch, m_ImageOffset));
}

Product8::Block Product8::MakeBlock(const ByteData8& data, const PointTable8& points, size_t matrix, size_t first,
                                    size_t last, std::byte* scratch) const
{
    const size_t channel = matrix * static_cast<size_t>(m_Windows.m_GroupChannels);
    const uint8_t* const values = data.m_Values + channel;
    if (points.m_Table != nullptr)
    {
        Block block;
        block.m_Data = values;
        block.m_Rows = block.m_SafeRows = last - first;
        block.m_Points = points;
        block.m_Points.m_Offset = channel;
        block.m_Places = points.m_Padding != nullptr ? Scratch::At<const size_t>(scratch, m_PlacesOffset) : nullptr;
        return block;
    }
    return m_InPlace ? UseInPlace(values, data.m_Values + m_InputBytes, first, last, scratch)
                     : LayOut(data, values, first, last, scratch);
}

Product8::RowValues Product8::FindRowValues(const ByteData8& data, const Block& block, size_t first,
                                            std::byte* scratch) const
{
    RowValues values;
    if (m_Weights->GetRowFactor() != 0)
    {
        auto* terms = Scratch::At<int32_t>(scratch, 0);
        m_Weights->GetEngine().m_SumRows(block.m_Data, block.m_Stride, block.m_Rows, m_Weights->GetDepth(),
                                         m_Weights->IsDataSigned() != m_Weights->GetTiles().m_FlipsRows,
                                         m_Weights->GetRowFactor(), terms);
        values.m_Terms = terms;
    }
    if (m_IsHybrid)
    {
        values.m_ZeroPoints = Scratch::At<int32_t>(scratch, m_ZeroPointsOffset);
        values.m_Scales = Scratch::At<float>(scratch, m_RowScalesOffset);
        for (size_t row = 0; row < block.m_Rows;)
        {
            const size_t batch = (first + row) / m_BatchRows;
            const size_t count = std::min(block.m_Rows - row, (batch + 1) * m_BatchRows - first - row);
            const FloatScale& scale = data.m_Batches[batch];
            std::fill_n(values.m_ZeroPoints + row, count, scale.m_ZeroPoint + m_Weights->GetDataShift());
            std::fill_n(values.m_Scales + row, count, scale.m_Scale);
            row += count;
            values.m_HaveOneScale = count == block.m_Rows;
        }
    }
    return values;
}

/// `end`: end of the data.
Product8::Block Product8::UseInPlace(const uint8_t* values, const uint8_t* end, size_t first, size_t last,
                                     std::byte* scratch) const
{
    const TileSet8& tiles = m_Weights->GetTiles();
    const size_t depth = m_Weights->GetDepth();
    Block block;
    block.m_Stride = m_InputPitch;
    block.m_Rows = block.m_SafeRows = last - first;
    block.m_Data = values + first * m_InputPitch;
    // Microkernels with row units read past the last row, and past the depth. Rows for which these bytes are not the
    // input's are copied.
    const size_t unit = tiles.m_RowUnit;
    const size_t wholeRows = DivideUp(block.m_Rows, unit) * unit;
    const auto left = static_cast<size_t>(end - block.m_Data);
    if (!tiles.AreStored() && (wholeRows - 1) * m_InputPitch + m_Pitch > left)
    {
        const size_t tileRows = tiles.m_Rows[tiles.m_Vectors];
        const size_t safe = left >= m_Pitch ? (left - m_Pitch) / m_InputPitch + 1 : 0;
        block.m_SafeRows = std::min(block.m_Rows, safe / tileRows * tileRows);
        auto* tail = Scratch::At<uint8_t>(scratch, m_StripOffset);
        for (size_t row = block.m_SafeRows; row < block.m_Rows; ++row)
        {
            std::memcpy(tail + (row - block.m_SafeRows) * m_Pitch, block.m_Data + row * m_InputPitch, depth);
        }
        block.m_Tail = tail;
    }
    return block;
}

Product8::Block Product8::LayOut(const ByteData8& data, const uint8_t* values, size_t first, size_t last,
                                 std::byte* scratch) const
{
    Block block;
    block.m_Rows = block.m_SafeRows = last - first;
    if (m_WindowImage.IsUsed())
    {
        auto* const rows = Scratch::At<uint8_t>(scratch, m_DoubledOffset);
        block.m_Stride = m_Pitch * sizeof(int16_t);
        block.m_Data = rows;
        m_WindowImage.Copy(Scratch::At<const uint8_t>(scratch, m_ImageOffset),
                           static_cast<size_t>(values - data.m_Values), first, last, block.m_Stride, rows);
        return block;
    }
    const int32_t zeroPoint = m_Weights->GetDataZeroPoint();
    auto* strip = Scratch::At<uint8_t>(scratch, m_StripOffset);
    for (size_t row = first; m_CopiesStrips && row < last;)
    {
        // Hybrid data have a zero point for each batch.
        const size_t end = m_IsHybrid ? std::min(last, (row / m_BatchRows + 1) * m_BatchRows) : last;
        m_Windows.CopyBytes(values, row, end, GetPadding(data, row), m_Pitch, strip + (row - first) * m_Pitch);
        row = end;
    }
    block.m_Stride = m_Pitch;
    block.m_Data = strip;
    const uint8_t* const stored = m_CopiesStrips ? strip : values + first * m_Pitch;
    if (m_Weights->GetTiles().m_FlipsRows)
    {
        m_Weights->GetEngine().m_Flip(stored, (last - first) * m_Pitch, strip);
    }
    if (m_Weights->GetTiles().AreDoubled())
    {
        auto* const doubled = Scratch::At<int16_t>(scratch, m_DoubledOffset);
        const Engine8& engine = m_Weights->GetEngine();
        const size_t count = (last - first) * m_Pitch;
        m_Weights->GetTiles().IsWide() ? engine.m_Widen(stored, count, m_Weights->IsDataSigned(), zeroPoint, doubled)
                                       : engine.m_MakeWindows(stored, count, reinterpret_cast<uint8_t*>(doubled));
        block.m_Stride = m_Pitch * sizeof(int16_t);
        block.m_Data = reinterpret_cast<const uint8_t*>(doubled);
    }
    return block;
}

} // namespace tenon::cpu
