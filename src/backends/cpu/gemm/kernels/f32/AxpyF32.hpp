// SPDX-License-Identifier: Apache-2.0
// AxpyF32: GEMM of a few rows by an unpacked matrix [depth][columns], in axpy form: each step of the depth adds a
// multiple of a row of the matrix to the output rows. The matrix is read once. Used for matrices that change from run
// to run and by the recurrent layers.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// out[row][column] = sum over k of data[row][k] * weights[k][column]
struct AxpyF32
{
    const float* m_Data = nullptr; ///< element of row r at step k: r * m_RowStep + k * m_DepthStep
    size_t m_RowStep = 0;          ///< floats between rows of data
    size_t m_DepthStep = 0;
    const float* m_Weights = nullptr; ///< [depth][columns]
    size_t m_WeightStride = 0;        ///< floats between steps of the depth
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    float* m_Out = nullptr; ///< [rows][columns]
    size_t m_OutStride = 0;
    bool m_Accumulates = false; ///< out += the products, instead of out =

    static constexpr size_t MaxRows = 4;
};

/// Preconditions: the processor has vectors, see CpuFeatures; at most MaxRows rows.
void RunAxpyF32(const AxpyF32& sums);

/// Up to eight rows by a matrix larger than the caches. The depth is cut into slices of 256 KiB that stay in the
/// second-level cache while all rows of data pass, so the matrix is read from memory once. Precondition:
/// IsBlockedAxpyFaster(sums.m_Rows, sums.m_Columns, sums.m_Depth).
void RunBlockedAxpyF32(const AxpyF32& sums);
/// Whether the matrix is so large and the rows so few that packing it is not worth its time and memory.
bool IsBlockedAxpyFaster(size_t rows, size_t columns, size_t depth);

} // namespace tenon::cpu
