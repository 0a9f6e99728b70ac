// SPDX-License-Identifier: Apache-2.0
// In which order a product takes the output pixels of a convolution. At the borders of an image windows lack points,
// and a tile skips those that all of its windows lack: of 3x3 windows of 7x7 pixels that is a sixth of the
// multiplications. Used by the products of floats, of bfloat16, of 16-bit data and of float data beside bytes.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// What runs cost that do not fill tiles.
struct TileCosts
{
    size_t m_Rows = 1;         ///< windows of the highest tile
    size_t m_OfTile = 0;       ///< what a tile takes more than its windows, in windows
    size_t m_ColumnShare = 64; ///< what columns apart must save of the time, as a share of one

    /// On the processor at hand, of tiles with so many windows (none: there are no tiles).
    static TileCosts Find(size_t rows);
};

class PixelOrder
{
public:
    /// As the pixels lie.
    PixelOrder() = default;
    /// Rows and columns whose windows lack points are runs of their own where that saves more than shorter runs cost.
    /// `splitsColumns`: whether columns may be.
    PixelOrder(const Windows& windows, const TileCosts& tiles, bool splitsColumns);

    /// Where the windows of pixels [first, last) of the order have their points, or rows of points, as Windows::Find
    /// and Windows::FindRows say it.
    template <typename T>
    void FindPoints(const Windows& windows, const T* input, size_t first, size_t last, const T* padding,
                    const T** table) const
    {
        ForEachRun(first, last,
                   [&](const PixelRun& run, size_t window)
                   { windows.FindRun(input, run, padding, table + window, last - first); });
    }
    template <typename T>
    void FindRows(const Windows& windows, const T* input, size_t first, size_t last, const T* padding, T* strip,
                  const T** table) const
    {
        ForEachRun(first, last,
                   [&](const PixelRun& run, size_t window)
                   {
                       strip = windows.FindRows(input, run.m_First, run.m_First + run.m_Count, padding, strip,
                                                table + window, last - first);
                   });
    }

    /// Calls body(run, pixels before it) for the runs that pixels [first, last) of the order are.
    template <typename F>
    void ForEachRun(size_t first, size_t last, F&& body) const
    {
        for (size_t place = first; place < last;)
        {
            const PixelRun run = GetRun(place, last);
            body(run, place - first);
            place += run.m_Count;
        }
    }

    /// Whether pixels are taken otherwise than they lie. Those of an image still follow each other.
    bool IsOther() const { return m_Height != 0; }
    /// Whether columns are runs of their own.
    bool SplitsColumns() const { return m_LeftColumns + m_RightColumns != 0; }
    /// Whether loops over one point of so many channels are long enough; with fewer, those over a row of points are
    /// better. These cannot have columns apart.
    bool PrefersPoints(size_t channels) const
    {
        constexpr size_t LongDepth = 96;
        constexpr size_t LongDepthOfColumns = 32;
        return channels >= (SplitsColumns() ? LongDepthOfColumns : LongDepth);
    }
    /// Rows of an output that has gaps between them end where they end in memory.
    void FitTo(const OutputPlace& place)
    {
        if (place.m_Width != 0)
        {
            *this = {};
        }
    }

private:
    /// From place `first` of the order on, up to place `last` at most.
    PixelRun GetRun(size_t first, size_t last) const;

    /// In each image come rows without the columns apart, then these columns.
    size_t m_Height = 0; ///< of the output; 0: all pixels as they lie
    size_t m_Width = 0;
    size_t m_TopRows = 0; ///< that lack points
    size_t m_BottomRows = 0;
    size_t m_LeftColumns = 0; ///< that are runs of their own
    size_t m_RightColumns = 0;
};

} // namespace tenon::cpu
