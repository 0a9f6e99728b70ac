// SPDX-License-Identifier: Apache-2.0
// Places of the largest and smallest elements of rows and columns, vectorized. Used by ArgMinMax.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[r] = the index of the first extreme element of in[r * depth], ..., in[r * depth + depth - 1], for `rows` rows,
/// as the reference kernel finds it: NaN only counts where there is nothing else. `readable`: elements behind `in` that
/// may be read, at least rows * depth.
using ArgRowsFunction = void (*)(const void* in, size_t rows, size_t depth, size_t readable, int32_t* out);

/// out[c] = the same of in[c], in[c + stride], ... (`depth` of them), for `columns` columns.
using ArgColumnsFunction = void (*)(const void* in, size_t depth, size_t stride, size_t columns, int32_t* out);

struct ArgFunctions
{
    /// By [max, min] and [float, int8, uint8].
    ArgRowsFunction m_Rows[2][3] = {};
    ArgColumnsFunction m_Columns[2][3] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ArgFunctions& GetArgFunctions();

} // namespace tenon::cpu
