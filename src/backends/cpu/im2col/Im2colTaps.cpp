// SPDX-License-Identifier: Apache-2.0
// Im2col: pointers to the taps of windows, for indirection buffers.
#include "backends/cpu/im2col/Im2col.hpp"

#include <algorithm>

namespace tenon::cpu
{

template <typename T>
void Im2col::FindRunTaps(const T* input, const PixelRun& run, const T* padding, const T** table, size_t tapStep) const
{
    if (run.m_Step != 1)
    {
        FindColumnTaps(input, run, padding, table, tapStep);
        return;
    }
    // Neighbouring windows: each tap is one stride after that of the window before.
    const auto width = static_cast<size_t>(m_OutputWidth);
    const size_t last = run.m_First + run.m_Count;
    for (size_t window = run.m_First; window < last;)
    {
        const auto x = static_cast<int64_t>(window % width);
        const auto y = static_cast<int64_t>(window / width) % m_OutputHeight;
        const auto image = static_cast<int64_t>(window / width) / m_OutputHeight;
        const size_t end = std::min(last, window - static_cast<size_t>(x) + width);
        const auto count = static_cast<int64_t>(end - window);
        const T** to = table + (window - run.m_First);
        for (int64_t i = 0; i < m_Height; ++i)
        {
            const int64_t row = y * m_StrideY - m_PadTop + i * m_DilationY;
            const bool isInside = row >= 0 && row < m_InputHeight;
            const T* from = isInside ? input + (image * m_InputHeight + row) * m_InputWidth * m_Channels : nullptr;
            for (int64_t j = 0; j < m_Width; ++j, to += tapStep)
            {
                FindTaps(from, x * m_StrideX - m_PadLeft + j * m_DilationX, count, padding, to);
            }
        }
        window = end;
    }
}

/// The windows of one column of an image.
template <typename T>
void Im2col::FindColumnTaps(const T* input, const PixelRun& run, const T* padding, const T** table,
                            size_t tapStep) const
{
    const auto first = static_cast<int64_t>(run.m_First);
    const int64_t left = first % m_OutputWidth * m_StrideX - m_PadLeft;
    const int64_t top = first / m_OutputWidth % m_OutputHeight * m_StrideY - m_PadTop;
    const T* const image = input + first / m_OutputWidth / m_OutputHeight * m_InputHeight * m_InputWidth * m_Channels;
    for (int64_t i = 0; i < m_Height; ++i)
    {
        for (int64_t j = 0; j < m_Width; ++j, table += tapStep)
        {
            const int64_t column = left + j * m_DilationX;
            const bool isInside = column >= 0 && column < m_InputWidth;
            for (size_t w = 0; w < run.m_Count; ++w)
            {
                const int64_t row = top + static_cast<int64_t>(w) * m_StrideY + i * m_DilationY;
                table[w] = isInside && row >= 0 && row < m_InputHeight
                               ? image + (row * m_InputWidth + column) * m_Channels
                               : padding;
            }
        }
    }
}

/// Pointers to one tap of `count` neighbouring windows: the first one is in column `left` of a row of the image; a null
/// row means padding.
template <typename T>
void Im2col::FindTaps(const T* imageRow, int64_t left, int64_t count, const T* padding, const T** to) const
{
    int64_t begin = 0;
    int64_t end = imageRow != nullptr ? count : 0;
    if (end != 0 && (left < 0 || left + (count - 1) * m_StrideX >= m_InputWidth))
    {
        begin = std::clamp<int64_t>((-left + m_StrideX - 1) / m_StrideX, 0, count);
        end = std::clamp<int64_t>((m_InputWidth - left + m_StrideX - 1) / m_StrideX, begin, count);
    }
    std::fill_n(to, begin, padding);
    if (begin < end)
    {
        const T* from = imageRow + (left + begin * m_StrideX) * m_Channels;
        const int64_t step = m_StrideX * m_Channels;
        for (int64_t w = 0; w < end - begin; ++w)
        {
            to[begin + w] = from + w * step;
        }
    }
    std::fill_n(to + end, count - end, padding);
}

template <typename T>
void Im2col::FindPixelRows(const T* image, int64_t top, int64_t left, size_t pixels, T* strip, const T** places) const
{
    const int64_t right = left + static_cast<int64_t>(pixels);
    const int64_t begin = std::clamp<int64_t>(-left, 0, static_cast<int64_t>(pixels));
    const int64_t end = std::clamp<int64_t>(m_InputWidth - left, begin, static_cast<int64_t>(pixels));
    for (int64_t i = 0; i < m_Height; ++i)
    {
        const int64_t row = top + i * m_DilationY;
        const bool hasRow = row >= 0 && row < m_InputHeight;
        const T* const from = image + (hasRow ? row * m_InputWidth * m_Channels : 0);
        if (hasRow && left >= 0 && right <= m_InputWidth)
        {
            places[i] = from + left * m_Channels;
            continue;
        }
        places[i] = strip;
        const int64_t inside = hasRow ? end - begin : 0;
        strip = std::fill_n(strip, (hasRow ? begin : 0) * m_Channels, T{0});
        strip = std::copy_n(from + (inside != 0 ? left + begin : 0) * m_Channels, inside * m_Channels, strip);
        strip = std::fill_n(strip, (static_cast<int64_t>(pixels) - (hasRow ? begin : 0) - inside) * m_Channels, T{0});
    }
}

template void Im2col::FindRunTaps<float>(const float*, const PixelRun&, const float*, const float**, size_t) const;
template void Im2col::FindPixelRows<float>(const float*, int64_t, int64_t, size_t, float*, const float**) const;
template void Im2col::FindPixelRows<uint16_t>(const uint16_t*, int64_t, int64_t, size_t, uint16_t*,
                                              const uint16_t**) const;
template void Im2col::FindRunTaps<uint8_t>(const uint8_t*, const PixelRun&, const uint8_t*, const uint8_t**,
                                           size_t) const;
template void Im2col::FindRunTaps<int16_t>(const int16_t*, const PixelRun&, const int16_t*, const int16_t**,
                                           size_t) const;
template void Im2col::FindRunTaps<uint16_t>(const uint16_t*, const PixelRun&, const uint16_t*, const uint16_t**,
                                            size_t) const;

} // namespace tenon::cpu
