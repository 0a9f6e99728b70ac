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

IndirectionBufferInt8 GemmInt8::FindTaps(const GemmDataInt8& data, size_t first, size_t last, std::byte* scratch) const
{
    const size_t rows = last - first;
    if (!m_UsesIndirection || rows < m_Weights->GetTiles().m_MinIndirectRows ||
        m_OutputLayout.GetRunEnd(first, last) != last)
    {
        return {};
    }
    auto* const padding = Scratch::At<uint8_t>(scratch, m_PaddingOffset);
    std::memset(padding, GetPadding(data, first), m_InputPitch);
    auto* const table = Scratch::At<const uint8_t*>(scratch, m_TableOffset);
    IndirectionBufferInt8 taps = {table, GetNumTaps(), rows, 0, nullptr, nullptr};
    if (!m_Order.IsReordered() || rows != m_BatchRows)
    {
        m_Im2col.Find<uint8_t>(data.m_Values, first, last, padding, table);
        return taps;
    }
    m_Order.FindTaps<uint8_t>(m_Im2col, data.m_Values, first, last, padding, table);
    auto* const places = Scratch::At<size_t>(scratch, m_OutputOffsetsOffset);
    const size_t begin = m_OutputLayout.GetOffset(first);
    m_Order.ForEachRun(first, last,
                       [&](const PixelRun& run, size_t before)
                       {
                           for (size_t i = 0; i < run.m_Count; ++i)
                           {
                               places[before + i] = m_OutputLayout.GetOffset(run.m_First + i * run.m_Step) - begin;
                           }
                       });
    taps.m_Padding = padding;
    taps.m_Skipped = Scratch::At<int32_t>(scratch, m_SkippedOffset);
    return taps;
}

void GemmInt8::FindSkipped(const PackedPanelInt8& packed, const IndirectionBufferInt8& taps) const
{
    alignas(64) static constexpr int32_t Zeros[MicrokernelSetInt8::MaxVectors * MicrokernelsInt8::MaxLanes] = {};
    const size_t groups = packed.m_Groups / taps.m_Taps;
    const auto* weights = static_cast<const std::byte*>(packed.m_Weights);
    for (size_t tap = 0; tap < taps.m_Taps; ++tap)
    {
        packed.m_Tiles->m_Tiles[packed.m_Vectors][1](taps.m_Padding + taps.m_Offset, 0, weights, groups, Zeros,
                                                     taps.m_Skipped + tap * packed.m_Width);
        weights += groups * packed.m_Width * packed.m_Tiles->GetGroupBytes();
    }
}

void GemmInt8::MakeComplementImage(const GemmDataInt8& data, size_t first, size_t last, std::byte* scratch) const
{
    m_ComplementImage.Make(m_Weights->GetMicrokernels(), data.m_Values, first, last, GetPadding(data, first),
                           Scratch::At<uint8_t>(scratch, m_ComplementImageOffset));
}

GemmInt8::Block GemmInt8::MakeBlock(const GemmDataInt8& data, const IndirectionBufferInt8& taps, size_t matrix,
                                    size_t first, size_t last, std::byte* scratch) const
{
    const size_t channel = matrix * static_cast<size_t>(m_Im2col.m_GroupChannels);
    const uint8_t* const values = data.m_Values + channel;
    if (taps.m_Table != nullptr)
    {
        Block block;
        block.m_Data = values;
        block.m_Rows = block.m_SafeRows = last - first;
        block.m_Taps = taps;
        block.m_Taps.m_Offset = channel;
        block.m_OutputOffsets =
            taps.m_Padding != nullptr ? Scratch::At<const size_t>(scratch, m_OutputOffsetsOffset) : nullptr;
        return block;
    }
    return m_IsInPlace ? UseInPlace(values, data.m_Values + m_InputBytes, first, last, scratch)
                       : LayOut(data, values, first, last, scratch);
}

