// SPDX-License-Identifier: Apache-2.0
// How a product of bytes is cut: blocks of rows for the cache, panels of columns, tiles for the registers.
#include "backends/cpu/gemm/Product8.hpp"

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"

#include <algorithm>

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
    m_Pitch = weights.GetGroups() * (isWide ? 2 : 4); // as many stored values as there are weights
    const size_t rowBytes = weights.GetGroups() * 4;
    m_BlockRows = std::clamp<size_t>(BlockBytes / std::max<size_t>(rowBytes, 1), Engine8::MostRows, MostBlockRows);
    m_BlockRows = std::min(m_BlockRows, rows);

    const double multiplications =
        static_cast<double>(rows) * static_cast<double>(weights.GetColumns()) * static_cast<double>(depth);
    constexpr double FasterThanFloats = 4; // parts are made for so many float multiplications
    m_Parts = std::min({GetMostParts(), GetWorthwhileParts(multiplications / FasterThanFloats),
                        std::max(rows, weights.GetPanels().size())});

    Scratch scratch;
    scratch.Add<int32_t>(m_BlockRows);
    m_StripOffset = scratch.Add<uint8_t>(m_InPlace ? 0 : backends::CheckedCount(m_BlockRows, m_Pitch));
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
    const size_t blocks = (count + m_BlockRows - 1) / m_BlockRows;
    for (size_t block = 0; block < blocks; ++block)
    {
        const Part rows = GetPart(count, blocks, block); // equal ones
        const size_t first = range.m_FirstRow + rows.m_Begin;
        const size_t numRows = rows.m_End - rows.m_Begin;
        size_t stride = 0;
        const uint8_t* data = LayOut(args.GetInput<uint8_t>(0), first, first + numRows, scratch, stride);
        if (hasRowTerms)
        {
            engine.m_SumRows(data, stride, numRows, m_Weights->GetDepth(), m_Weights->IsDataSigned(),
                             m_Weights->GetRowFactor(), rowTerms);
        }
        for (size_t p = range.m_FirstPanel; p < range.m_LastPanel; ++p)
        {
            const Panel8& panel = m_Weights->GetPanels()[p];
            uint8_t* out = args.GetOutput<uint8_t>(0) + first * m_Weights->GetColumns() + panel.m_Column;
            RunPanel(panel, data, stride, numRows, hasRowTerms ? rowTerms : nullptr, out);
        }
    }
}

const uint8_t* Product8::LayOut(const uint8_t* input, size_t first, size_t last, std::byte* scratch,
                                size_t& stride) const
{
    if (m_InPlace)
    {
        stride = m_Weights->GetDepth();
        return input + first * stride;
    }
    const int32_t zeroPoint = m_Weights->GetDataZeroPoint();
    auto* strip = Scratch::At<uint8_t>(scratch, m_StripOffset);
    m_Windows.Copy(input, first, last, static_cast<uint8_t>(zeroPoint), m_Pitch, strip);
    stride = m_Pitch;
    const Engine8& engine = m_Weights->GetEngine();
    if (engine.m_Layout == Layout8::Dots)
    {
        return strip;
    }
    auto* wide = Scratch::At<int16_t>(scratch, m_WideOffset);
    engine.m_Widen(strip, (last - first) * m_Pitch, m_Weights->IsDataSigned(), zeroPoint, wide);
    stride = m_Pitch * sizeof(int16_t);
    return reinterpret_cast<const uint8_t*>(wide);
}

void Product8::RunPanel(const Panel8& panel, const uint8_t* data, size_t stride, size_t rows, const int32_t* rowTerms,
                        uint8_t* out) const
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
    const size_t numTiles = (rows + engine.m_Rows[panel.m_Vectors] - 1) / engine.m_Rows[panel.m_Vectors];
    for (size_t t = 0; t < numTiles; ++t)
    {
        const Part tile = GetPart(rows, numTiles, t); // equal ones: a tile of one row is slow
        requantize.m_Rows = tile.m_End - tile.m_Begin;
        tiles[requantize.m_Rows](data + tile.m_Begin * stride, stride, packed, m_Weights->GetGroups(), sums);
        requantize.m_RowTerms = rowTerms != nullptr ? rowTerms + tile.m_Begin : nullptr;
        requantize.m_Out = out + tile.m_Begin * requantize.m_OutStride;
        engine.m_Requantize(requantize, columns);
    }
}

} // namespace tenon::cpu
