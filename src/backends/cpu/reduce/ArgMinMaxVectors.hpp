// SPDX-License-Identifier: Apache-2.0
// Indices of the first largest or smallest element of rows and columns. ArgMinMax calls them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[r] = the index of the first extreme element of in[r * depth], ..., in[r * depth + depth - 1], for `rows` rows,
/// as the reference kernel finds it: NaN counts only if the row has nothing else. `readable`: elements from `in` on
/// that may be read, no fewer than rows * depth.
using ArgRowsFunction = void (*)(const void* in, size_t rows, size_t depth, size_t readable, int32_t* out);

/// out[c] = the same for in[c], in[c + stride], ... (`depth` elements), for `columns` columns.
using ArgColumnsFunction = void (*)(const void* in, size_t depth, size_t stride, size_t columns, int32_t* out);

struct ArgFunctions
{
    /// Indexed by [max, min] and [float, int8, uint8].
    ArgRowsFunction m_Rows[2][3] = {};
    ArgColumnsFunction m_Columns[2][3] = {};
};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ArgFunctions& GetArgFunctions();

} // namespace tenon::cpu
