// SPDX-License-Identifier: Apache-2.0
// How many products CpuAcc's float kernels add up before a partial sum begins anew. docs/numerics.md states the bound.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// The rounding error of a float sum grows with its length: to MaxSumDepth * 2^-24 of the sum of magnitudes.
constexpr size_t MaxSumDepth = 8192;

} // namespace tenon::cpu
