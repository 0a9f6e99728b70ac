// SPDX-License-Identifier: Apache-2.0
// PaddedImage: rows of an image with their padding, which all windows of a block lie in.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Whether windows of so many points share enough of their pixels with others.
constexpr bool ShareImage(size_t height, size_t width, size_t strideY, size_t strideX)
{
    return static_cast<double>(height * width) >= 2.0 * static_cast<double>(strideY) * static_cast<double>(strideX);
}
inline bool ShareImage(const Windows& windows)
{
    return ShareImage(static_cast<size_t>(windows.m_Height), static_cast<size_t>(windows.m_Width),
                      static_cast<size_t>(windows.m_StrideY), static_cast<size_t>(windows.m_StrideX));
}

/// What a block of output pixels sees of an image, made in scratch memory from the rows of the input and the padding
/// around them: [rows][padded columns][channels], rows a multiple of four bytes apart. Blocks are whole rows of the
/// output, or a part of one where that has many pixels.
class PaddedImage
{
public:
    PaddedImage() = default;
    /// For blocks of so many output pixels at most, of channels that take `channelBytes` each there. Blocks are made
    /// smaller where they would take more than `blockBytes`; not used where the smallest ones take more than
    /// `mostBytes`.
    PaddedImage(const Windows& windows, size_t mostPixels, size_t channelBytes, size_t blockBytes, size_t mostBytes);

    bool IsUsed() const { return m_Rows != 0; }
    /// Bytes of the rows for a block.
    size_t GetBytes() const { return m_Rows * m_RowBytes; }
    size_t GetRows() const { return m_Rows; }
    size_t GetRowBytes() const { return m_RowBytes; }
    /// Columns that there is room for.
    size_t GetWidth() const { return m_Width; }
    /// Output pixels that a block has at most.
    size_t GetBlockPixels() const { return m_OutputRows * m_OutputColumns; }
    /// One past the last pixel of a block from `first` on, of those up to `last`: of one image.
    size_t GetBlockEnd(size_t first, size_t last) const;
    /// Which column of the output the first column of a block's rows is for.
    size_t GetFirstColumn(size_t first) const { return AreParts() ? first % GetOutputWidth() : 0; }

    /// Makes the rows for the output pixels [first, last), a block counted through all images. pad(pixels, to) writes
    /// pixels outside of the image, fill(from, pixels, to) those that begin `from` pixels after the first one of the
    /// input.
    template <typename Pad, typename Fill>
    void Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const;

private:
    size_t GetOutputWidth() const { return static_cast<size_t>(m_Windows.m_OutputWidth); }
    /// Output pixels of an image.
    size_t GetPixels() const { return static_cast<size_t>(m_Windows.m_OutputHeight * m_Windows.m_OutputWidth); }
    bool AreParts() const { return m_OutputColumns < GetOutputWidth(); }
    /// Rows and columns that so many of the output see.
    size_t CountRows(size_t outputRows) const;
    size_t CountColumns(size_t outputColumns) const;
    /// Of a block.
    double CountBytes(size_t outputRows, size_t outputColumns) const;

    Windows m_Windows;
    size_t m_PixelBytes = 0;
    size_t m_OutputRows = 0; ///< of a block
    size_t m_OutputColumns = 0;
    size_t m_Width = 0;
    size_t m_RowBytes = 0;
    size_t m_Rows = 0; ///< of the input and the padding, for a block
};

template <typename Pad, typename Fill>
void PaddedImage::Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const
{
    const size_t image = first / GetPixels();
    const size_t firstRow = first % GetPixels() / GetOutputWidth();
    const size_t lastRow = (last - 1) % GetPixels() / GetOutputWidth();
    const size_t columns = CountColumns(AreParts() ? last - first : m_OutputColumns);
    // Where the columns begin in the input, and which of them it has.
    const int64_t origin = static_cast<int64_t>(GetFirstColumn(first)) * m_Windows.m_StrideX - m_Windows.m_PadLeft;
    const int64_t end = origin + static_cast<int64_t>(columns);
    const int64_t insideBegin = std::clamp<int64_t>(0, origin, end);
    const int64_t insideEnd = std::clamp<int64_t>(m_Windows.m_InputWidth, insideBegin, end);
    const auto before = static_cast<size_t>(insideBegin - origin);
    const auto inside = static_cast<size_t>(insideEnd - insideBegin);
    int64_t row = static_cast<int64_t>(firstRow) * m_Windows.m_StrideY - m_Windows.m_PadTop;
    for (size_t i = CountRows(lastRow - firstRow + 1); i != 0; --i, ++row, rows += m_RowBytes)
    {
        if (row < 0 || row >= m_Windows.m_InputHeight || inside == 0)
        {
            pad(columns, rows);
            continue;
        }
        const auto inputRow = static_cast<int64_t>(image) * m_Windows.m_InputHeight + row; // counted through all images
        pad(before, rows);
        fill(static_cast<size_t>(inputRow * m_Windows.m_InputWidth + insideBegin), inside,
             rows + before * m_PixelBytes);
        pad(columns - before - inside, rows + (before + inside) * m_PixelBytes);
    }
}

} // namespace tenon::cpu
