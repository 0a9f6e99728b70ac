// SPDX-License-Identifier: Apache-2.0
// Copies of windows: contiguous runs where the image has them, zeros outside.
#include "backends/cpu/kernels/Windows.hpp"

#include <algorithm>

namespace tenon::cpu
{

Windows::Columns Windows::FindColumns(int64_t left) const
{
    const int64_t right = left + (m_Width - 1) * m_DilationX;
    if (left >= 0 && right < m_InputWidth)
    {
        return {left, 0, m_Width}; // most windows: no divisions
    }
    // Positions left + i * dilation that lie in the image.
    const int64_t begin = std::clamp<int64_t>((-left + m_DilationX - 1) / m_DilationX, 0, m_Width);
    const int64_t end = std::clamp<int64_t>((m_InputWidth - left + m_DilationX - 1) / m_DilationX, begin, m_Width);
    return {begin < end ? left + begin * m_DilationX : 0, begin, end};
}

float* Windows::CopyRow(const float* imageRow, const Columns& columns, float* to) const
{
    const int64_t inside = columns.m_End - columns.m_Begin;
    const float* from = imageRow + columns.m_First * m_Channels;
    to = std::fill_n(to, columns.m_Begin * m_GroupChannels, 0.0f);
    if (inside > 0 && m_DilationX == 1 && m_GroupChannels == m_Channels)
    {
        to = std::copy_n(from, inside * m_GroupChannels, to);
    }
    else
    {
        for (int64_t i = 0; i < inside; ++i)
        {
            to = std::copy_n(from + i * m_DilationX * m_Channels, m_GroupChannels, to);
        }
    }
    return std::fill_n(to, (m_Width - columns.m_End) * m_GroupChannels, 0.0f);
}

void Windows::Copy(const float* input, size_t first, size_t last, float* to) const
{
    auto x = static_cast<int64_t>(first) % m_OutputWidth;
    int64_t y = static_cast<int64_t>(first) / m_OutputWidth % m_OutputHeight;
    int64_t image = static_cast<int64_t>(first) / m_OutputWidth / m_OutputHeight;
    const int64_t rowElements = m_Width * m_GroupChannels;
    for (size_t pixel = first; pixel < last; ++pixel)
    {
        const int64_t top = y * m_StrideY - m_PadTop;
        const Columns columns = FindColumns(x * m_StrideX - m_PadLeft);
        for (int64_t i = 0; i < m_Height; ++i)
        {
            const int64_t row = top + i * m_DilationY;
            if (row < 0 || row >= m_InputHeight)
            {
                to = std::fill_n(to, rowElements, 0.0f);
                continue;
            }
            to = CopyRow(input + (image * m_InputHeight + row) * m_InputWidth * m_Channels, columns, to);
        }
        if (++x == m_OutputWidth)
        {
            x = 0;
            if (++y == m_OutputHeight)
            {
                y = 0;
                ++image;
            }
        }
    }
}

} // namespace tenon::cpu
