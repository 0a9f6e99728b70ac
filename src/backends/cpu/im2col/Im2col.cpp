// SPDX-License-Identifier: Apache-2.0
// Im2col: the geometry, copies of windows with their padding, and pointers to taps. Long runs: Im2colRuns.cpp.
#include "backends/cpu/im2col/Im2col.hpp"

#include "backends/cpu/im2col/ColumnAsRow.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace tenon::cpu
{

namespace
{

ref::WindowAxis MakeAxis(int64_t input, int64_t output, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad)
{
    return {
        static_cast<size_t>(input), static_cast<size_t>(output), static_cast<size_t>(kernel), stride, dilation, pad};
}

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

Im2col::Columns Im2col::FindColumns(int64_t left) const
{
    const int64_t right = left + (m_Width - 1) * m_DilationX;
    if (left >= 0 && right < m_InputWidth)
    {
        return {left, 0, m_Width}; // most windows: no divisions
    }
    // Positions left + i * dilation inside the image.
    const int64_t begin = std::clamp<int64_t>((-left + m_DilationX - 1) / m_DilationX, 0, m_Width);
    const int64_t end = std::clamp<int64_t>((m_InputWidth - left + m_DilationX - 1) / m_DilationX, begin, m_Width);
    return {begin < end ? left + begin * m_DilationX : 0, begin, end};
}

template <typename T>
T* Im2col::CopyRow(const T* imageRow, const Columns& columns, T padding, T* to) const
{
    const int64_t inside = columns.m_End - columns.m_Begin;
    const T* from = imageRow + columns.m_First * m_Channels;
    to = std::fill_n(to, columns.m_Begin * m_GroupChannels, padding);
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
    return std::fill_n(to, (m_Width - columns.m_End) * m_GroupChannels, padding);
}

template <typename F>
void Im2col::ForEach(size_t first, size_t last, F visit) const
{
    auto x = static_cast<int64_t>(first) % m_OutputWidth;
    int64_t y = static_cast<int64_t>(first) / m_OutputWidth % m_OutputHeight;
    int64_t image = static_cast<int64_t>(first) / m_OutputWidth / m_OutputHeight;
    for (size_t window = 0; window < last - first; ++window)
    {
        visit(window, image * m_InputHeight, y * m_StrideY - m_PadTop, FindColumns(x * m_StrideX - m_PadLeft));
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

template <typename T>
void Im2col::Copy(const T* input, size_t first, size_t last, T padding, size_t pitch, T* out) const
{
    const auto visit = [&](size_t window, int64_t image, int64_t top, const Columns& columns)
    {
        T* to = out + window * pitch;
        for (int64_t i = 0; i < m_Height; ++i)
        {
            const int64_t row = top + i * m_DilationY;
            if (row < 0 || row >= m_InputHeight)
            {
                to = std::fill_n(to, m_Width * m_GroupChannels, padding);
                continue;
            }
            to = CopyRow(input + (image + row) * m_InputWidth * m_Channels, columns, padding, to);
        }
    };
    ForEach(first, last, visit);
}

Im2col::Span Im2col::FindWhole(int64_t x, int64_t count) const
{
    const int64_t room = m_InputWidth - 1 - (m_Width - 1) * m_DilationX + m_PadLeft;
    const int64_t begin = std::clamp<int64_t>((m_PadLeft + m_StrideX - 1) / m_StrideX - x, 0, count);
    return {begin, room < 0 ? begin : std::clamp<int64_t>(room / m_StrideX + 1 - x, begin, count)};
}

size_t Im2col::CountMaxBorderWindows(size_t count) const
{
    const Span whole = FindWhole(0, m_OutputWidth);
    const auto width = static_cast<size_t>(m_OutputWidth);
    const auto cut = static_cast<size_t>(m_OutputWidth - (whole.m_End - whole.m_Begin));
    return width == 0 ? 0 : std::min(count, (count / width + 2) * cut);
}

size_t Im2col::LimitBorderWindows(size_t maxWindows, size_t minWindows, size_t windowBytes, size_t maxBytes) const
{
    while (maxWindows > minWindows && CountMaxBorderWindows(maxWindows) > maxBytes / std::max<size_t>(windowBytes, 1))
    {
        maxWindows = std::max(maxWindows / 2, minWindows);
    }
    return maxWindows;
}

template <typename T>
T* Im2col::FindRows(const T* input, size_t first, size_t last, const T* padding, T* strip, const T** table,
                    size_t rowStep) const
{
    const int64_t rowElements = m_Width * m_Channels;
    // Neighbouring windows: each row of taps is one stride after that of the window before.
    const auto width = static_cast<size_t>(m_OutputWidth);
    for (size_t window = first; window < last;)
    {
        const auto x = static_cast<int64_t>(window % width);
        const auto y = static_cast<int64_t>(window / width) % m_OutputHeight;
        const auto image = static_cast<int64_t>(window / width) / m_OutputHeight;
        const size_t end = std::min(last, window - static_cast<size_t>(x) + width);
        const auto count = static_cast<int64_t>(end - window);
        const int64_t left = x * m_StrideX - m_PadLeft;
        const Span whole = FindWhole(x, count);
        for (int64_t i = 0; i < m_Height; ++i)
        {
            const T** to = table + static_cast<size_t>(i) * rowStep + (window - first);
            const int64_t row = y * m_StrideY - m_PadTop + i * m_DilationY;
            if (row < 0 || row >= m_InputHeight)
            {
                std::fill_n(to, count, padding);
                continue;
            }
            const T* imageRow = input + (image * m_InputHeight + row) * m_InputWidth * m_Channels;
            const auto cut = [&](int64_t w)
            {
                CopyRow(imageRow, FindColumns(left + w * m_StrideX), T{0}, strip);
                to[w] = strip;
                strip += rowElements;
            };
            for (int64_t w = 0; w < whole.m_Begin; ++w)
            {
                cut(w);
            }
            for (int64_t w = whole.m_Begin; w < whole.m_End; ++w)
            {
                to[w] = imageRow + (left + w * m_StrideX) * m_Channels;
            }
            for (int64_t w = whole.m_End; w < count; ++w)
            {
                cut(w);
            }
        }
        window = end;
    }
    return strip;
}

// Short rows of taps (at most 32 bytes, e.g. three colours): each row is copied by a constant number of bytes, which
// may exceed the row; the next row overwrites the excess.

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

// Pointers to the taps of windows, for indirection buffers.

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

// Geometry of layers.

Im2col MakeConvolutionIm2col(const ReshapeArgs& args)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    bool fits = input.GetNumDimensions() == 4 && output.GetNumDimensions() == 4 && input[0] == output[0] &&
                output[3] == weights[0];
    if (fits && input[3] != weights[3]) // grouped
    {
        fits =
            weights[3] != 0 && input[3] % weights[3] == 0 && weights[0] % (input[3] / weights[3]) == 0 && input[3] != 0;
    }
    if (!fits || (args.HasInput(2) && args.GetInput(2).GetNumElements() != weights[0]))
    {
        throw LayerValidationException(
            "Convolution2d of " + input.ToString() + " with weights " + weights.ToString() + " to " +
            output.ToString() +
            ": data must be [N, H, W, C], weights [O, H, W, C or a divisor of it], output and "
            "bias must have O channels");
    }

    const auto& d = args.GetDescriptor<Convolution2dDescriptor>();
    return MakeAxisIm2col(MakeAxis(input[1], output[1], weights[1], d.m_StrideY, d.m_DilationY, d.m_PadTop),
                          MakeAxis(input[2], output[2], weights[2], d.m_StrideX, d.m_DilationX, d.m_PadLeft), input[3],
                          weights[3]);
}

ref::WindowAxis Im2col::GetAxisY() const
{
    return MakeAxis(m_InputHeight, m_OutputHeight, m_Height, m_StrideY, m_DilationY, m_PadTop);
}

ref::WindowAxis Im2col::GetAxisX() const
{
    return MakeAxis(m_InputWidth, m_OutputWidth, m_Width, m_StrideX, m_DilationX, m_PadLeft);
}

Im2col MakeAxisIm2col(const ref::WindowAxis& axisY, const ref::WindowAxis& axisX, size_t channels, size_t groupChannels)
{
    ref::WindowAxis y = axisY;
    ref::WindowAxis x = axisX;
    LayColumnAsRow(y, x);
    Im2col windows;
    windows.m_InputHeight = static_cast<int64_t>(y.m_Input);
    windows.m_InputWidth = static_cast<int64_t>(x.m_Input);
    windows.m_OutputHeight = static_cast<int64_t>(y.m_Output);
    windows.m_OutputWidth = static_cast<int64_t>(x.m_Output);
    windows.m_Channels = static_cast<int64_t>(channels);
    windows.m_GroupChannels = static_cast<int64_t>(groupChannels);
    windows.m_Height = static_cast<int64_t>(y.m_Kernel);
    windows.m_Width = static_cast<int64_t>(x.m_Kernel);
    windows.m_StrideX = x.m_Stride;
    windows.m_StrideY = y.m_Stride;
    windows.m_DilationX = x.m_Dilation;
    windows.m_DilationY = y.m_Dilation;
    windows.m_PadTop = y.m_Pad;
    windows.m_PadLeft = x.m_Pad;
    return windows;
}

Im2col MakeDepthwiseIm2col(const ref::ConvolutionGeometry& g)
{
    return MakeAxisIm2col(g.m_Y, g.m_X, g.m_InputChannels, 1);
}

Im2col MakeMatrixIm2col(size_t rows, size_t depth)
{
    Im2col windows;
    windows.m_InputHeight = windows.m_OutputHeight = 1;
    windows.m_InputWidth = windows.m_OutputWidth = static_cast<int64_t>(rows);
    windows.m_Channels = windows.m_GroupChannels = static_cast<int64_t>(depth);
    windows.m_Height = windows.m_Width = 1;
    return windows;
}

template void Im2col::Copy<float>(const float*, size_t, size_t, float, size_t, float*) const;
template void Im2col::Copy<double>(const double*, size_t, size_t, double, size_t, double*) const;
template float* Im2col::FindRows<float>(const float*, size_t, size_t, const float*, float*, const float**,
                                        size_t) const;
template uint16_t* Im2col::FindRows<uint16_t>(const uint16_t*, size_t, size_t, const uint16_t*, uint16_t*,
                                              const uint16_t**, size_t) const;
template void Im2col::Copy<uint8_t>(const uint8_t*, size_t, size_t, uint8_t, size_t, uint8_t*) const;
template void Im2col::CopyNumbers<int16_t>(const int16_t*, size_t, size_t, size_t, int16_t*) const;
template void Im2col::CopyNumbers<float>(const float*, size_t, size_t, size_t, float*) const;
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
