// SPDX-License-Identifier: Apache-2.0
// PixelOrder: the order in which a GEMM computes the output pixels of a convolution. Border windows have taps in the
// padding, and a tile skips a tap if all of its windows have it there. Border rows and columns therefore become runs of
// their own: that saves a sixth of the multiplications of 3x3 windows on 7x7 pixels. Used by GemmF32, GemmBf16,
// GemmInt16 and hybrid GemmInt8.
#pragma once

#include "backends/cpu/im2col/Im2col.hpp"

#include <cstddef>

namespace tenon::cpu
{

/// Cost of runs that do not fill tiles.
struct TileCosts
{
    size_t m_Rows = 1;         ///< windows of the highest tile
    size_t m_OfTile = 0;       ///< cost of a tile beyond its windows, in windows
    size_t m_ColumnShare = 64; ///< border columns must save more than 1 / m_ColumnShare of the time

    /// The costs on this processor, for tiles of `rows` windows (0: there are no tiles).
    static TileCosts Find(size_t rows);
};

class PixelOrder
{
public:
    /// The order in memory.
    PixelOrder() = default;
    /// Border rows and columns become runs of their own where skipped taps save more than shorter runs cost.
    /// `hasSplitColumns`: whether columns may.
    PixelOrder(const Im2col& windows, const TileCosts& tiles, bool hasSplitColumns);

    /// Fills the indirection buffer for pixels [first, last) of the order, by taps or by rows of taps, as
    /// Im2col::Find and Im2col::FindRows do.
    template <typename T>
    void FindTaps(const Im2col& windows, const T* input, size_t first, size_t last, const T* padding,
                  const T** table) const
    {
        ForEachRun(first, last,
                   [&](const PixelRun& run, size_t window)
                   { windows.FindRunTaps(input, run, padding, table + window, last - first); });
    }
    template <typename T>
    void FindRows(const Im2col& windows, const T* input, size_t first, size_t last, const T* padding, T* strip,
                  const T** table) const
    {
        ForEachRun(first, last,
                   [&](const PixelRun& run, size_t window)
                   {
                       strip = windows.FindRows(input, run.m_First, run.m_First + run.m_Count, padding, strip,
                                                table + window, last - first);
                   });
    }

    /// Calls body(run, number of pixels before it) for the runs of pixels [first, last) of the order.
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

    /// Whether the order differs from the order in memory. Images stay contiguous.
    bool IsReordered() const { return m_Height != 0; }
    /// Whether border columns are runs of their own.
    bool HasSplitColumns() const { return m_LeftColumns + m_RightColumns != 0; }
    /// Whether loops over one tap of `channels` channels are long enough; with fewer channels, loops over a row of taps
    /// are better, which exclude separate border columns.
    bool PrefersTaps(size_t channels) const
    {
        constexpr size_t LongDepth = 96;
        constexpr size_t LongDepthOfColumns = 32;
        return channels >= (HasSplitColumns() ? LongDepthOfColumns : LongDepth);
    }
    /// For an output with gaps between rows: runs end at the end of a row.
    void FitTo(const OutputLayout& place)
    {
        if (place.m_Width != 0)
        {
            *this = {};
        }
    }

private:
    /// The run from position `first` of the order on, up to position `last` at most.
    PixelRun GetRun(size_t first, size_t last) const;

    /// Order within an image: the rows without the border columns, then the border columns.
    size_t m_Height = 0; ///< of the output; 0: the order in memory
    size_t m_Width = 0;
    size_t m_TopRows = 0; ///< with taps in the padding
    size_t m_BottomRows = 0;
    size_t m_LeftColumns = 0; ///< runs of their own
    size_t m_RightColumns = 0;
};

} // namespace tenon::cpu
