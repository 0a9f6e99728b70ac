// SPDX-License-Identifier: Apache-2.0
// Sums of rows up to each of their elements, of several rows side by side. Used by CumSum.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// out[i] = the sum of a row's elements up to in[i], added up in order: `rows` rows of `length` elements, one at least.
/// Exclusive: but for in[i] itself; reverse: from the end of the row on. Integers wrap. `out` may be `in`.
using CumSumFunction = void (*)(const void* in, void* out, size_t rows, size_t length, bool exclusive, bool reverse);

/// Of Float32, Float64, Signed32 or Signed64 and rows of this length, for the processor at hand. Long sums of Float32
/// run in double precision, see ref::IsCumSumInDouble. Precondition: the processor has vectors, see CpuFeatures.
CumSumFunction FindCumSum(DataType type, size_t length);

} // namespace tenon::cpu
