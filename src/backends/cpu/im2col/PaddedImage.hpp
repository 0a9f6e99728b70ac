// SPDX-License-Identifier: Apache-2.0
// PaddedImage: a copy, in scratch memory, of the rows and columns of the image (with padding) that the windows of a
// block of output pixels read. Used by ImplicitGemmInt8, ComplementImageInt8 and GemmBf16.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Whether windows overlap enough: each pixel is read by at least two windows on average.
constexpr bool HasSharedPixels(size_t height, size_t width, size_t strideY, size_t strideX)
{
    return static_cast<double>(height * width) >= 2.0 * static_cast<double>(strideY) * static_cast<double>(strideX);
}
inline bool HasSharedPixels(const Im2col& windows)
{
    return HasSharedPixels(static_cast<size_t>(windows.m_Height), static_cast<size_t>(windows.m_Width),
                           static_cast<size_t>(windows.m_StrideY), static_cast<size_t>(windows.m_StrideX));
}

/// Length of the input, padding included, that windows along an axis read.
inline size_t GetPaddedExtent(int64_t output, int64_t stride, int64_t kernel, int64_t dilation)
{
    return static_cast<size_t>((output - 1) * stride + (kernel - 1) * dilation + 1);
}

/// The part of an image that a block of output pixels reads, copied to scratch memory with its padding: [rows][padded
/// columns][channels], with a row pitch that is a multiple of four bytes. Blocks are whole rows of the output, or a
/// part of one long row.
class PaddedImage
{
public:
    PaddedImage() = default;
    /// For blocks of at most `maxPixels` output pixels, with `channelBytes` bytes for each channel. Blocks are made
    /// smaller to fit `blockBytes`; the copy is not used where the smallest block exceeds `maxBytes`.
    PaddedImage(const Im2col& windows, size_t maxPixels, size_t channelBytes, size_t blockBytes, size_t maxBytes);

    bool IsUsed() const { return m_Rows != 0; }
    /// Bytes of the copied rows of a block.
    size_t GetBytes() const { return m_Rows * m_RowBytes; }
    size_t GetRows() const { return m_Rows; }
    size_t GetRowBytes() const { return m_RowBytes; }
    /// Capacity in columns.
    size_t GetWidth() const { return m_Width; }
    /// Maximal output pixels of a block.
    size_t GetBlockPixels() const { return m_OutputRows * m_OutputColumns; }
    /// End of the block from `first` on, at most `last`, within one image.
    size_t GetBlockEnd(size_t first, size_t last) const;
    /// The column of the output that the first column of a block belongs to.
    size_t GetFirstColumn(size_t first) const { return IsPartOfRow() ? first % GetOutputWidth() : 0; }

    /// Copies the rows for the output pixels [first, last), a block counted over all images. pad(pixels, to) writes
    /// pixels of the padding; fill(from, pixels, to) writes pixels of the input from pixel `from` on.
    template <typename Pad, typename Fill>
    void Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const;

private:
    size_t GetOutputWidth() const { return static_cast<size_t>(m_Im2col.m_OutputWidth); }
    /// Output pixels of an image.
    size_t GetPixels() const { return static_cast<size_t>(m_Im2col.m_OutputHeight * m_Im2col.m_OutputWidth); }
    bool IsPartOfRow() const { return m_OutputColumns < GetOutputWidth(); }
    /// Rows and columns of the input that a number of output rows or columns reads.
    size_t CountRows(size_t outputRows) const;
    size_t CountColumns(size_t outputColumns) const;
    /// Bytes of the copied rows of a block.
    double CountBytes(size_t outputRows, size_t outputColumns) const;

    Im2col m_Im2col;
    size_t m_PixelBytes = 0;
    size_t m_OutputRows = 0; ///< of a block
    size_t m_OutputColumns = 0;
    size_t m_Width = 0;
    size_t m_RowBytes = 0;
    size_t m_Rows = 0; ///< of the input and the padding, for a block
};

inline size_t PaddedImage::GetBlockEnd(size_t first, size_t last) const
{
    const size_t width = GetOutputWidth();
    const size_t ofImage = (first / GetPixels() + 1) * GetPixels();
    const size_t ofBlock = IsPartOfRow() ? std::min(first + m_OutputColumns, (first / width + 1) * width)
                                         : (first / width + m_OutputRows) * width;
    return std::min({last, ofBlock, ofImage});
}

inline size_t PaddedImage::CountRows(size_t outputRows) const
{
    return GetPaddedExtent(static_cast<int64_t>(outputRows), m_Im2col.m_StrideY, m_Im2col.m_Height,
                           m_Im2col.m_DilationY);
}

inline size_t PaddedImage::CountColumns(size_t outputColumns) const
{
    return GetPaddedExtent(static_cast<int64_t>(outputColumns), m_Im2col.m_StrideX, m_Im2col.m_Width,
                           m_Im2col.m_DilationX);
}

template <typename Pad, typename Fill>
void PaddedImage::Make(size_t first, size_t last, uint8_t* rows, const Pad& pad, const Fill& fill) const
{
    const size_t image = first / GetPixels();
    const size_t firstRow = first % GetPixels() / GetOutputWidth();
    const size_t lastRow = (last - 1) % GetPixels() / GetOutputWidth();
    const size_t columns = CountColumns(IsPartOfRow() ? last - first : m_OutputColumns);
    // The columns' origin in the input, and the range of them inside the image.
    const int64_t origin = static_cast<int64_t>(GetFirstColumn(first)) * m_Im2col.m_StrideX - m_Im2col.m_PadLeft;
    const int64_t end = origin + static_cast<int64_t>(columns);
    const int64_t insideBegin = std::clamp<int64_t>(0, origin, end);
    const int64_t insideEnd = std::clamp<int64_t>(m_Im2col.m_InputWidth, insideBegin, end);
    const auto before = static_cast<size_t>(insideBegin - origin);
    const auto inside = static_cast<size_t>(insideEnd - insideBegin);
    int64_t row = static_cast<int64_t>(firstRow) * m_Im2col.m_StrideY - m_Im2col.m_PadTop;
    for (size_t i = CountRows(lastRow - firstRow + 1); i != 0; --i, ++row, rows += m_RowBytes)
    {
        if (row < 0 || row >= m_Im2col.m_InputHeight || inside == 0)
        {
            pad(columns, rows);
            continue;
        }
        const auto inputRow = static_cast<int64_t>(image) * m_Im2col.m_InputHeight + row; // counted over all images
        pad(before, rows);
        fill(static_cast<size_t>(inputRow * m_Im2col.m_InputWidth + insideBegin), inside, rows + before * m_PixelBytes);
        pad(columns - before - inside, rows + (before + inside) * m_PixelBytes);
    }
}

} // namespace tenon::cpu
