// SPDX-License-Identifier: Apache-2.0
// Images of one column as such of one row, which kernels run along. Used by the depthwise convolutions.
#pragma once

#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <utility>

namespace tenon::cpu
{

inline bool IsOfOneColumn(const ref::ConvolutionGeometry& g)
{
    return g.m_X.m_Input == 1 && g.m_X.m_Output == 1 && g.m_X.m_Kernel == 1;
}

/// An image of one column as one of one row, which lies in memory as it does: tiles are of neighbours in a row.
inline ref::ConvolutionGeometry LayColumnAsRow(ref::ConvolutionGeometry g)
{
    if (IsOfOneColumn(g))
    {
        std::swap(g.m_X, g.m_Y);
    }
    return g;
}

} // namespace tenon::cpu
