// SPDX-License-Identifier: Apache-2.0
// Vector conversions between Float16 or BFloat16 and Float32, for the kernels of this folder.
#pragma once

#include "backends/reference/kernels/F16AsF32.hpp"

namespace tenon::cpu
{

/// Conversions on all threads. Precondition: the processor has vectors, see CpuFeatures.
extern const ref::F16Loops VectorConversionsF16;

} // namespace tenon::cpu
