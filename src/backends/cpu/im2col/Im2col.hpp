// SPDX-License-Identifier: Apache-2.0
// Windows: what a convolution's output pixels see of an NHWC image, laid out as the rows of a matrix. Used by the
// convolutions and products of CpuAcc.
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

/// Output pixels at equal distances, which a tile can write: neighbours in a row of an image, or in a column.
struct PixelRun
{
    size_t m_First = 0; ///< counted through all images
    size_t m_Step = 1;
    size_t m_Count = 0;
    bool m_LacksPoints = false; ///< whether there may be points that all windows of a tile lack
};

/// The windows of a convolution. Positions may be negative: outside the image there is padding.
struct Windows
{
    int64_t m_InputHeight = 0;
    int64_t m_InputWidth = 0;
    int64_t m_OutputHeight = 0;
    int64_t m_OutputWidth = 0;
    int64_t m_Channels = 0;      ///< of the input
    int64_t m_GroupChannels = 0; ///< of the input, that a window has
    int64_t m_Height = 0;
    int64_t m_Width = 0;
    int64_t m_StrideX = 1;
    int64_t m_StrideY = 1;
    int64_t m_DilationX = 1;
    int64_t m_DilationY = 1;
    int64_t m_PadTop = 0;
    int64_t m_PadLeft = 0;

    /// Whether the windows of the pixels are the pixels of the input themselves.
    bool ArePixels() const
    {
        return m_Height == 1 && m_Width == 1 && m_StrideX == 1 && m_StrideY == 1 && m_PadTop == 0 && m_PadLeft == 0 &&
               m_InputHeight == m_OutputHeight && m_InputWidth == m_OutputWidth;
    }

    /// Whether they are some pixels of the input, one each.
    bool AreSomePixels() const
    {
        return m_Height == 1 && m_Width == 1 && m_PadTop == 0 && m_PadLeft == 0 && !ArePixels() &&
               (m_OutputHeight - 1) * m_StrideY < m_InputHeight && (m_OutputWidth - 1) * m_StrideX < m_InputWidth;
    }
    /// Those of an image of these pixels alone.
    Windows GetPixelsAlone() const
    {
        Windows pixels = *this;
        pixels.m_InputHeight = m_OutputHeight;
        pixels.m_InputWidth = m_OutputWidth;
        pixels.m_StrideX = pixels.m_StrideY = 1;
        return pixels;
    }

    /// Writes the windows of the output pixels [first, last), counted through all images, one row each: window row by
    /// window row, channels innermost. `input` is the first channel of the group in the first image. Rows start `pitch`
    /// elements after each other; what is left between them is not written.
    template <typename T>
    void Copy(const T* input, size_t first, size_t last, T padding, size_t pitch, T* to) const;

    /// The same for bytes. Writes up to ShortRowBytes past the end of what it lays out.
    void CopyBytes(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch, uint8_t* to) const;
    static constexpr size_t ShortRowBytes = 32;

    /// The same for int16 or float, zeros outside of the image.
    template <typename T>
    void CopyNumbers(const T* input, size_t first, size_t last, size_t pitch, T* to) const;
    /// Whether these copy rows of windows of elements of so many bytes by moves of a known number of bytes.
    bool HaveShortRows(size_t elementBytes) const
    {
        return m_Width * m_GroupChannels <= static_cast<int64_t>(ShortRowBytes / elementBytes) && HaveWholeRows();
    }

    /// Where the points of the same windows lie: table[point * (last - first) + window] is the first channel, or
    /// `padding` outside of the image.
    template <typename T>
    void Find(const T* input, size_t first, size_t last, const T* padding, const T** table) const
    {
        FindRun(input, {first, 1, last - first}, padding, table, last - first);
    }
    /// The same for the windows of a run: table[point * pointStep + window].
    template <typename T>
    void FindRun(const T* input, const PixelRun& run, const T* padding, const T** table, size_t pointStep) const;

