// SPDX-License-Identifier: Apache-2.0
// Images of one column as such of one row, which kernels run along. Used by Windows and the depthwise convolutions.
#pragma once

#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <utility>

namespace tenon::cpu
{

/// Whether images, outputs and windows have one column, each the same. `x`: the axis along rows. With padding to the
/// left a stride may leave the windows beside the image, all in zeros, of which packed weights have no more than a row
/// of the window has as it was.
inline bool IsOfOneColumn(const ref::WindowAxis& x)
{
    return x.m_Input == 1 && x.m_Output == 1 && x.m_Kernel == 1 && x.m_Pad == 0;
}

/// An image of one column as one of one row, which lies in memory as it does: tiles are of neighbours in a row.
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
