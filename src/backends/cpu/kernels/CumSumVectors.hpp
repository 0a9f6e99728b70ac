// SPDX-License-Identifier: Apache-2.0
// Sums of rows up to each of their elements, of several rows side by side. Used by CumSum.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// out[i] = the sum of a row's elements up to in[i], added up in order: `rows` rows of `length` elements, one at least.
/// Exclusive: but for in[i] itself; reverse: from the end of the row on. Integers wrap, Float32 is added up in double
/// precision. `out` may be `in`.
using CumSumFunction = void (*)(const void* in, void* out, size_t rows, size_t length, bool exclusive, bool reverse);

/// The same along another axis: `depth` lines of `inner` floats. `sums`: memory for `inner` numbers.
using CumSumLinesFunction = void (*)(const float* in, float* out, size_t depth, size_t inner, bool exclusive,
                                     bool reverse, double* sums);

/// Precondition: the processor has vectors, see CpuFeatures.
CumSumLinesFunction FindCumSumLines();

/// Of Float32, Float64, Signed32 or Signed64, for the processor at hand. Precondition: it has vectors, see CpuFeatures.
CumSumFunction FindCumSum(DataType type);

} // namespace tenon::cpu
