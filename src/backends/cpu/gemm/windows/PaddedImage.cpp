// SPDX-License-Identifier: Apache-2.0
// See PaddedImage.hpp.
#include "backends/cpu/gemm/windows/PaddedImage.hpp"

namespace tenon::cpu
{

namespace
{

constexpr size_t RowUnit = 4; ///< bytes

/// What windows along an axis see of it, padding included.
size_t GetExtent(int64_t output, int64_t stride, int64_t kernel, int64_t dilation)
{
    return static_cast<size_t>((output - 1) * stride + (kernel - 1) * dilation + 1);
}

} // namespace

PaddedImage::PaddedImage(const Windows& windows, size_t blockPixels, size_t channelBytes, size_t mostBytes)
    : m_Windows(windows), m_PixelBytes(static_cast<size_t>(windows.m_Channels) * channelBytes)
{
    if (GetPixels() == 0)
    {
        return;
    }
    m_Width = GetExtent(windows.m_OutputWidth, windows.m_StrideX, windows.m_Width, windows.m_DilationX);
    const auto width = static_cast<size_t>(windows.m_OutputWidth);
    const size_t mostRows = (blockPixels + width - 2) / width + 1; // that a block touches
    const size_t rows = CountRows(std::min(mostRows, static_cast<size_t>(windows.m_OutputHeight)));
    const double elements = static_cast<double>(rows) * static_cast<double>(m_Width);
    if (elements * static_cast<double>(m_PixelBytes) <= static_cast<double>(mostBytes))
    {
        m_Rows = rows;
        m_RowBytes = (m_Width * m_PixelBytes + RowUnit - 1) / RowUnit * RowUnit;
    }
}

size_t PaddedImage::CountRows(size_t outputRows) const
{
    return GetExtent(static_cast<int64_t>(outputRows), m_Windows.m_StrideY, m_Windows.m_Height, m_Windows.m_DilationY);
}

} // namespace tenon::cpu
