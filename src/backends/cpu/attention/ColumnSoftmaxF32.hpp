// SPDX-License-Identifier: Apache-2.0
// Softmax along the columns of a block of floats [rows][width]: a lane holds one column, so no step adds across lanes.
//     block[r][c] = exp(beta * (x[r][c] + mask - max over r)) / 2^n,    factors[c] = 1 / sum over r
// Attention and FusedAttentionF32 call it with rows = keys and columns = queries.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

struct ColumnSoftmax
{
    float* m_Block = nullptr; ///< [rows][width]: x, then exp(beta * (x - maximum of the column)) / 2^m_Log2Divisor
    size_t m_Rows = 0;
    size_t m_Width = 0;                   ///< columns, a multiple of the lanes
    const float* m_RowMask = nullptr;     ///< [rows]: added to each x of a row; null: no such mask
    const float* m_ElementMask = nullptr; ///< [rows][width]: added to each x; null: no such mask
    float m_Beta = 1.0f;                  ///< above 0
    int m_Log2Divisor = 0;                ///< 64 at most
    bool m_MayMaskColumns = false;        ///< whether a whole column of x may be -infinity; its exponentials are zeros
    float* m_Factors = nullptr;           ///< [width], output: 1 / the sum of the column
};

struct AttentionFunctions
{
    void (*m_Softmax)(const ColumnSoftmax& softmax) = nullptr;
    /// block[row][column] *= factors[column]
    void (*m_Scale)(float* block, size_t rows, size_t width, const float* factors) = nullptr;
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const AttentionFunctions& GetAttentionFunctions();

} // namespace tenon::cpu
