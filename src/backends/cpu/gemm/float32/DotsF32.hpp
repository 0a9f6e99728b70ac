// SPDX-License-Identifier: Apache-2.0
// Products of float32 by weights that stay as they are, [columns, depth]: dot products. For few rows of data, where the
// time is that of reading the weights once.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// out[row][column] = bias[column] + sum over k of data[row][k] * weights[column][k]
struct DotsF32
{
    const float* m_Data = nullptr;    ///< [rows][depth]
    const float* m_Weights = nullptr; ///< [columns][depth]
    const float* m_Bias = nullptr;    ///< [columns]; null: zeros
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    float* m_Out = nullptr; ///< [rows][outStride]
    size_t m_OutStride = 0;
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunDotsF32(const DotsF32& dots);

} // namespace tenon::cpu
