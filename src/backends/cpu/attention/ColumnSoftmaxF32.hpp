// SPDX-License-Identifier: Apache-2.0
// Softmax of the columns of a block of floats that is a few vectors wide: each lane is a row of an attention's scores,
// so that nothing is added up across lanes. Used by AttentionF32 and Attention.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

struct ColumnSoftmax
{
    float* m_Block = nullptr; ///< [rows][width]: x, then exp(beta * (x - the largest x of the column)) / 2^halvings
    size_t m_Rows = 0;
    size_t m_Width = 0;                ///< whole vectors
    const float* m_RowTerms = nullptr; ///< [rows], of rows' numbers: added to x before; null: nothing is
    const float* m_Terms = nullptr;    ///< [rows][width], the same of each number
    float m_Beta = 1.0f;               ///< above 0
    int m_Halvings = 0;                ///< 64 at most
    bool m_MayHide = false;            ///< whether x may be -infinity in a whole column, which then becomes zeros
    float* m_Factors = nullptr;        ///< [width]: gets 1 / the sum of the column
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
