// SPDX-License-Identifier: Apache-2.0
// The tile driver: output rows by tiles of a few pixels, whose image pixels are found through an indirection buffer
// [row][column], or [tap][pixel] for windows without tiles of their own. Padding and dilation cost nothing in the
// microkernels.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/depthwise/float/DepthwiseLayerF32.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

template <typename T>
class DepthwiseTileDriverF32
{
public:
    explicit DepthwiseTileDriverF32(const DepthwiseLayerF32<T>& layer) : m_Layer(layer) {}

    /// Length of the indirection buffer of a tile of rows x columns pixels: a pointer for each image pixel under it, or
    /// for each tap of each pixel.
    size_t GetTableLength(size_t rows, size_t columns) const
    {
        return m_Layer.m_Tiles->m_Size != 0 ? static_cast<size_t>(m_Layer.GetHeight(static_cast<int64_t>(rows)) *
                                                                  m_Layer.GetWidth(static_cast<int64_t>(columns)))
                                            : backends::CheckedCount(m_Layer.GetTaps(), columns);
    }

    /// Computes the segments of a task, where each output row has `rowSegments` segments. `table`: an indirection
    /// buffer for the largest tile.
    void Run(T* output, const T* image, size_t rowSegments, const IndexRange& segments,
             const DepthwiseDequantization& scaling, const T** table) const
    {
        const size_t channels = m_Layer.m_Geometry.m_OutputChannels;
        auto tile = m_Layer.template MakeWork<DepthwiseTileF32<T>>(scaling);
        tile.m_Data = table;
        tile.m_Taps = m_Layer.GetTaps();
        tile.m_Channels = channels;
        tile.m_Multiplier = m_Layer.m_Geometry.m_GroupOutputs;
        tile.m_OutStride = channels;
        const size_t width = m_Layer.m_Geometry.m_X.m_Output;
        tile.m_OutRowStride = width * channels;
        const size_t height = m_Layer.m_Geometry.m_Y.m_Output;
        for (size_t segment = segments.m_Begin; segment < segments.m_End;)
        {
            const size_t row = segment / rowSegments;
            const size_t y = row % height;
            const size_t rows =
                rowSegments == 1 ? std::min({m_Layer.m_Tiles->m_Rows, segments.m_End - segment, height - y}) : 1;
            const IndexRange columns = GetTaskRange(width, rowSegments, segment % rowSegments);
            const size_t pixel = row * width + columns.m_Begin;
            tile.m_Out = output + pixel * channels;
            tile.m_Scales = scaling.ForImage(row / height, channels).m_Scales;
            const size_t pixels = m_Layer.m_Geometry.m_Y.m_Input * m_Layer.m_Geometry.m_X.m_Input;
            RunRow(image + row / height * pixels * m_Layer.GetPixelChannels(), y, rows, columns, tile, table);
            segment += rows;
        }
    }

private:
    /// Computes a range of columns of one or two output rows, from row y on.
    void RunRow(const T* image, size_t y, size_t rows, const IndexRange& range, DepthwiseTileF32<T>& tile,
                const T** table) const
    {
        T* const out = tile.m_Out;
        bool wasInside = false;
        size_t before = 0;
        size_t columnsBefore = 0;
        const auto runTile = [&](size_t begin, size_t columns)
        {
            const size_t x = range.m_Begin + begin;
            const bool isInside = IsInside(y, rows, x, columns);
            if (isInside && wasInside && columns == columnsBefore)
            {
                MoveTable(table, rows, columns, x - before);
            }
            else if (m_Layer.m_Tiles->m_Size != 0)
            {
                FindPixels(image, y, rows, x, columns, table);
            }
            else
            {
                FindTaps(image, y, x, columns, table);
            }
            wasInside = isInside;
            before = x;
            columnsBefore = columns;
            tile.m_Out = out + begin * tile.m_OutStride;
            m_Layer.m_Tiles->m_Run[rows][columns](tile);
        };
        ForEachTile(range.m_End - range.m_Begin, m_Layer.m_Tiles->m_Columns, runTile);
    }

    bool IsInside(size_t y, size_t rows, size_t x, size_t columns) const
    {
        const ref::WindowAxis& down = m_Layer.m_Geometry.m_Y;
        const ref::WindowAxis& across = m_Layer.m_Geometry.m_X;
        const auto isInside = [](const ref::WindowAxis& axis, size_t first, size_t last)
        {
            const int64_t end = axis.Origin(last) + static_cast<int64_t>(axis.m_Kernel - 1) * axis.m_Dilation;
            return axis.Origin(first) >= 0 && end < static_cast<int64_t>(axis.m_Input);
        };
        return isInside(down, y, y + rows - 1) && isInside(across, x, x + columns - 1);
    }

    /// Moves all pointers to the tile `distance` columns to the right; both tiles are inside of the image.
    void MoveTable(const T** table, size_t rows, size_t columns, size_t distance) const
    {
        const size_t count = GetTableLength(rows, columns);
        const size_t step =
            distance * static_cast<size_t>(m_Layer.m_Geometry.m_X.m_Stride) * m_Layer.GetPixelChannels();
        for (size_t i = 0; i < count; ++i)
        {
            table[i] += step;
        }
    }

    const T* FindPixel(const T* image, int64_t y, int64_t x) const
    {
        const auto height = static_cast<int64_t>(m_Layer.m_Geometry.m_Y.m_Input);
        const auto width = static_cast<int64_t>(m_Layer.m_Geometry.m_X.m_Input);
        const bool isInside = y >= 0 && y < height && x >= 0 && x < width;
        return isInside ? image + (y * width + x) * static_cast<int64_t>(m_Layer.GetPixelChannels())
                        : m_Layer.m_Packed->template GetZeros<T>();
    }

    void FindPixels(const T* image, size_t y, size_t rows, size_t x, size_t columns, const T** table) const
    {
        const int64_t height = m_Layer.GetHeight(static_cast<int64_t>(rows));
        const int64_t width = m_Layer.GetWidth(static_cast<int64_t>(columns));
        for (int64_t i = 0; i < height; ++i)
        {
            for (int64_t j = 0; j < width; ++j)
            {
                *table++ = FindPixel(image, m_Layer.m_Geometry.m_Y.Origin(y) + i, m_Layer.m_Geometry.m_X.Origin(x) + j);
            }
        }
    }

    void FindTaps(const T* image, size_t y, size_t x, size_t columns, const T** table) const
    {
        const ref::WindowAxis& across = m_Layer.m_Geometry.m_X;
        for (size_t i = 0; i < m_Layer.m_Geometry.m_Y.m_Kernel; ++i)
        {
            const int64_t row =
                m_Layer.m_Geometry.m_Y.Origin(y) + static_cast<int64_t>(i) * m_Layer.m_Geometry.m_Y.m_Dilation;
            for (size_t j = 0; j < across.m_Kernel; ++j)
            {
                for (size_t c = 0; c < columns; ++c)
                {
                    const int64_t column = across.Origin(x + c) + static_cast<int64_t>(j) * across.m_Dilation;
                    *table++ = FindPixel(image, row, column);
                }
            }
        }
    }

    const DepthwiseLayerF32<T>& m_Layer;
};

} // namespace tenon::cpu
