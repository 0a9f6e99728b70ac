// SPDX-License-Identifier: Apache-2.0
// How a product of bytes is cut: blocks of rows for the cache, panels of columns, tiles for the registers.
#include "backends/cpu/gemm/Product8.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

/// Bytes of data that a block may have: an eighth of a second-level cache of 1 MiB, as the panels pass through it too.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MostBlockRows = 512;

} // namespace

Product8::Product8(const PackedWeights8& weights, const Windows& windows, size_t rows, const ReshapeArgs& args)
    : m_Weights(&weights), m_Windows(windows), m_Rows(rows)
{
    const TensorInfo& output = args.GetOutput(0);
    const backends::QuantizedRange range = backends::GetFusedRange(output, args.m_FusedActivation);
    m_OutputIsSigned = output.GetDataType() != DataType::QAsymmU8;
    m_Min = range.m_Min;
    m_Max = range.m_Max;

    const bool isWide = weights.GetEngine().m_Layout == Layout8::WidePairs;
    const size_t depth = weights.GetDepth();
    m_InPlace = !isWide && depth % 4 == 0 && windows.ArePixels();
    m_InputBytes = rows * depth;
    const size_t tileRows = weights.GetEngine().m_Rows[weights.GetEngine().m_Vectors];
    m_Pitch = weights.GetGroups() * (isWide ? 2 : 4); // as many stored values as there are weights
    const size_t rowBytes = weights.GetGroups() * 4;
    m_BlockRows = std::clamp<size_t>(BlockBytes / rowBytes, tileRows, MostBlockRows) / tileRows * tileRows;
    m_BlockRows =
        std::min(m_BlockRows, (rows + tileRows - 1) / tileRows * tileRows); // whole tiles: some read whole ones

    const double multiplications =
        static_cast<double>(rows) * static_cast<double>(weights.GetColumns()) * static_cast<double>(depth);
    constexpr double FasterThanFloats = 4; // parts are made for so many float multiplications
    m_Parts = std::min({GetMostParts(), GetWorthwhileParts(multiplications / FasterThanFloats),
                        std::max(rows, weights.GetPanels().size())});

    Scratch scratch;
    scratch.Add<int32_t>(m_BlockRows);
    // In place, less than a tile and the rows that padding covers may have to be copied: at most fifteen of four bytes.
    const size_t stripRows = !m_InPlace ? m_BlockRows : weights.GetEngine().m_RowUnit != 1 ? 2 * tileRows : 0;
    m_StripOffset = scratch.Add<uint8_t>(backends::CheckedCount(stripRows, m_Pitch));
    m_WideOffset = scratch.Add<int16_t>(isWide ? backends::CheckedCount(m_BlockRows, m_Pitch) : 0);
    m_PartBytes = scratch.GetBytes();
}

void Product8::Run(const ExecuteArgs& args) const
{
    const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
    const size_t panels = m_Weights->GetPanels().size();
    const bool splitsRows = m_Rows >= parts * Engine8::MostRows || panels < parts;
    const size_t used = splitsRows ? std::min(parts, m_Rows) : parts;
    RunParts(*args.m_Parallel, used,
             [&](size_t index)
             {
                 Range range{0, m_Rows, 0, panels};
                 const Part part = GetPart(splitsRows ? m_Rows : panels, used, index);
                 (splitsRows ? range.m_FirstRow : range.m_FirstPanel) = part.m_Begin;
                 (splitsRows ? range.m_LastRow : range.m_LastPanel) = part.m_End;
                 RunRange(args, range, static_cast<std::byte*>(args.m_Scratch) + index * m_PartBytes);
             });
}

void Product8::RunRange(const ExecuteArgs& args, const Range& range, std::byte* scratch) const
{
    const Engine8& engine = m_Weights->GetEngine();
    auto* rowTerms = Scratch::At<int32_t>(scratch, 0);
    const bool hasRowTerms = m_Weights->GetRowFactor() != 0;
    const size_t count = range.m_LastRow - range.m_FirstRow;
    if (engine.m_Begin != nullptr)
    {
        engine.m_Begin();
    }
    for (size_t begin = 0; begin < count; begin += m_BlockRows)
    {
        const size_t first = range.m_FirstRow + begin;
        const size_t last = std::min(first + m_BlockRows, range.m_LastRow);
        const Block block = m_InPlace ? UseInPlace(args, first, last, scratch) : LayOut(args, first, last, scratch);
        if (hasRowTerms)
        {
            engine.m_SumRows(block.m_Data, block.m_Stride, last - first, m_Weights->GetDepth(),
                             m_Weights->IsDataSigned(), m_Weights->GetRowFactor(), rowTerms);
        }
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const Panel8& panel = m_Weights->GetPanels()[p];
            uint8_t* out = args.GetOutput<uint8_t>(0) + first * m_Weights->GetColumns() + panel.m_Column;
            RunPanel(panel, block, hasRowTerms ? rowTerms : nullptr, out);
        }
    }
    if (engine.m_End != nullptr)
    {
        engine.m_End();
    }
}

