// SPDX-License-Identifier: Apache-2.0
// See ImageProduct8.hpp.
#include "backends/cpu/gemm/bytes/ImageProduct8.hpp"

#include <algorithm>
#include <cstring>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr int64_t GroupBytes = 4;
constexpr size_t MostBlockPixels = 512;
constexpr size_t LeastBlockPixels = 64;
/// An eighth of a second-level cache of 1 MiB, as the panels pass through it too; blocks of few pixels may need more.
constexpr size_t BlockBytes = 128 * 1024;
constexpr size_t MostBytes = 8 * BlockBytes;

bool CanWrite(const PackedWeights8& weights)
{
    const TileSet8& tiles = weights.GetTiles();
    if (!tiles.m_FlipsData || weights.GetRowFactor() != 0)
    {
        return false;
    }
    const auto isMade = [&](const Panel8& panel)
    { return tiles.m_WriteImage[0][panel.m_Vectors] != nullptr && weights.GetRequantization(panel).m_AllShift; };
    return std::all_of(weights.GetPanels().begin(), weights.GetPanels().end(), isMade);
}

} // namespace

ImageProduct8::ImageProduct8(const PackedWeights8& weights, const Windows& windows)
    : m_Weights(&weights), m_Windows(windows)
{
    // Each new pixel of the image is copied once, as each of a window would be otherwise.
    const bool isShared = windows.m_Height * windows.m_Width >= 2 * windows.m_StrideY * windows.m_StrideX;
    if (!isShared || !CanWrite(weights))
    {
        return;
    }
    for (m_BlockPixels = MostBlockPixels; m_BlockPixels >= LeastBlockPixels && !IsUsed(); m_BlockPixels /= 2)
    {
        const bool isLeast = m_BlockPixels == LeastBlockPixels;
        m_Image = PaddedImage(windows, m_BlockPixels, 1, isLeast ? MostBytes : BlockBytes);
    }
    m_BlockPixels *= 2;
    if (!IsUsed() || !FindRuns())
    {
        m_Image = PaddedImage();
        return;
    }
    Scratch scratch;
    scratch.Add<uint8_t>(m_Image.GetBytes());
    m_BeginsOffset = scratch.Add<uint32_t>(m_BlockPixels + ImageRows8::PastRows);
    m_PlacesOffset = scratch.Add<size_t>(m_BlockPixels + ImageRows8::PastRows);
    m_ScratchBytes = scratch.GetBytes();
}

/// False: runs are not whole groups.
bool ImageProduct8::FindRuns()
{
    const int64_t rowBytes = static_cast<int64_t>(m_Image.GetRowBytes());
    const int64_t rowDistance = m_Windows.m_DilationY * rowBytes;
    // A row of the window, or a point.
    const int64_t ofRow = m_Windows.m_Width * m_Windows.m_GroupChannels;
    const bool areRows = m_Windows.HaveWholeRows() && ofRow % GroupBytes == 0;
    if (!areRows && (m_Windows.m_GroupChannels % GroupBytes != 0 || m_Windows.m_Channels % GroupBytes != 0))
    {
        return false;
    }
    const int64_t runBytes = areRows ? ofRow : m_Windows.m_GroupChannels;
    m_RunGroups = static_cast<size_t>(runBytes / GroupBytes);
    for (int64_t y = 0; y < m_Windows.m_Height; ++y)
    {
        for (int64_t x = 0; x < (areRows ? 1 : m_Windows.m_Width); ++x)
        {
            const int64_t distance = y * rowDistance + x * m_Windows.m_DilationX * m_Windows.m_Channels;
            m_Runs.push_back(static_cast<uint32_t>(distance / GroupBytes));
        }
    }
    m_Runs.push_back(0); // which tiles read at the end of the last one
    return m_RunGroups * (m_Runs.size() - 1) == m_Weights->GetGroups();
}

size_t ImageProduct8::GetBlockEnd(size_t first, size_t last) const
{
    return m_Image.GetBlockEnd(first, std::min(first + m_BlockPixels, last));
}

void ImageProduct8::Make(const uint8_t* input, size_t first, size_t last, const OutputPlace& place,
                         std::byte* scratch) const
{
    const auto channels = static_cast<size_t>(m_Windows.m_Channels);
    const auto padding = static_cast<int>(m_Weights->GetDataZeroPoint() & 0xFF) ^ 0x80;
    const auto pad = [&](size_t pixels, uint8_t* to) { std::memset(to, padding, pixels * channels); };
    const auto fill = [&](size_t from, size_t pixels, uint8_t* to)
    { m_Weights->GetEngine().m_Flip(input + from * channels, pixels * channels, to); };
    m_Image.Make(first, last, Scratch::At<uint8_t>(scratch, 0), pad, fill);

    auto* begins = Scratch::At<uint32_t>(scratch, m_BeginsOffset);
    auto* places = Scratch::At<size_t>(scratch, m_PlacesOffset);
    const auto width = static_cast<size_t>(m_Windows.m_OutputWidth);
    const auto step = static_cast<uint32_t>(m_Windows.m_StrideX * m_Windows.m_Channels);
    const size_t rowStep = static_cast<size_t>(m_Windows.m_StrideY) * m_Image.GetRowBytes();
    for (size_t row = first, rowBegin = 0; row < last; rowBegin += rowStep)
    {
        auto begin = static_cast<uint32_t>(rowBegin + row % width * step);
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

void ImageProduct8::Write(const Panel8& panel, const RequantizeColumns& columns, bool isSigned, size_t rows,
                          uint8_t* output, std::byte* scratch) const
{
    ByteColumns8 prepared;
    m_Weights->GetEngine().m_PrepareColumns(columns, m_Weights->GetBias(panel), panel.m_Columns, isSigned, prepared);
    ImageRows8 image;
    image.m_Image = Scratch::At<const uint8_t>(scratch, 0) +
                    panel.m_Matrix * static_cast<size_t>(m_Windows.m_GroupChannels);
    image.m_Begins = Scratch::At<const uint32_t>(scratch, m_BeginsOffset);
    image.m_Places = Scratch::At<const size_t>(scratch, m_PlacesOffset);
    image.m_Rows = rows;
    image.m_Runs = m_Runs.data();
    image.m_RunGroups = m_RunGroups;
    image.m_Panel = m_Weights->GetData(panel);
    image.m_Groups = m_Weights->GetGroups();
    image.m_Out = output;
    m_Weights->GetTiles().m_WriteImage[columns.AreNegativesAlike()][panel.m_Vectors](image, prepared);
}

} // namespace tenon::cpu
