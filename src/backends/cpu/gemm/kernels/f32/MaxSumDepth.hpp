// SPDX-License-Identifier: Apache-2.0
// MaxSumDepth: length of a partial sum in CpuAcc's float kernels (blocked summation). docs/numerics.md states the
// bound.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// The rounding error of a float sum grows with its length: to MaxSumDepth * 2^-24 of the sum of magnitudes.
constexpr size_t MaxSumDepth = 8192;

} // namespace tenon::cpu
