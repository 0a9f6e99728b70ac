// SPDX-License-Identifier: Apache-2.0
// See ImplicitGemmInt8.hpp.
#include "backends/cpu/gemm/driver/ImplicitGemmInt8.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr size_t MostBlockPixels = 512;
/// An eighth of a second-level cache of 1 MiB, as the panels pass through it too; blocks of few pixels may need more.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MostBytes = 8 * BlockBytes;
/// Upper bound for padded weights, which no other path can use.
constexpr size_t MostBytesOfPadded = size_t{64} << 20;

bool CanWrite(const PackedWeights8& weights, bool isHybrid)
{
    const TileSet8& tiles = weights.GetTiles();
    if (!tiles.m_FlipsData || weights.GetRowFactor() != 0)
    {
        return false;
    }
    const auto isMade = [&](const Panel8& panel)
    {
        return isHybrid
                   ? tiles.m_WriteImageFloats[panel.m_Vectors] != nullptr
                   : tiles.m_WriteImage[0][panel.m_Vectors] != nullptr && weights.GetRequantization(panel).m_AllShift;
    };
    return std::all_of(weights.GetPanels().begin(), weights.GetPanels().end(), isMade);
}

} // namespace

ImageProduct8::ImageProduct8(const PackedWeights8& weights, const Windows& windows, size_t rows, bool isHybrid)
    : m_Weights(&weights), m_Windows(windows), m_IsHybrid(isHybrid)
{
    const ImageRuns8 runs(windows);
    const bool arePadded = weights.GetPaddedRunBytes() != 0;
    const bool fit = arePadded
                         ? weights.GetPaddedRunBytes() == runs.m_Bytes && weights.GetDepth() == runs.GetPaddedDepth()
                         : weights.GetDepth() == windows.GetDepth() && runs.AreWhole();
    if (!fit || !ShareImage(windows) || !CanWrite(weights, isHybrid))
    {
        return;
    }
    const PaddedImage image(windows, MostBlockPixels, 1, BlockBytes, arePadded ? MostBytesOfPadded : MostBytes);
    // An image with more bytes than all receptive fields of a block takes longer than im2col.
    const int64_t pixelBytes = windows.m_Height * windows.m_Width * windows.m_Channels; // of all groups
    const double windowBytes = static_cast<double>(image.GetBlockPixels()) * static_cast<double>(pixelBytes);
    const auto pixels = static_cast<size_t>(windows.m_OutputHeight * windows.m_OutputWidth);
    if (!arePadded && (static_cast<double>(image.GetBytes()) > windowBytes || !HaveManyPixels(pixels, rows)))
    {
        return;
    }
    m_Image = image;
    if (!IsUsed())
    {
        return;
    }
    FindGroups(runs);
    const size_t block = m_Image.GetBlockPixels() + ImageRows8::PastRows;
    Scratch scratch;
    scratch.Add<uint8_t>(m_Image.GetBytes() + ImageRuns8::GroupBytes); // the last run may end in a group
    m_BeginsOffset = scratch.Add<uint32_t>(block);
    m_PlacesOffset = scratch.Add<size_t>(block);
    m_ScratchBytes = scratch.GetBytes();
}

bool ImageProduct8::HaveManyPixels(size_t pixels, size_t rows)
{
    // Each image is a block, for which all panels are read again and which fills at least one tile.
    constexpr size_t LeastPixels = 4;
    constexpr size_t LeastPixelsOfMany = 32;
    return pixels >= (rows > pixels ? LeastPixelsOfMany : LeastPixels);
}

void ImageProduct8::FindGroups(const ImageRuns8& runs)
{
    const size_t points = runs.m_Count / static_cast<size_t>(m_Windows.m_Height); // of a kernel row
    const size_t rowStep = static_cast<size_t>(m_Windows.m_DilationY) * m_Image.GetRowBytes();
    const auto pointStep = static_cast<size_t>(m_Windows.m_DilationX * m_Windows.m_Channels);
    for (size_t run = 0; run < runs.m_Count; ++run)
    {
        const size_t begin = run / points * rowStep + run % points * pointStep;
        for (size_t group = 0; group < runs.GetGroups(); ++group)
        {
            m_GroupPlaces.push_back(static_cast<uint32_t>(begin + group * ImageRuns8::GroupBytes));
        }
    }
}

