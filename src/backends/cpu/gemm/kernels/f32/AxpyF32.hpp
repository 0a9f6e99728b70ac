// SPDX-License-Identifier: Apache-2.0
// Products of a few rows of float32 by a matrix that lies as [depth, columns] and is read once, as it is: sums of its
// rows.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// out[row][column] = sum over k of data[row][k] * weights[k][column]
struct SumsF32
{
    const float* m_Data = nullptr; ///< an element for each row and step of the depth
    size_t m_RowStep = 0;          ///< floats from one row's to the next one's
    size_t m_DepthStep = 0;
    const float* m_Weights = nullptr; ///< [depth][columns]
    size_t m_WeightStride = 0;        ///< floats from one step of the depth to the next
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    float* m_Out = nullptr; ///< [rows][columns]
    size_t m_OutStride = 0;
    bool m_Continues = false; ///< the output holds sums that these go on with

    static constexpr size_t MostRows = 4;
};

/// Preconditions: the processor has vectors, see CpuFeatures; at most MostRows rows.
void RunSumsF32(const SumsF32& sums);

/// More rows, by a matrix that is larger than caches: it is read once, as some of its rows are in the second cache
/// while all rows of the data pass. Precondition: TakesManyRows(sums.m_Rows, sums.m_Columns, sums.m_Depth).
void RunSumsOfManyRows(const SumsF32& sums);
/// Whether the matrix is so large and the rows so few that packing it is not worth its time and memory.
bool TakesManyRows(size_t rows, size_t columns, size_t depth);

} // namespace tenon::cpu
