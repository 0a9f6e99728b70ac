// SPDX-License-Identifier: Apache-2.0
// Reductions of columns and rows of matrices, vectorized. Used by Reduce.
#pragma once

#include "backends/reference/kernels/Reduce.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[c] = the reduction of in[c], in[c + stride], ... (`rows` of them) for `columns` columns. Sums of integers
/// are int32, which they must fit, see MostRowsOfSum; all else is of the input's type.
using ReduceFunction = void (*)(const void* in, size_t rows, size_t stride, size_t columns, void* out);

/// out[row] = the reduction of a row of `length` elements, for `rows` of them one after the other. A row's result does
/// not depend on which ones are reduced with it.
using ReduceRowsFunction = void (*)(const void* in, size_t rows, size_t length, void* out);

/// How many elements of quantized tensors have a sum of less than 2^30, whatever they are: one less their zero point is
/// no more than a type has values.
inline size_t MostRowsOfSum(DataType type)
{
    return (size_t{1} << 30) >> (8 * GetDataTypeSize(type));
}

/// out[i] = rescale of sums[i], of at most MostRowsOfSum elements.
using RescaleSums = void (*)(const ref::SumRescale& rescale, const int32_t* sums, size_t count, void* out);

struct ReduceFunctions
{
    /// By [sum, max, min, any, all, product] and [float, int8, uint8 or Boolean, int16]; of columns, and of rows. Any
    /// and all are of Booleans, which nothing else is of. Products are of floats.
    ReduceFunction m_Columns[6][4] = {};
    ReduceRowsFunction m_Rows[6][4] = {};
    RescaleSums m_Rescale[4] = {}; ///< by type, none for float
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ReduceFunctions& GetReduceFunctions();

} // namespace tenon::cpu