void ImageProduct8::Make(const uint8_t* input, uint8_t padding, size_t first, size_t last, const OutputPlace& place,
                         std::byte* scratch) const
{
    const auto channels = static_cast<size_t>(m_Windows.m_Channels);
    const auto pad = [&](size_t pixels, uint8_t* to) { std::memset(to, padding, pixels * channels); };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    {
        const uint8_t* const bytes = input + from * channels;
        m_IsHybrid ? static_cast<void>(std::memcpy(to, bytes, pixels * channels))
                   : m_Weights->GetEngine().m_Flip(bytes, pixels * channels, to);
    };
    m_Image.Make(first, last, Scratch::At<uint8_t>(scratch, 0), pad, fill);

    auto* begins = Scratch::At<uint32_t>(scratch, m_BeginsOffset);
    auto* places = Scratch::At<size_t>(scratch, m_PlacesOffset);
    const auto width = static_cast<size_t>(m_Windows.m_OutputWidth);
    const auto step = static_cast<uint32_t>(m_Windows.m_StrideX * m_Windows.m_Channels);
    const size_t rowStep = static_cast<size_t>(m_Windows.m_StrideY) * m_Image.GetRowBytes();
    const size_t column = m_Image.GetFirstColumn(first);
    for (size_t row = first, rowBegin = 0; row < last; rowBegin += rowStep)
    {
        auto begin = static_cast<uint32_t>(rowBegin + (row % width - column) * step);
        for (const size_t end = std::min(last, (row / width + 1) * width); row < end; ++row, begin += step)
        {
            *begins++ = begin;
        }
    }
    const size_t origin = place.GetOffset(first);
    for (size_t row = first; row < last;)
    {
        size_t at = place.GetOffset(row) - origin;
        for (const size_t end = place.GetRunEnd(row, last); row < end; ++row, at += place.m_PixelStride)
        {
            *places++ = at;
        }
    }
    std::fill_n(begins, ImageRows8::PastRows, begins[-1]);
    std::fill_n(places, ImageRows8::PastRows, places[-1]);
}

ImageRows8 ImageProduct8::MakeRows(const Panel8& panel, size_t rows, std::byte* scratch) const
{
    ImageRows8 image;
    image.m_Image =
        Scratch::At<const uint8_t>(scratch, 0) + panel.m_Matrix * static_cast<size_t>(m_Windows.m_GroupChannels);
    image.m_Begins = Scratch::At<const uint32_t>(scratch, m_BeginsOffset);
    image.m_Places = Scratch::At<const size_t>(scratch, m_PlacesOffset);
    image.m_Rows = rows;
    image.m_GroupPlaces = m_GroupPlaces.data();
    image.m_Panel = m_Weights->GetData(panel);
    image.m_Groups = m_Weights->GetGroups();
    return image;
}

void ImageProduct8::Write(const Panel8& panel, const RequantizeColumns& columns, bool isSigned, size_t rows,
                          uint8_t* output, std::byte* scratch) const
{
    ByteColumns8 prepared;
    m_Weights->GetEngine().m_PrepareColumns(columns, m_Weights->GetBias(panel), panel.m_Columns, isSigned, prepared);
    ImageRows8 image = MakeRows(panel, rows, scratch);
    image.m_Out = output;
    m_Weights->GetTiles().m_WriteImage[columns.AreNegativesAlike()][panel.m_Vectors](image, prepared);
}

void ImageProduct8::WriteFloats(const Panel8& panel, const FloatColumns& columns, const FloatScale& data, size_t rows,
                                float* output, std::byte* scratch) const
{
    const ImageRows8 image = MakeRows(panel, rows, scratch);
    const int32_t zeroPoint = data.m_ZeroPoint + m_Weights->GetDataShift();
    ImageFloats8 floats;
    floats.m_Columns = columns;
    floats.m_Rows.m_Columns = panel.m_Columns;
    floats.m_Rows.m_ZeroPoints = &zeroPoint;
    floats.m_Rows.m_Scales = &data.m_Scale;
    floats.m_Rows.m_Out = output;
    floats.m_Rows.m_Places = image.m_Places;
    m_Weights->GetTiles().m_WriteImageFloats[panel.m_Vectors](image, floats);
}

} // namespace tenon::cpu
