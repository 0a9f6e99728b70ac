// SPDX-License-Identifier: Apache-2.0
// The shapes of a resized NHWC image, a table of taps for each axis, and bilinear (ResizeBilinear.cpp) and nearest
// neighbour (ResizeNearest.cpp) resizing. Resize and Interpolate call them.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/ResizeAxis.hpp"

#include <cstddef>
#include <vector>

namespace tenon::cpu
{

/// The shapes of a resized NHWC image.
struct ResizedImage
{
    size_t m_Batches = 0;
    ref::ResizeAxis m_Vertical;
    ref::ResizeAxis m_Horizontal;
    size_t m_Channels = 0;
    size_t m_ElementBytes = 1;

    size_t PixelBytes() const { return m_Channels * m_ElementBytes; }
    size_t InputRowBytes() const { return static_cast<size_t>(m_Horizontal.m_Input) * PixelBytes(); }
    size_t OutputRowBytes() const { return static_cast<size_t>(m_Horizontal.m_Output) * PixelBytes(); }
    size_t OutputRowElements() const { return static_cast<size_t>(m_Horizontal.m_Output) * m_Channels; }
    size_t InputBytes() const { return static_cast<size_t>(m_Vertical.m_Input) * InputRowBytes(); }
    size_t Height() const { return static_cast<size_t>(m_Vertical.m_Output); }
};

/// A table of taps for each output axis.
template <typename Locate>
struct ResizeTables
{
    std::vector<typename Locate::Place> m_Rows;
    std::vector<typename Locate::Place> m_Columns;

    explicit ResizeTables(const ResizedImage& image)
    {
        Fill(image.m_Vertical, m_Rows);
        Fill(image.m_Horizontal, m_Columns);
    }

private:
    static void Fill(const ref::ResizeAxis& axis, std::vector<typename Locate::Place>& entries)
    {
        const Locate locate(axis);
        for (size_t i = 0; i < static_cast<size_t>(axis.m_Output); ++i)
        {
            entries.push_back(locate(i));
        }
    }
};

/// Calls f(input image, row in the output image, address of the output row) for the output rows [begin, end) of all
/// images.
template <typename F>
void ForEachResizedRow(const ResizedImage& image, const ExecuteArgs& run, size_t begin, size_t end, const F& f)
{
    for (size_t row = begin; row < end; ++row)
    {
        f(run.GetInput<std::byte>(0) + row / image.Height() * image.InputBytes(), row % image.Height(),
          run.GetOutput<std::byte>(0) + row * image.OutputRowBytes());
    }
}

/// Prepares bilinear resizing of Float32, BFloat16 and integers of 8 and 16 bits. Integers are exact: uint8 as TFLite's
/// reference kernel rounds floats, int8 and int16 in its fixed point. Precondition: output rows have fewer than 2^32
/// elements.
backends::Prepared MakeResizeBilinear(const ResizedImage& image, DataType type, unsigned int maxThreads);

/// Prepares resizing of elements of any type. `rows` and `columns` are the input index of each output row and column,
/// `images` that of each output image; empty: images keep their order. Precondition: output rows have fewer than 2^32
/// elements.
backends::Prepared MakeResizeNearest(const ResizedImage& image, std::vector<size_t> rows,
                                     const std::vector<size_t>& columns, std::vector<size_t> images = {});

} // namespace tenon::cpu
