// SPDX-License-Identifier: Apache-2.0
// PixelOrder: decides which border rows and columns of the output become runs of their own.
#include "backends/cpu/im2col/PixelOrder.hpp"

#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

/// Shorter runs do not fill tiles.
constexpr size_t MinRun = 4;
/// Border rows as runs of their own must save more than 1 / MinRowShare of the time.
constexpr size_t MinRowShare = 256;

/// The positions along an axis of the output whose windows have taps in the padding.
struct Border
{
    size_t m_Before = 0;
    size_t m_After = 0;
    size_t m_MissingTaps = 0; ///< missing taps, all positions together
};

Border FindBorder(const ref::WindowAxis& axis)
{
    Border border;
    if (axis.m_Output == 0 ||
        (axis.FirstTap(axis.Origin(0)) == 0 && axis.EndTap(axis.Origin(axis.m_Output - 1)) == axis.m_Kernel))
    {
        return border; // early: matrices have millions of rows
    }
    size_t whole = 0;
    for (size_t i = 0; i < axis.m_Output; ++i)
    {
        const int64_t origin = axis.Origin(i);
        const size_t lacking = axis.m_Kernel - (axis.EndTap(origin) - axis.FirstTap(origin));
        border.m_MissingTaps += lacking;
        whole += lacking == 0 ? 1 : 0;
        border.m_Before += lacking != 0 && whole == 0 ? 1 : 0;
    }
    border.m_After = axis.m_Output - whole - border.m_Before;
    return border;
}

} // namespace

TileCosts TileCosts::Find(size_t rows)
{
    // Tiles of fewer rows load more for each multiply-add. With few registers, loads take as long as multiply-adds, and
    // longer where another thread shares the core. Measured on Zen 3, 12x12 output with 3x3 kernels, as rows of ten and
    // border columns: 0.95 of the time when the core is not shared, 1.2 when it is.
    TileCosts costs;
    costs.m_Rows = std::max<size_t>(rows, 1);
    if (!HasManyRegisters())
    {
        costs.m_OfTile = 1;
        costs.m_ColumnShare = 36;
    }
    return costs;
}

PixelOrder::PixelOrder(const Im2col& windows, const TileCosts& tiles, bool hasSplitColumns)
{
    const ref::WindowAxis y = windows.GetAxisY();
    const ref::WindowAxis x = windows.GetAxisX();
    const Border rows = FindBorder(y);
    const Border columns = FindBorder(x);
    const bool mayRows = rows.m_MissingTaps != 0 && x.m_Output >= MinRun;
    const bool mayColumns = hasSplitColumns && columns.m_MissingTaps != 0 && y.m_Output >= MinRun;
    if (!mayRows && !mayColumns)
    {
        return;
    }
    // Unit of time: the products of one tap of a window.
    const auto ofRun = [&tiles](size_t count) { return count + DivideUp(count, tiles.m_Rows) * tiles.m_OfTile; };
    const size_t edges = rows.m_Before + rows.m_After;
    const size_t edgeTaps = edges * y.m_Kernel - rows.m_MissingTaps; // taps along y of all border rows
    const size_t inner = (y.m_Output - edges) * y.m_Kernel;
    const auto withRows = [&](size_t length)
    { return (ofRun((y.m_Output - edges) * length) * y.m_Kernel + ofRun(length) * edgeTaps) * x.m_Kernel; };
    const size_t asTheyLie = ofRun(y.m_Output * x.m_Output) * y.m_Kernel * x.m_Kernel;
    const bool isSplitByRows = mayRows && asTheyLie - asTheyLie / MinRowShare > withRows(x.m_Output);
    const size_t withoutColumns = isSplitByRows ? withRows(x.m_Output) : asTheyLie;

    size_t left = columns.m_Before;
    const size_t right = columns.m_After;
    size_t length = x.m_Output - left - right;
    if (length < MinRun)
    {
        left += length; // the inner part of the rows is too short
        length = 0;
    }
    const size_t columnTaps = (left + right) * x.m_Kernel - columns.m_MissingTaps;
    const size_t withColumns =
        ofRun(length) * (inner + edgeTaps) * x.m_Kernel + ofRun(y.m_Output) * y.m_Kernel * columnTaps;
    const bool isSplitByColumns = mayColumns && withoutColumns - withoutColumns / tiles.m_ColumnShare > withColumns;
    if (!isSplitByColumns && !isSplitByRows)
    {
        return;
    }
    m_Height = y.m_Output;
    m_Width = x.m_Output;
    m_TopRows = rows.m_Before;
    m_BottomRows = rows.m_After;
    m_LeftColumns = isSplitByColumns ? left : 0;
    m_RightColumns = isSplitByColumns ? right : 0;
}

PixelRun PixelOrder::GetRun(size_t first, size_t last) const
{
    if (m_Height == 0)
    {
        return {first, 1, last - first, false};
    }
    const size_t image = first / (m_Height * m_Width);
    const size_t place = first % (m_Height * m_Width);
    const size_t rowLength = m_Width - m_LeftColumns - m_RightColumns;
    PixelRun run;
    size_t row = 0;
    size_t column = 0;
    if (place < m_Height * rowLength)
    {
        row = place / rowLength;
        column = place % rowLength;
        run.m_LacksTaps = row < m_TopRows || row >= m_Height - m_BottomRows;
        // Rows without separate border columns are contiguous.
        const size_t endRow = run.m_LacksTaps || HasSplitColumns() ? row + 1 : m_Height - m_BottomRows;
        run.m_Count = endRow * rowLength - place;
        column += m_LeftColumns;
    }
    else
    {
        const size_t apart = (place - m_Height * rowLength) / m_Height;
        row = (place - m_Height * rowLength) % m_Height;
        column = apart < m_LeftColumns ? apart : rowLength + apart;
        run.m_LacksTaps = true;
        run.m_Count = m_Height - row;
        run.m_Step = m_Width;
    }
    run.m_First = (image * m_Height + row) * m_Width + column;
    run.m_Count = std::min(run.m_Count, last - first);
    return run;
}

} // namespace tenon::cpu
