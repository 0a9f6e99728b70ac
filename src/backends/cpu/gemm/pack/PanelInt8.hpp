// SPDX-License-Identifier: Apache-2.0
// Partition of the columns of an int8 GEMM into panels.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tenon::cpu
{

/// A panel: nr = vectors * lanes neighbouring columns (output channels) whose weights are packed together.
struct PanelInt8
{
    size_t m_Column = 0;  ///< the first column
    size_t m_Columns = 0; ///< without padding; the rest of the last vector is zeros
    size_t m_Vectors = 0;
    size_t m_Offset = 0;       ///< bytes from the start of the packed weights
    size_t m_Matrix = 0;       ///< group of a convolution
    size_t m_PaddedColumn = 0; ///< index of the first column in arrays that have whole vectors for each matrix
};

/// Index of a column in arrays that have whole vectors for each matrix.
inline size_t GetPaddedColumnInt8(size_t column, size_t columns, size_t lanes, size_t matrices)
{
    const size_t ofMatrix = columns / matrices;
    return column / ofMatrix * DivideUp(ofMatrix, lanes) * lanes + column % ofMatrix;
}

/// Cuts the columns of each matrix into panels for these microkernels. The caller sets the offsets.
inline std::vector<PanelInt8> CutPanelsInt8(size_t columns, size_t lanes, const MicrokernelSetInt8& tiles,
                                            size_t matrices = 1)
{
    std::vector<PanelInt8> panels;
    for (size_t column = 0; column < columns;)
    {
        const size_t matrix = column * matrices / columns;
        const size_t end = (matrix + 1) * (columns / matrices);
        const size_t left = DivideUp(end - column, lanes);
        size_t vectors = std::min(left, tiles.m_Vectors);
        if (left == tiles.m_Vectors + 1 && left >= 5 && tiles.m_RowUnit == 1)
        {
            vectors = left - 2; // a single vector at the end would make a slow panel
        }
        panels.push_back({column, std::min(vectors * lanes, end - column), vectors, 0, matrix,
                          GetPaddedColumnInt8(column, columns, lanes, matrices)});
        column += panels.back().m_Columns;
    }
    return panels;
}

} // namespace tenon::cpu
