// SPDX-License-Identifier: Apache-2.0
// See PaddedImage.hpp.
#include "backends/cpu/im2col/PaddedImage.hpp"

namespace tenon::cpu
{

namespace
{

constexpr size_t RowUnit = 4; ///< bytes

/// Length of the input, padding included, that windows along an axis read.
size_t GetExtent(int64_t output, int64_t stride, int64_t kernel, int64_t dilation)
{
    return static_cast<size_t>((output - 1) * stride + (kernel - 1) * dilation + 1);
}

} // namespace

PaddedImage::PaddedImage(const Im2col& windows, size_t maxPixels, size_t channelBytes, size_t blockBytes,
                         size_t maxBytes)
    : m_Im2col(windows), m_PixelBytes(static_cast<size_t>(windows.m_Channels) * channelBytes)
{
    constexpr size_t MinColumns = 64;
    if (GetPixels() == 0 || maxPixels == 0)
    {
        return;
    }
    const auto fits = [&](size_t rows, size_t columns)
    { return CountBytes(rows, columns) <= static_cast<double>(blockBytes); };
    m_OutputRows = 1;
    m_OutputColumns = GetOutputWidth();
    if (m_OutputColumns <= maxPixels && fits(1, m_OutputColumns))
    {
        m_OutputRows = std::min(maxPixels / m_OutputColumns, static_cast<size_t>(windows.m_OutputHeight));
        while (!fits(m_OutputRows, m_OutputColumns))
        {
            m_OutputRows -= (m_OutputRows + 3) / 4;
        }
    }
    else
    {
        m_OutputColumns = std::min(m_OutputColumns, maxPixels);
        while (m_OutputColumns > MinColumns && !fits(1, m_OutputColumns))
        {
            m_OutputColumns = std::max(MinColumns, m_OutputColumns / 2);
        }
    }
    if (CountBytes(m_OutputRows, m_OutputColumns) <= static_cast<double>(maxBytes))
    {
        m_Width = CountColumns(m_OutputColumns);
        m_RowBytes = (m_Width * m_PixelBytes + RowUnit - 1) / RowUnit * RowUnit;
        m_Rows = CountRows(m_OutputRows);
    }
}

size_t PaddedImage::GetBlockEnd(size_t first, size_t last) const
{
    const size_t width = GetOutputWidth();
    const size_t ofImage = (first / GetPixels() + 1) * GetPixels();
    const size_t ofBlock = IsPartOfRow() ? std::min(first + m_OutputColumns, (first / width + 1) * width)
                                         : (first / width + m_OutputRows) * width;
    return std::min({last, ofBlock, ofImage});
}

size_t PaddedImage::CountRows(size_t outputRows) const
{
    return GetExtent(static_cast<int64_t>(outputRows), m_Im2col.m_StrideY, m_Im2col.m_Height, m_Im2col.m_DilationY);
}

size_t PaddedImage::CountColumns(size_t outputColumns) const
{
    return GetExtent(static_cast<int64_t>(outputColumns), m_Im2col.m_StrideX, m_Im2col.m_Width, m_Im2col.m_DilationX);
}

double PaddedImage::CountBytes(size_t outputRows, size_t outputColumns) const
{
    const double rowBytes = static_cast<double>(CountColumns(outputColumns)) * static_cast<double>(m_PixelBytes);
    return static_cast<double>(CountRows(outputRows)) * (rowBytes + RowUnit);
}

} // namespace tenon::cpu
