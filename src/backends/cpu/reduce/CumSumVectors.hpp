// SPDX-License-Identifier: Apache-2.0
// Cumulative sums of rows in the order of their elements, bit for bit as the reference kernel. A sum waits for the one
// before, so four rows run in the lanes of a vector; blocks of 16 bytes are transposed when loaded and stored. CumSum
// calls it.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// out[i] = the sum of a row's elements up to in[i], added in order, for `rows` rows of `length` elements (1 or more).
/// Exclusive: without in[i]; reverse: from the last element to the first. Integers wrap. `out` may be `in`.
using CumSumFunction = void (*)(const void* in, void* out, size_t rows, size_t length, bool exclusive, bool reverse);

/// The function for Float32, Float64, Signed32 or Signed64 and rows of this length, for the processor at hand. Long
/// sums of Float32 are in double precision, see ref::IsCumSumInDouble. Precondition: the processor has vectors, see
/// CpuFeatures.
CumSumFunction FindCumSum(DataType type, size_t length);

} // namespace tenon::cpu
