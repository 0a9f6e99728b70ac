// SPDX-License-Identifier: Apache-2.0
// Softmax of a row of int16: exp by ref::ShortSoftmax's interpolated table, an int64 sum, a fixed-point reciprocal.
// Softmax calls it.
#pragma once

#include "backends/reference/kernels/SoftmaxTablesInt16.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Computes a row of `depth` elements (1 or more). `out` may be `in`.
using ShortSoftmaxFunction = void (*)(const ref::ShortSoftmax& softmax, const int16_t* in, size_t depth, int16_t* out);

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
ShortSoftmaxFunction FindShortSoftmax();

} // namespace tenon::cpu
