// SPDX-License-Identifier: Apache-2.0
// Softmax of a row of int16: exp by ref::SoftmaxTablesInt16's interpolated table, an int64 sum, a fixed-point
// reciprocal. Softmax calls it.
#pragma once

#include "backends/reference/kernels/SoftmaxTablesInt16.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Computes a row of `depth` elements (1 or more). `out` may be `in`.
using SoftmaxFunctionInt16 = void (*)(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth,
                                      int16_t* out);

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
SoftmaxFunctionInt16 FindSoftmaxInt16();

} // namespace tenon::cpu
