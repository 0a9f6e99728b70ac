// SPDX-License-Identifier: Apache-2.0
// The 16-bit floating-point formats as bit patterns: Float16 (IEEE 754 binary16) and BFloat16 (the upper half of a
// Float32). For the parts that handle single tensors; kernels use Eigen's types.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tenon
{

float HalfToFloat(uint16_t bits);
/// Rounds to nearest, ties to even; beyond the range to infinity. NaN becomes a quiet NaN.
uint16_t FloatToHalf(float value);
/// The same for arrays, several elements at a time.
void HalvesToFloats(const uint16_t* halves, size_t count, float* floats);
void FloatsToHalves(const float* floats, size_t count, uint16_t* halves);

inline float BFloat16ToFloat(uint16_t bits)
{
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Rounds as FloatToHalf does. Here for loops over weights, which compilers then make vectors of.
inline uint16_t FloatToBFloat16(float value)
{
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const bool isNaN = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    return static_cast<uint16_t>(isNaN ? (bits >> 16) | 0x40U : rounded);
}

} // namespace tenon
