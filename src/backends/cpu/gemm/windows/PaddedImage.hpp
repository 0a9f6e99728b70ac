// SPDX-License-Identifier: Apache-2.0
// PaddedImage: rows of an image with their padding, which all windows of a convolution lie in.
#pragma once

#include "backends/cpu/gemm/windows/Windows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// What a block of output pixels sees of an image, made in scratch memory from the rows of the input and the padding
/// around them: [rows][padded width][channels], rows a multiple of four bytes apart.
class PaddedImage
{
public:
    PaddedImage() = default;
    /// For blocks of so many output pixels, of channels that take `channelBytes` each there. Not used where it would take
    /// more than `mostBytes`.
    PaddedImage(const Windows& windows, size_t blockPixels, size_t channelBytes, size_t mostBytes);

    bool IsUsed() const { return m_Rows != 0; }
    /// Bytes of the rows for a block.
    size_t GetBytes() const { return m_Rows * m_RowBytes; }
    size_t GetRows() const { return m_Rows; }
    size_t GetRowBytes() const { return m_RowBytes; }
    size_t GetWidth() const { return m_Width; }
    /// One past the last pixel of a block from `first` on, of those up to `last`: of one image.
    size_t GetBlockEnd(size_t first, size_t last) const
    {
        return std::min(last, (first / GetPixels() + 1) * GetPixels());
    }

    /// Makes the rows for the output pixels [first, last), counted through all images. pad(pixels, to) writes pixels
    /// outside of the image, fill(from, pixels, to) those that begin `from` pixels after the first one of the input.
    template <typename Pad, typename Fill>
    void Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const;

private:
    /// Output pixels of an image.
    size_t GetPixels() const { return static_cast<size_t>(m_Windows.m_OutputHeight * m_Windows.m_OutputWidth); }
    /// Rows for so many rows of output pixels.
    size_t CountRows(size_t outputRows) const;

    Windows m_Windows;
    size_t m_Width = 0;
    size_t m_PixelBytes = 0;
    size_t m_RowBytes = 0;
    size_t m_Rows = 0; ///< of the input and the padding, for a block
};

template <typename Pad, typename Fill>
void PaddedImage::Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const
{
    const auto inputWidth = static_cast<size_t>(m_Windows.m_InputWidth);
    const auto outputWidth = static_cast<size_t>(m_Windows.m_OutputWidth);
    const size_t image = first / GetPixels();
    const size_t firstRow = first % GetPixels() / outputWidth;
    const size_t lastRow = (last - 1) % GetPixels() / outputWidth;
    const auto left = static_cast<size_t>(std::max<int64_t>(m_Windows.m_PadLeft, 0));
    const auto skipped = static_cast<size_t>(std::max<int64_t>(-m_Windows.m_PadLeft, 0));
    const size_t begin = std::min(left, m_Width);
    const size_t inside = std::min(m_Width - begin, inputWidth - std::min(skipped, inputWidth));
    int64_t row = static_cast<int64_t>(firstRow) * m_Windows.m_StrideY - m_Windows.m_PadTop;
    for (size_t i = CountRows(lastRow - firstRow + 1); i != 0; --i, ++row, rows += m_RowBytes)
    {
        if (row < 0 || row >= m_Windows.m_InputHeight)
        {
            pad(m_Width, rows);
            continue;
        }
        const size_t inputRow = image * static_cast<size_t>(m_Windows.m_InputHeight) + static_cast<size_t>(row);
        pad(begin, rows);
        fill(inputRow * inputWidth + skipped, inside, rows + begin * m_PixelBytes);
        pad(m_Width - begin - inside, rows + (begin + inside) * m_PixelBytes);
    }
}

} // namespace tenon::cpu
