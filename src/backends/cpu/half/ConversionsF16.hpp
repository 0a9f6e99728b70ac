// SPDX-License-Identifier: Apache-2.0
// How CpuAcc's kernels turn Float16 and BFloat16 into Float32 and back.
#pragma once

#include "backends/reference/kernels/F16AsF32.hpp"

namespace tenon::cpu
{

/// On all threads, by vectors. Precondition: the processor has them, see CpuFeatures.
extern const ref::HalfLoops VectorHalfLoops;

} // namespace tenon::cpu
