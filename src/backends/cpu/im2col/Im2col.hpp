// SPDX-License-Identifier: Apache-2.0
// Im2col: the geometry of a convolution of an NHWC image, whose receptive fields (windows) are the rows of a matrix,
// and the ways to read them: copied to an im2col buffer, through an indirection buffer of taps, or row of taps by row.
//     row of the matrix:  | tap 0,0: channels | tap 0,1 | .. | tap 1,0 | ..
// Used by the GEMM drivers, Winograd, and the depthwise convolutions.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{
struct ConvolutionGeometry;
struct WindowAxis;
} // namespace tenon::ref

namespace tenon::cpu
{

/// Output pixels at equal distances, which a tile can write: neighbours in a row or in a column of an image.
struct PixelRun
{
    size_t m_First = 0; ///< counted over all images
    size_t m_Step = 1;
    size_t m_Count = 0;
    bool m_LacksTaps = false; ///< whether taps may be in the padding for all windows of a tile
};

/// The windows of a convolution. Negative positions are padding.
struct Im2col
{
    int64_t m_InputHeight = 0;
    int64_t m_InputWidth = 0;
    int64_t m_OutputHeight = 0;
    int64_t m_OutputWidth = 0;
    int64_t m_Channels = 0;      ///< of the input
    int64_t m_GroupChannels = 0; ///< of the input, in a window
    int64_t m_Height = 0;
    int64_t m_Width = 0;
    int64_t m_StrideX = 1;
    int64_t m_StrideY = 1;
    int64_t m_DilationX = 1;
    int64_t m_DilationY = 1;
    int64_t m_PadTop = 0;
    int64_t m_PadLeft = 0;

    /// Pointwise convolution: the windows are the pixels of the input.
    bool IsPointwise() const
    {
        return m_Height == 1 && m_Width == 1 && m_StrideX == 1 && m_StrideY == 1 && m_PadTop == 0 && m_PadLeft == 0 &&
               m_InputHeight == m_OutputHeight && m_InputWidth == m_OutputWidth;
    }

    /// Strided pointwise convolution: each window is one pixel of the input.
    bool IsStridedPointwise() const
    {
        return m_Height == 1 && m_Width == 1 && m_PadTop == 0 && m_PadLeft == 0 && !IsPointwise() &&
               (m_OutputHeight - 1) * m_StrideY < m_InputHeight && (m_OutputWidth - 1) * m_StrideX < m_InputWidth;
    }
    /// The geometry of an image that has these pixels alone.
    Im2col GetWithoutStrides() const
    {
        Im2col pixels = *this;
        pixels.m_InputHeight = m_OutputHeight;
        pixels.m_InputWidth = m_OutputWidth;
        pixels.m_StrideX = pixels.m_StrideY = 1;
        return pixels;
    }

    /// im2col: writes the windows of the output pixels [first, last), counted over all images, as rows of a matrix: row
    /// of taps by row of taps, channels innermost. `input` is the first channel of the group in the first image.
    /// `pitch`: elements between rows; the gap between them is not written.
    template <typename T>
    void Copy(const T* input, size_t first, size_t last, T padding, size_t pitch, T* to) const;

    /// The same for bytes. May write up to ShortRowBytes past the end.
    void CopyBytes(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch, uint8_t* to) const;
    static constexpr size_t ShortRowBytes = 32;

    /// The same for int16 or float, with zeros as padding.
    template <typename T>
    void CopyNumbers(const T* input, size_t first, size_t last, size_t pitch, T* to) const;
    /// Whether rows of taps, of elements of `elementBytes`, are copied by moves of constant size.
    bool HasShortRows(size_t elementBytes) const
    {
        return m_Width * m_GroupChannels <= static_cast<int64_t>(ShortRowBytes / elementBytes) && HasContiguousRows();
    }

    /// Fills an indirection buffer [taps][last - first]: a pointer to the first channel of each tap of each window, or
    /// `padding` where the tap is outside of the image.
    template <typename T>
    void Find(const T* input, size_t first, size_t last, const T* padding, const T** table) const
    {
        FindRunTaps(input, {first, 1, last - first}, padding, table, last - first);
    }
    /// The same for the windows of a run: table[tap * tapStep + window].
    template <typename T>
    void FindRunTaps(const T* input, const PixelRun& run, const T* padding, const T** table, size_t tapStep) const;

