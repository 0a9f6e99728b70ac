// SPDX-License-Identifier: Apache-2.0
// Reductions with SIMD: columns (vectors go along columns, out[c] = op over r of in[r][c]) and rows (vectors go along
// the elements, several short rows at a time). Reduce calls them, and DetectionPostProcess the maxima of columns.
#pragma once

#include "backends/reference/kernels/Reduce.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[c] = the reduction of in[c], in[c + stride], ... (`rows` elements) for `columns` columns. Sums of integers are
/// int32 and must fit it, see MaxRowsOfSum; all other results are of the input's type.
using ReduceFunction = void (*)(const void* in, size_t rows, size_t stride, size_t columns, void* out);

/// out[row] = the reduction of a row of `length` elements, for `rows` contiguous rows. The result of a row does not
/// depend on the rows that are reduced with it.
using ReduceRowsFunction = void (*)(const void* in, size_t rows, size_t length, void* out);

/// The number of quantized elements whose sum is below 2^30 for any values: an element less its zero point is no more
/// than the number of values of its type.
inline size_t MaxRowsOfSum(DataType type)
{
    return (size_t{1} << 30) >> (8 * GetDataTypeSize(type));
}

/// out[i] = rescale of sums[i], where a sum is of at most MaxRowsOfSum elements. Rescale: ref::SumRescale or
/// ref::HalfEvenMean.
template <typename Rescale>
using RescaleSums = void (*)(const Rescale& rescale, const int32_t* sums, size_t count, void* out);

struct ReduceFunctions
{
    /// Indexed by [sum, max, min, any, all, product] and [float, int8, uint8 or Boolean, int16], for columns and for
    /// rows. Any and all exist for Booleans only, and Booleans have nothing else. Products exist for floats only.
    ReduceFunction m_Columns[6][4] = {};
    ReduceRowsFunction m_Rows[6][4] = {};
    RescaleSums<ref::SumRescale> m_Rescale[4] = {}; ///< indexed by type; null for float
    RescaleSums<ref::HalfEvenMean> m_RescaleHalfEven[4] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ReduceFunctions& GetReduceFunctions();
/// Sets m_Columns (ReduceColumns.cpp). Called by GetReduceFunctions (ReduceRows.cpp).
void SetReduceColumns(ReduceFunctions& functions);

} // namespace tenon::cpu