Product8::Block Product8::UseInPlace(const ExecuteArgs& args, size_t first, size_t last, std::byte* scratch) const
{
    const Engine8& engine = m_Weights->GetEngine();
    const size_t depth = m_Weights->GetDepth();
    Block block;
    block.m_Stride = depth;
    block.m_Rows = block.m_SafeRows = last - first;
    block.m_Data = args.GetInput<uint8_t>(0) + first * depth;
    // Tiles of whole units read past the last row, and past the depth. What is not the input's is copied before.
    const size_t past = m_Pitch - depth;
    const size_t unit = engine.m_RowUnit;
    const size_t wholeRows = (block.m_Rows + unit - 1) / unit * unit;
    if ((first + wholeRows) * depth + past > m_InputBytes)
    {
        const size_t tileRows = engine.m_Rows[engine.m_Vectors];
        const size_t safe = m_InputBytes > past ? (m_InputBytes - past) / depth : 0;
        block.m_SafeRows = safe > first ? std::min(block.m_Rows, (safe - first) / tileRows * tileRows) : 0;
        auto* tail = Scratch::At<uint8_t>(scratch, m_StripOffset);
        for (size_t row = block.m_SafeRows; row < block.m_Rows; ++row)
        {
            std::memcpy(tail + (row - block.m_SafeRows) * m_Pitch, block.m_Data + row * depth, depth);
        }
        block.m_Tail = tail;
    }
    return block;
}

Product8::Block Product8::LayOut(const ExecuteArgs& args, size_t first, size_t last, std::byte* scratch) const
{
    const int32_t zeroPoint = m_Weights->GetDataZeroPoint();
    auto* strip = Scratch::At<uint8_t>(scratch, m_StripOffset);
    m_Windows.Copy(args.GetInput<uint8_t>(0), first, last, static_cast<uint8_t>(zeroPoint), m_Pitch, strip);
    Block block;
    block.m_Rows = block.m_SafeRows = last - first;
    block.m_Stride = m_Pitch;
    block.m_Data = strip;
    const Engine8& engine = m_Weights->GetEngine();
    if (engine.m_Layout == Layout8::WidePairs)
    {
        auto* wide = Scratch::At<int16_t>(scratch, m_WideOffset);
        engine.m_Widen(strip, (last - first) * m_Pitch, m_Weights->IsDataSigned(), zeroPoint, wide);
        block.m_Stride = m_Pitch * sizeof(int16_t);
        block.m_Data = reinterpret_cast<const uint8_t*>(wide);
    }
    return block;
}

void Product8::RunPanel(const Panel8& panel, const Block& block, const int32_t* rowTerms, uint8_t* out) const
{
    const Engine8& engine = m_Weights->GetEngine();
    const auto& tiles = (m_Weights->IsDataSigned() ? engine.m_SignedTiles : engine.m_UnsignedTiles)[panel.m_Vectors];
    const void* packed = m_Weights->GetData(panel);
    RequantizeColumns columns = m_Weights->GetRequantization(panel);
    columns.m_Min = m_Min;
    columns.m_Max = m_Max;
    constexpr size_t MostLanes = 16; // int32 in 512 bits
    alignas(64) int32_t sums[Engine8::MostRows * Engine8::MostVectors * MostLanes];
    RequantizeRows requantize;
    requantize.m_Sums = sums;
    requantize.m_SumStride = panel.m_Vectors * engine.m_Lanes;
    requantize.m_Columns = panel.m_Columns;
    requantize.m_OutStride = m_Weights->GetColumns();
    requantize.m_IsSigned = m_OutputIsSigned;
    const auto run = [&](const uint8_t* data, size_t stride, size_t first, size_t rows)
    {
        requantize.m_Rows = rows;
        const size_t wholeRows = (rows + engine.m_RowUnit - 1) / engine.m_RowUnit * engine.m_RowUnit;
        tiles[wholeRows](data, stride, packed, m_Weights->GetGroups(), sums);
        requantize.m_RowTerms = rowTerms != nullptr ? rowTerms + first : nullptr;
        requantize.m_Out = out + first * requantize.m_OutStride;
        engine.m_Requantize(requantize, columns);
    };
    const size_t most = engine.m_Rows[panel.m_Vectors];
    const size_t numTiles = (block.m_SafeRows + most - 1) / most;
    const size_t unit = engine.m_RowUnit;
    for (size_t t = 0; t < numTiles; ++t)
    {
        // Equal ones, where rows count: a tile of one row is slow.
        const Part tile = unit == 1 ? GetPart(block.m_SafeRows, numTiles, t)
                                    : Part{t * most, std::min((t + 1) * most, block.m_SafeRows)};
        run(block.m_Data + tile.m_Begin * block.m_Stride, block.m_Stride, tile.m_Begin, tile.m_End - tile.m_Begin);
    }
    for (size_t row = block.m_SafeRows; row < block.m_Rows; row += most)
    {
        run(block.m_Tail + (row - block.m_SafeRows) * m_Pitch, m_Pitch, row, std::min(most, block.m_Rows - row));
    }
}

} // namespace tenon::cpu
