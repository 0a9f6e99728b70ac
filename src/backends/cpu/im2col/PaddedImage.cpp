// SPDX-License-Identifier: Apache-2.0
// Sizes of the blocks of a PaddedImage.
#include "backends/cpu/im2col/PaddedImage.hpp"

namespace tenon::cpu
{

namespace
{

constexpr size_t RowUnit = 4; ///< bytes

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

double PaddedImage::CountBytes(size_t outputRows, size_t outputColumns) const
{
    const double rowBytes = static_cast<double>(CountColumns(outputColumns)) * static_cast<double>(m_PixelBytes);
    return static_cast<double>(CountRows(outputRows)) * (rowBytes + RowUnit);
}

} // namespace tenon::cpu
