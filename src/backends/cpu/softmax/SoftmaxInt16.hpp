// SPDX-License-Identifier: Apache-2.0
// Rows of softmaxes of 16-bit quantized numbers, vectorized. Used by Softmax.
#pragma once

#include "backends/reference/kernels/SoftmaxTablesInt16.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// A row of `depth` elements, at least one. `out` may be `in`.
using ShortSoftmaxFunction = void (*)(const ref::ShortSoftmax& softmax, const int16_t* in, size_t depth, int16_t* out);

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
ShortSoftmaxFunction FindShortSoftmax();

} // namespace tenon::cpu
