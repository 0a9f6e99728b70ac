// SPDX-License-Identifier: Apache-2.0
// DotProductsF32: GEMM by unpacked weights [columns][depth], one dot product for each row and column. Used by GemmF32
// for few rows of data (memory-bound: the weights are read once, and F16 or Bf16 weights in half the time) and for few
// columns, and by the batched GEMM of matrices that change from run to run.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// out[row][column] = bias[column] + sum over k of data[row][k] * weights[column][k]
struct DotProductsF32
{
    static constexpr size_t Rows = 4; ///< taken together by the loops

    const float* m_Data = nullptr;   ///< [rows][depth]
    const void* m_Weights = nullptr; ///< [columns][depth]
    const float* m_Bias = nullptr;   ///< [columns]; null: zeros
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    float* m_Out = nullptr; ///< [rows][outStride]
    size_t m_OutStride = 0;
    DataType m_WeightType = DataType::Float32; ///< or Float16, BFloat16, see CanWidenOnLoad
    /// Indirection buffer [taps][tapStep] in place of m_Data: pointers to each row's tap, all of one depth.
    const float* const* m_Indirection = nullptr;
    size_t m_Taps = 1;
    size_t m_TapStep = 0;
    /// Pointer that marks taps in the padding: a tap is skipped where all rows of a step have it. Null: none is
    /// skipped.
    const float* m_Zeros = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunDotProductsF32(const DotProductsF32& dots);

/// Whether weights of Float16 and BFloat16 may stay unpacked: the processor widens them while it loads them.
bool CanWidenOnLoad();

} // namespace tenon::cpu
