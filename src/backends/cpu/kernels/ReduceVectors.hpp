// SPDX-License-Identifier: Apache-2.0
// Reductions of columns and rows of matrices, vectorized. Used by Reduce.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[c] = the reduction of in[c], in[c + stride], ... (`rows` of them) for `columns` columns. Sums of integers
/// are int32, all else is of the input's type.
using ReduceFunction = void (*)(const void* in, size_t rows, size_t stride, size_t columns, void* out);

struct ReduceFunctions
{
    /// By [sum, max, min] and [float, int8, uint8, int16]; of columns, and of one column that is contiguous.
    ReduceFunction m_Columns[3][4] = {};
    ReduceFunction m_Row[3][4] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ReduceFunctions& GetReduceFunctions();

} // namespace tenon::cpu
