// SPDX-License-Identifier: Apache-2.0
// Im2col of short rows of taps (at most 32 bytes, e.g. three colours): each row is copied by a constant number of
// bytes, which may exceed the row; the next row overwrites the excess.
#include "backends/cpu/im2col/Im2col.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tenon::cpu
{

namespace
{

/// Mask of the bytes of a row that come from the image; the others become padding.
template <size_t Bytes>
struct KeptBytes
{
    std::array<uint64_t, Bytes / sizeof(uint64_t)> m_Mask = {};
    std::array<uint64_t, Bytes / sizeof(uint64_t)> m_Padding = {};

    KeptBytes(int64_t begin, int64_t end, uint8_t padding)
    {
        uint8_t mask[Bytes];
        uint8_t others[Bytes];
        for (size_t i = 0; i < Bytes; ++i)
        {
            const bool isKept = static_cast<int64_t>(i) >= begin && static_cast<int64_t>(i) < end;
            mask[i] = isKept ? 0xFF : 0;
            others[i] = isKept ? 0 : padding;
        }
        std::memcpy(m_Mask.data(), mask, Bytes);
        std::memcpy(m_Padding.data(), others, Bytes);
    }

    void Copy(const uint8_t* from, uint8_t* to) const
    {
        std::array<uint64_t, Bytes / sizeof(uint64_t)> words;
        std::memcpy(words.data(), from, Bytes);
        for (size_t i = 0; i < words.size(); ++i)
        {
            words[i] = (words[i] & m_Mask[i]) | m_Padding[i];
        }
        std::memcpy(to, words.data(), Bytes);
    }
};

} // namespace

void Im2col::CopyBytes(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch,
                       uint8_t* to) const
{
    const int64_t rowBytes = m_Width * m_GroupChannels;
    if (!HasShortRows(1))
    {
        CopyRuns(input, first, last, padding, pitch, to);
    }
    else if (rowBytes <= 16)
    {
        CopyShortRows<16>(input, first, last, padding, pitch, to);
    }
    else
    {
        CopyShortRows<ShortRowBytes>(input, first, last, padding, pitch, to);
    }
}

template <typename T>
void Im2col::CopyNumbers(const T* input, size_t first, size_t last, size_t pitch, T* to) const
{
    // As bytes: a channel of T is sizeof(T) channels of bytes.
    Im2col bytes = *this;
    bytes.m_Channels *= static_cast<int64_t>(sizeof(T));
    bytes.m_GroupChannels *= static_cast<int64_t>(sizeof(T));
    bytes.CopyBytes(reinterpret_cast<const uint8_t*>(input), first, last, 0, pitch * sizeof(T),
                    reinterpret_cast<uint8_t*>(to));
}

template void Im2col::CopyNumbers<int16_t>(const int16_t*, size_t, size_t, size_t, int16_t*) const;
template void Im2col::CopyNumbers<float>(const float*, size_t, size_t, size_t, float*) const;

template <size_t Bytes>
void Im2col::CopyShortRows(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch,
                           uint8_t* to) const
{
    // A memcpy of nine bytes takes longer than a copy of a constant sixteen. The excess is overwritten by the next row
    // or pixel. Reads stay within the image.
    const int64_t imageBytes = m_InputHeight * m_InputWidth * m_Channels;
    const int64_t rowBytes = m_Width * m_Channels;
    const int64_t rowStep = m_DilationY * m_InputWidth * m_Channels;
    const int64_t pixelStep = m_StrideX * m_Channels;
    for (size_t pixel = first; pixel < last;)
    {
        // Windows [begin, end) are copied in this way.
        const Neighbours beside = FindNeighbours(pixel, last);
        const int64_t image = beside.m_Image;
        const int64_t count = beside.m_Count;
        const int64_t top = beside.m_Top;
        const int64_t left = beside.m_Column * m_StrideX - m_PadLeft;
        int64_t begin = count;
        int64_t end = count;
        const bool isInside = beside.m_IsInside;
        if (isInside)
        {
            const int64_t maxOffset = imageBytes - static_cast<int64_t>(Bytes) - (m_Height - 1) * rowStep;
            const int64_t maxLeft = std::min(m_InputWidth - m_Width, maxOffset / m_Channels - top * m_InputWidth);
            begin = std::min(count, left >= 0 ? 0 : (-left + m_StrideX - 1) / m_StrideX);
            end = maxOffset < 0 || maxLeft < left ? begin : std::clamp((maxLeft - left) / m_StrideX + 1, begin, count);
        }
        const auto copyOthers = [&](int64_t from, int64_t past)
        {
            if (from != past)
            {
                Copy(input, pixel + static_cast<size_t>(from), pixel + static_cast<size_t>(past), padding, pitch,
                     to + static_cast<size_t>(from) * pitch);
            }
        };
        // Windows over the left or right border: the excess is read from the neighbouring rows of the image.
        const auto copyBorder = [&](int64_t from, int64_t past)
        {
            for (int64_t i = from; i < past; ++i)
            {
                const int64_t column = left + i * m_StrideX;
                const int64_t at = (top * m_InputWidth + column) * m_Channels;
                if (at < 0 || at + (m_Height - 1) * rowStep + static_cast<int64_t>(Bytes) > imageBytes)
                {
                    copyOthers(i, i + 1);
                    continue;
                }
                const KeptBytes<Bytes> kept(-column * m_Channels, (m_InputWidth - column) * m_Channels, padding);
                uint8_t* const window = to + static_cast<size_t>(i) * pitch;
                for (int64_t row = 0; row < m_Height; ++row)
                {
                    kept.Copy(input + image * imageBytes + at + row * rowStep, window + row * rowBytes);
                }
            }
        };
        isInside ? copyBorder(0, begin) : copyOthers(0, begin);
        for (int64_t i = begin; i < end; ++i)
        {
            const uint8_t* from = input + image * imageBytes + (top * m_InputWidth + left) * m_Channels + i * pixelStep;
            uint8_t* window = to + static_cast<size_t>(i) * pitch;
            if (m_Height == 3)
            {
                std::memcpy(window, from, Bytes);
                std::memcpy(window + rowBytes, from + rowStep, Bytes);
                std::memcpy(window + 2 * rowBytes, from + 2 * rowStep, Bytes);
                continue;
            }
            for (int64_t row = 0; row < m_Height; ++row)
            {
                std::memcpy(window + row * rowBytes, from + row * rowStep, Bytes);
            }
        }
        copyBorder(end, count);
        pixel += static_cast<size_t>(count);
        to += static_cast<size_t>(count) * pitch;
    }
}

} // namespace tenon::cpu
