// SPDX-License-Identifier: Apache-2.0
// ColumnAsRow: images of one column are taken as images of one row, because kernels run along rows. Used by Im2col and
// the depthwise convolutions.
#pragma once

#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <utility>

namespace tenon::cpu
{

/// Whether images, outputs and windows have one column. `x`: the axis along rows. Padding to the left is excluded: with
/// a stride, windows could then lie entirely in the padding, for which the packed weights have too few zeros.
inline bool IsOfOneColumn(const ref::WindowAxis& x)
{
    return x.m_Input == 1 && x.m_Output == 1 && x.m_Kernel == 1 && x.m_Pad == 0;
}

/// Swaps the axes of an image of one column. The memory layout is the same, and tiles then cover neighbours in a row.
inline void LayColumnAsRow(ref::WindowAxis& y, ref::WindowAxis& x)
{
    if (IsOfOneColumn(x))
    {
        std::swap(y, x);
    }
}
inline ref::ConvolutionGeometry LayColumnAsRow(ref::ConvolutionGeometry g)
{
    LayColumnAsRow(g.m_Y, g.m_X);
    return g;
}

} // namespace tenon::cpu