    /// The same for rows of windows beside each other: table[row * rowStep + window] is where the row's
    /// m_Width * m_Channels elements are. Rows that the image has only in part are laid out in `strip`, which has room
    /// for GetMostCut() windows; returns where the next ones may be. Precondition: HaveWholeRows().
    template <typename T>
    T* FindRows(const T* input, size_t first, size_t last, const T* padding, T* strip, const T** table,
                size_t rowStep) const;
    /// Where `pixels` pixels beside each other lie, the first one in column `left`, in each of the m_Height rows of the
    /// image that windows beginning in row `top` have: in `image`, or with zeros outside of it in `strip`, which has
    /// room for all of them.
    template <typename T>
    void FindSpans(const T* image, int64_t top, int64_t left, size_t pixels, T* strip, const T** places) const;
    /// How many of so many windows in a row can have rows of which the image has only a part.
    size_t GetMostCut(size_t count) const;
    /// Of `most` windows in a row, so many that the copies of those with cut rows take `mostBytes`, each of them
    /// `windowBytes`; but not fewer than `least`.
    size_t LimitCut(size_t most, size_t least, size_t windowBytes, size_t mostBytes) const;
    /// Whether the rows of windows inside of the image have their elements beside each other.
    bool HaveWholeRows() const { return m_DilationX == 1 && m_Channels == m_GroupChannels; }

    ref::WindowAxis GetAxisY() const;
    ref::WindowAxis GetAxisX() const;

    /// Elements of a window.
    size_t GetDepth() const { return static_cast<size_t>(m_Height * m_Width * m_GroupChannels); }

private:
    template <size_t Bytes>
    void CopyShortRows(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch,
                       uint8_t* to) const;
    void CopyRuns(const uint8_t* input, size_t first, size_t last, uint8_t padding, size_t pitch, uint8_t* to) const;
    /// Which columns of a window lie in the image, and the image's column of the first one.
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
    /// Windows beside each other, from one on.
    struct Beside
    {
        int64_t m_Image = 0;
        int64_t m_Column = 0; ///< of the output, of the first one
        int64_t m_Top = 0;    ///< the image's row of their first one, and whether all of their rows lie in the image
        bool m_IsInside = false;
        int64_t m_Count = 0;
    };
    Beside FindBeside(size_t pixel, size_t last) const;
    /// Which of the windows beside each other, from x on, whose columns all lie in the image, counted from x.
    Span FindWhole(int64_t x, int64_t count) const;
    /// Calls visit(window, first row of its image, its first row in that, its columns) for each, counted from 0.
    template <typename F>
    void ForEach(size_t first, size_t last, F visit) const;
    template <typename T>
    void FindColumn(const T* input, const PixelRun& run, const T* padding, const T** table, size_t pointStep) const;
    template <typename T>
    void FindPoints(const T* imageRow, int64_t left, int64_t count, const T* padding, const T** to) const;
    template <typename T>
    T* CopyRow(const T* imageRow, const Columns& columns, T padding, T* to) const;
};

/// Where the pixels of a product's output lie, in elements. As they are made there is no distance between rows of them.
struct OutputPlace
{
    size_t m_First = 0; ///< where the first one lies
    size_t m_PixelStride = 0;
    size_t m_Width = 0; ///< pixels of a row; 0: all pixels follow each other
    size_t m_Height = 1;
    size_t m_RowStride = 0;
    size_t m_ImageStride = 0;

    /// Pixels that follow each other, so far apart.
    static OutputPlace WithPitch(size_t pitch)
    {
        OutputPlace place;
        place.m_PixelStride = pitch;
        return place;
    }
    size_t GetOffset(size_t pixel) const
    {
        return m_First + (m_Width == 0 ? pixel * m_PixelStride
                                       : pixel % m_Width * m_PixelStride + pixel / m_Width % m_Height * m_RowStride +
                                             pixel / m_Width / m_Height * m_ImageStride);
    }
    /// One past the last pixel that follows `pixel` without a gap, and at most `last`.
    size_t GetRunEnd(size_t pixel, size_t last) const
    {
        return m_Width == 0 ? last : std::min(last, pixel - pixel % m_Width + m_Width);
    }
};

/// Has the product write pixels that follow each other, so far apart; 0: without gaps.
template <typename Product>
void SetPitch(Product& product, size_t outputPitch)
{
    if (outputPitch != 0)
    {
        product.SetPlace(OutputPlace::WithPitch(outputPitch));
    }
}

/// The windows of a Convolution2d layer, those of images of one column as if of one row. Throws
/// LayerValidationException when its shapes do not fit together.
Windows MakeConvolutionWindows(const ReshapeArgs& args);

/// Those along two axes, of images with so many channels; with columns as above.
Windows MakeAxisWindows(const ref::WindowAxis& axisY, const ref::WindowAxis& axisX, size_t channels,
                        size_t groupChannels);

/// Those of a DepthwiseConvolution2d layer, for one channel of its data.
Windows MakeDepthwiseWindows(const ref::ConvolutionGeometry& g);

/// Pixels that are the rows of a matrix.
Windows MakeRowWindows(size_t rows, size_t depth);

} // namespace tenon::cpu
