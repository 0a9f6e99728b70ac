// SPDX-License-Identifier: Apache-2.0
// WinogradGrid: the grid of output tiles of an image, pointers to a tile's input pixels, and strips of tiles for
// threads.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Tiles of `Outputs` x `Outputs` outputs, each of which reads `Inputs` x `Inputs` pixels. A strip is a number of
/// consecutive tiles, counted row by row over all images.
template <size_t Outputs, size_t Inputs>
class WinogradGrid
{
public:
    /// Position of a tile's first output.
    struct Place
    {
        size_t m_Image = 0;
        size_t m_Row = 0;
        size_t m_Column = 0;
    };

    /// `windows`: windows of stride and dilation 1.
    WinogradGrid(const Im2col& windows, size_t images)
        : m_Im2col(windows), m_Images(images),
          m_TileRows(DivideUp(static_cast<size_t>(windows.m_OutputHeight), Outputs)),
          m_TileColumns(DivideUp(static_cast<size_t>(windows.m_OutputWidth), Outputs)),
          m_Tiles(images * m_TileRows * m_TileColumns)
    {
    }

    const Im2col& GetWindows() const { return m_Im2col; }
    size_t GetImages() const { return m_Images; }
    /// Tiles of all images.
    size_t GetTiles() const { return m_Tiles; }
    /// End of the row of tiles that contains `tile`.
    size_t GetRowEnd(size_t tile) const { return tile - tile % m_TileColumns + m_TileColumns; }

    Place GetPlace(size_t tile) const
    {
        const size_t row = tile / m_TileColumns;
        return {row / m_TileRows, row % m_TileRows * Outputs, tile % m_TileColumns * Outputs};
    }

    /// Maximal tiles of a strip of `stripBytes`.
    size_t CountStripTiles(size_t stripBytes, size_t tileBytes) const
    {
        // Shorter strips read all weights too often; longer ones gain nothing noticeable.
        constexpr size_t MinTiles = 24;
        constexpr size_t MaxTiles = 96;
        return std::min(std::clamp(stripBytes / tileBytes, MinTiles, MaxTiles), m_Tiles);
    }

    /// Calls body(task, first tile, one past the last) for all strips, on several threads.
    template <typename F>
    void ForEachStrip(IParallelFor& parallel, size_t maxTasks, size_t stripTiles, const F& body) const
    {
        const size_t tasks = std::min<size_t>(maxTasks, parallel.GetNumThreads());
        RunTasks(parallel, tasks,
                 [&](size_t index)
                 {
                     const IndexRange tiles = GetTaskRange(m_Tiles, tasks, index);
                     ForEachTile(tiles.m_End - tiles.m_Begin, stripTiles,
                                 [&](size_t begin, size_t count)
                                 { body(index, tiles.m_Begin + begin, tiles.m_Begin + begin + count); });
                 });
    }

    /// Pointers to the first channels of a tile's pixels, row by row; `padding` outside of the image.
    template <typename T>
    void FindPixels(const T* input, const T* padding, size_t tile, const T** pixels) const
    {
        const Place place = GetPlace(tile);
        const int64_t top = static_cast<int64_t>(place.m_Row) - m_Im2col.m_PadTop;
        const int64_t left = static_cast<int64_t>(place.m_Column) - m_Im2col.m_PadLeft;
        const T* const image = input + static_cast<int64_t>(place.m_Image) * m_Im2col.m_InputHeight *
                                           m_Im2col.m_InputWidth * m_Im2col.m_Channels;
        for (int64_t y = top; y < top + static_cast<int64_t>(Inputs); ++y)
        {
            const bool isRow = y >= 0 && y < m_Im2col.m_InputHeight;
            for (int64_t x = left; x < left + static_cast<int64_t>(Inputs); ++x, ++pixels)
            {
                const bool isInside = isRow && x >= 0 && x < m_Im2col.m_InputWidth;
                *pixels = isInside ? image + (y * m_Im2col.m_InputWidth + x) * m_Im2col.m_Channels : padding;
            }
        }
    }

private:
    Im2col m_Im2col;
    size_t m_Images;
    size_t m_TileRows; ///< tiles of an image
    size_t m_TileColumns;
    size_t m_Tiles; ///< of all images
};

/// The distance between points of a strip, at least `elements` elements of T: an odd number of cache lines, so that the
/// points of a tile do not share a few sets of the first-level cache.
template <typename T>
constexpr size_t GetPointStride(size_t elements)
{
    constexpr size_t Line = 64 / sizeof(T);
    return (DivideUp(elements, Line) | 1) * Line;
}

} // namespace tenon::cpu