GemmInt8::RowValues GemmInt8::FindRowValues(const GemmDataInt8& data, const Block& block, size_t first,
                                            std::byte* scratch) const
{
    RowValues values;
    if (m_Weights->GetRowSumFactor() != 0)
    {
        auto* terms = Scratch::At<int32_t>(scratch, 0);
        m_Weights->GetMicrokernels().m_SumRows(block.m_Data, block.m_Stride, block.m_Rows, m_Weights->GetDepth(),
                                               m_Weights->IsDataSigned() != m_Weights->GetTiles().m_IsPackedDataBiased,
                                               m_Weights->GetRowSumFactor(), terms);
        values.m_RowCorrections = terms;
    }
    if (m_IsHybrid)
    {
        values.m_ZeroPoints = Scratch::At<int32_t>(scratch, m_ZeroPointsOffset);
        values.m_Scales = Scratch::At<float>(scratch, m_RowScalesOffset);
        for (size_t row = 0; row < block.m_Rows;)
        {
            const size_t batch = (first + row) / m_BatchRows;
            const size_t count = std::min(block.m_Rows - row, (batch + 1) * m_BatchRows - first - row);
            const ScaleAndZeroPoint& scale = data.m_Batches[batch];
            std::fill_n(values.m_ZeroPoints + row, count, scale.m_ZeroPoint + m_Weights->GetDataBias());
            std::fill_n(values.m_Scales + row, count, scale.m_Scale);
            row += count;
            values.m_HasOneScale = count == block.m_Rows;
        }
    }
    return values;
}

/// `end`: end of the data.
GemmInt8::Block GemmInt8::UseInPlace(const uint8_t* values, const uint8_t* end, size_t first, size_t last,
                                     std::byte* scratch) const
{
    const MicrokernelSetInt8& tiles = m_Weights->GetTiles();
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
    if (!tiles.IsUnpacked() && (wholeRows - 1) * m_InputPitch + m_Pitch > left)
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

GemmInt8::Block GemmInt8::LayOut(const GemmDataInt8& data, const uint8_t* values, size_t first, size_t last,
                                 std::byte* scratch) const
{
    Block block;
    block.m_Rows = block.m_SafeRows = last - first;
    if (m_ComplementImage.IsUsed())
    {
        auto* const rows = Scratch::At<uint8_t>(scratch, m_DoubledOffset);
        block.m_Stride = m_Pitch * sizeof(int16_t);
        block.m_Data = rows;
        m_ComplementImage.Copy(Scratch::At<const uint8_t>(scratch, m_ComplementImageOffset),
                               static_cast<size_t>(values - data.m_Values), first, last, block.m_Stride, rows);
        return block;
    }
    const int32_t zeroPoint = m_Weights->GetDataZeroPoint();
    auto* strip = Scratch::At<uint8_t>(scratch, m_StripOffset);
    for (size_t row = first; m_CopiesStrips && row < last;)
    {
        // Hybrid data have a zero point for each batch.
        const size_t end = m_IsHybrid ? std::min(last, (row / m_BatchRows + 1) * m_BatchRows) : last;
        m_Im2col.CopyBytes(values, row, end, GetPadding(data, row), m_Pitch, strip + (row - first) * m_Pitch);
        row = end;
    }
    block.m_Stride = m_Pitch;
    block.m_Data = strip;
    const uint8_t* const stored = m_CopiesStrips ? strip : values + first * m_Pitch;
    if (m_Weights->GetTiles().m_IsPackedDataBiased)
    {
        m_Weights->GetMicrokernels().m_SignXor(stored, (last - first) * m_Pitch, strip);
    }
    if (m_Weights->GetTiles().IsDataDoubled())
    {
        auto* const doubled = Scratch::At<int16_t>(scratch, m_DoubledOffset);
        const MicrokernelsInt8& microkernels = m_Weights->GetMicrokernels();
        const size_t count = (last - first) * m_Pitch;
        m_Weights->GetTiles().IsDataInt16()
            ? microkernels.m_Widen(stored, count, m_Weights->IsDataSigned(), zeroPoint, doubled)
            : microkernels.m_MakeComplementBlocks(stored, count, reinterpret_cast<uint8_t*>(doubled));
        block.m_Stride = m_Pitch * sizeof(int16_t);
        block.m_Data = reinterpret_cast<const uint8_t*>(doubled);
    }
    return block;
}

} // namespace tenon::cpu
