// SPDX-License-Identifier: Apache-2.0
// Which rows and columns of a convolution's output are apart.
#include "backends/cpu/gemm/windows/PixelOrder.hpp"

#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <algorithm>

namespace tenon::cpu
{

namespace
{

/// Shorter runs do not fill tiles.
constexpr size_t LeastRun = 4;
/// Of the multiplications, as shares of one: what rows and what columns apart must save. Those of columns end runs in
/// every row.
constexpr size_t LeastRowShare = 256;
constexpr size_t LeastColumnShare = 64;

/// The positions along an axis of the output whose windows lack points.
struct Border
{
    size_t m_Before = 0;
    size_t m_After = 0;
    size_t m_Points = 0; ///< that they lack together
};

Border FindBorder(const ref::WindowAxis& axis)
{
    Border border;
    if (axis.m_Output == 0 ||
        (axis.FirstTap(axis.Origin(0)) == 0 && axis.EndTap(axis.Origin(axis.m_Output - 1)) == axis.m_Kernel))
    {
        return border; // at once: products of matrices have millions of rows
    }
    size_t whole = 0;
    for (size_t i = 0; i < axis.m_Output; ++i)
    {
        const int64_t origin = axis.Origin(i);
        const size_t lacking = axis.m_Kernel - (axis.EndTap(origin) - axis.FirstTap(origin));
        border.m_Points += lacking;
        whole += lacking == 0 ? 1 : 0;
        border.m_Before += lacking != 0 && whole == 0 ? 1 : 0;
    }
    border.m_After = axis.m_Output - whole - border.m_Before;
    return border;
}

} // namespace

PixelOrder::PixelOrder(const Windows& windows, bool splitsColumns)
{
    const ref::WindowAxis y = windows.GetAxisY();
    const ref::WindowAxis x = windows.GetAxisX();
    const Border rows = FindBorder(y);
    const Border columns = FindBorder(x);
    const bool areColumnsApart =
        splitsColumns && y.m_Output >= LeastRun && columns.m_Points * LeastColumnShare > x.m_Output * x.m_Kernel;
    const bool areRowsApart = x.m_Output >= LeastRun && rows.m_Points * LeastRowShare > y.m_Output * y.m_Kernel;
    if (!areColumnsApart && !areRowsApart)
    {
        return;
    }
    m_Height = y.m_Output;
    m_Width = x.m_Output;
    m_TopRows = rows.m_Before;
    m_BottomRows = rows.m_After;
    if (areColumnsApart)
    {
        m_LeftColumns = columns.m_Before;
        m_RightColumns = columns.m_After;
        if (m_Width - m_LeftColumns - m_RightColumns < LeastRun)
        {
            m_LeftColumns = m_Width - m_RightColumns; // what is left of rows is too short
        }
    }
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
        run.m_LacksPoints = row < m_TopRows || row >= m_Height - m_BottomRows;
        // Rows without columns apart follow each other.
        const size_t endRow = run.m_LacksPoints || SplitsColumns() ? row + 1 : m_Height - m_BottomRows;
        run.m_Count = endRow * rowLength - place;
        column += m_LeftColumns;
    }
    else
    {
        const size_t apart = (place - m_Height * rowLength) / m_Height;
        row = (place - m_Height * rowLength) % m_Height;
        column = apart < m_LeftColumns ? apart : rowLength + apart;
        run.m_LacksPoints = true;
        run.m_Count = m_Height - row;
        run.m_Step = m_Width;
    }
    run.m_First = (image * m_Height + row) * m_Width + column;
    run.m_Count = std::min(run.m_Count, last - first);
    return run;
}

} // namespace tenon::cpu
