// SPDX-License-Identifier: Apache-2.0
// See Float16.hpp.
#include "tools/common/Float16.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tenon::tools
{

float HalfToFloat(uint16_t bits)
{
    const int exponent = (bits >> 10) & 0x1F;
    const int mantissa = bits & 0x3FF;
    const float sign = (bits & 0x8000U) != 0 ? -1.0f : 1.0f;
    if (exponent == 0x1F)
    {
        return mantissa != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
    }
    if (exponent == 0)
    {
        return sign * std::ldexp(static_cast<float>(mantissa), -24);
    }
    return sign * std::ldexp(static_cast<float>(mantissa + 0x400), exponent - 25);
}

uint16_t FloatToHalf(float value)
{
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000U : 0U);
    if (std::isnan(value))
    {
        return static_cast<uint16_t>(sign | 0x7E00U);
    }
    const float magnitude = std::fabs(value);
    if (magnitude >= 65520.0f) // halfway between the largest half and the next power of two
    {
        return static_cast<uint16_t>(sign | 0x7C00U);
    }
    // In units of the last place of the half; below 2^-14 halves are spaced 2^-24 apart.
    const int exponent = magnitude > 0.0f ? std::max(std::ilogb(magnitude), -14) : -14;
    const auto units = static_cast<unsigned int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    // A normal number's units have bit 10 set, which adds 1 to the exponent field; so does rounding up to the next
    // power.
    return static_cast<uint16_t>(sign | ((static_cast<unsigned int>(exponent + 14) << 10) + units));
}

float BFloat16ToFloat(uint16_t bits)
{
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t FloatToBFloat16(float value)
{
    const auto bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value))
    {
        return static_cast<uint16_t>((bits >> 16) | 0x40U);
    }
    return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

} // namespace tenon::tools