    /// The same for rows of taps of neighbouring windows: table[row * rowStep + window] points to m_Width * m_Channels
    /// elements. Rows that are partly padding are copied to `strip`, which has room for CountMaxBorderWindows()
    /// windows; returns the free part of `strip`. Precondition: HasContiguousRows().
    template <typename T>
    T* FindRows(const T* input, size_t first, size_t last, const T* padding, T* strip, const T** table,
                size_t rowStep) const;
    /// Pointers to `pixels` neighbouring pixels, the first one in column `left`, in each of the m_Height rows of
    /// windows that begin in row `top`: in `image`, or, where some are padding, in a copy with zeros in `strip`, which
    /// has room for all of them.
    template <typename T>
    void FindPixelRows(const T* image, int64_t top, int64_t left, size_t pixels, T* strip, const T** places) const;
    /// Upper bound on how many of `count` neighbouring windows overlap the left or right border.
    size_t CountMaxBorderWindows(size_t count) const;
    /// The largest block of windows, between `minWindows` and `maxWindows`, whose border windows fit `maxBytes` when
    /// they are copied (`windowBytes` each).
    size_t LimitBorderWindows(size_t maxWindows, size_t minWindows, size_t windowBytes, size_t maxBytes) const;
    /// Whether the elements of a row of taps are contiguous in the image.
    bool HasContiguousRows() const { return m_DilationX == 1 && m_Channels == m_GroupChannels; }

    ref::WindowAxis GetAxisY() const;
    ref::WindowAxis GetAxisX() const;

    /// Elements of a window.
    size_t GetDepth() const { return static_cast<size_t>(m_Height * m_Width * m_GroupChannels); }

private:
    template <size_t Bytes>
    void CopyShortRows(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch,
                       uint8_t* to) const;
    void CopyRuns(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch, uint8_t* to) const;
    /// The columns of a window that lie in the image, and the image's column of the first one.
    struct Columns
    {
        int64_t m_First = 0;
        int64_t m_Begin = 0;
        int64_t m_End = 0;
    };
    Columns FindColumns(int64_t left) const;
    struct Span
    {
        int64_t m_Begin = 0;
        int64_t m_End = 0;
    };
    /// A number of neighbouring windows.
    struct Neighbours
    {
        int64_t m_Image = 0;
        int64_t m_Column = 0; ///< of the output, of the first window
        int64_t m_Top = 0;    ///< the image's row of their first row of taps; whether all their rows are in the image
        bool m_IsInside = false;
        int64_t m_Count = 0;
    };
    Neighbours FindNeighbours(size_t pixel, size_t last) const;
    /// The windows among `count` neighbours from x on whose columns all lie in the image, counted from x.
    Span FindWhole(int64_t x, int64_t count) const;
    /// Calls visit(window, first row of its image, its first row in that, its columns) for each window, counted from 0.
    template <typename F>
    void ForEach(size_t first, size_t last, F visit) const;
    template <typename T>
    void FindColumnTaps(const T* input, const PixelRun& run, const T* padding, const T** table, size_t tapStep) const;
    template <typename T>
    void FindTaps(const T* imageRow, int64_t left, int64_t count, const T* padding, const T** to) const;
    template <typename T>
    T* CopyRow(const T* imageRow, const Columns& columns, T padding, T* to) const;
};

/// Memory layout of a product's output, in elements. By default rows of pixels have no gaps between them.
struct OutputLayout
{
    size_t m_First = 0; ///< offset of the first pixel
    size_t m_PixelStride = 0;
    size_t m_Width = 0; ///< pixels of a row; 0: all pixels are equally spaced
    size_t m_Height = 1;
    size_t m_RowStride = 0;
    size_t m_ImageStride = 0;

    /// Pixels at a distance of `pitch`.
    static OutputLayout WithPitch(size_t pitch)
    {
        OutputLayout layout;
        layout.m_PixelStride = pitch;
        return layout;
    }
    size_t GetOffset(size_t pixel) const
    {
        return m_First + (m_Width == 0 ? pixel * m_PixelStride
                                       : pixel % m_Width * m_PixelStride + pixel / m_Width % m_Height * m_RowStride +
                                             pixel / m_Width / m_Height * m_ImageStride);
    }
    /// End of the pixels that follow `pixel` without a gap, at most `last`.
    size_t GetRunEnd(size_t pixel, size_t last) const
    {
        return m_Width == 0 ? last : std::min(last, pixel - pixel % m_Width + m_Width);
    }
};

/// Sets the distance between the output pixels of a product; 0: contiguous pixels.
template <typename Product>
void SetOutputPitch(Product& product, size_t outputPitch)
{
    if (outputPitch != 0)
    {
        product.SetOutputLayout(OutputLayout::WithPitch(outputPitch));
    }
}

/// The geometry of a Convolution2d layer; images of one column are taken as images of one row. Throws
/// LayerValidationException if the shapes do not fit together.
Im2col MakeConvolutionIm2col(const ReshapeArgs& args);

/// The geometry along two axes, of images with `channels` channels; one column as above.
Im2col MakeAxisIm2col(const ref::WindowAxis& axisY, const ref::WindowAxis& axisX, size_t channels,
                      size_t groupChannels);

/// The geometry of a DepthwiseConvolution2d layer, for one channel of its data.
Im2col MakeDepthwiseIm2col(const ref::ConvolutionGeometry& g);

/// The rows of a matrix as 1x1 windows of `rows` pixels.
Im2col MakeMatrixIm2col(size_t rows, size_t depth);

} // namespace tenon::cpu
