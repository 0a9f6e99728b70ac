// SPDX-License-Identifier: Apache-2.0
// Products of float32 by weights that stay as they are, [columns, depth]: dot products. For few rows of data, where the
// time is that of reading the weights once, which takes half as long where they are of 16 bits; and for few columns.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// out[row][column] = bias[column] + sum over k of data[row][k] * weights[column][k]
struct DotsF32
{
    static constexpr size_t Rows = 4; ///< that the loops take together

    const float* m_Data = nullptr;   ///< [rows][depth]
    const void* m_Weights = nullptr; ///< [columns][depth]
    const float* m_Bias = nullptr;   ///< [columns]; null: zeros
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    float* m_Out = nullptr; ///< [rows][outStride]
    size_t m_OutStride = 0;
    DataType m_WeightType = DataType::Float32; ///< or of 16 bits, see ReadsHalves
    /// In place of the data, [taps][tapStep]: where so many parts of the rows lie, of equal depths.
    const float* const* m_Table = nullptr;
    size_t m_Taps = 1;
    size_t m_TapStep = 0;
    /// Where parts lie that are zeros: what all rows of the loops have there is skipped. Null: nothing is.
    const float* m_Zeros = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunDotsF32(const DotsF32& dots);

/// Whether weights of Float16 and BFloat16 may stay as they are: the processor widens them while it reads them.
bool ReadsHalves();

} // namespace tenon::cpu
