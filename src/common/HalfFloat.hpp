// SPDX-License-Identifier: Apache-2.0
// The 16-bit floating-point formats as bit patterns: Float16 (IEEE 754 binary16) and BFloat16 (the upper half of a
// Float32). For the parts that handle single tensors; kernels use Eigen's types.
#pragma once

#include <cstdint>

namespace tenon
{

float HalfToFloat(uint16_t bits);
/// Rounds to nearest, ties to even; beyond the range to infinity. NaN becomes a quiet NaN.
uint16_t FloatToHalf(float value);

float BFloat16ToFloat(uint16_t bits);
/// Rounds as FloatToHalf does.
uint16_t FloatToBFloat16(float value);

} // namespace tenon
