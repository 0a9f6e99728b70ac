// SPDX-License-Identifier: Apache-2.0
// See HalfFloat.hpp.
#include "common/HalfFloat.hpp"

namespace tenon
{

namespace
{

constexpr uint32_t Infinity = 0x7F800000;

uint32_t MagnitudeBits(float value)
{
    return std::bit_cast<uint32_t>(value) & 0x7FFFFFFF;
}

} // namespace

float HalfToFloat(uint16_t bits)
{
    const uint32_t sign = (bits & 0x8000U) << 16;
    const uint32_t magnitude = bits & 0x7FFFU;
    if (magnitude >= 0x7C00) // infinity and NaN
    {
        return std::bit_cast<float>(sign | Infinity | ((magnitude & 0x3FFU) << 13));
    }
    if (magnitude < 0x400) // subnormal: a multiple of 2^-24
    {
        const float value = static_cast<float>(magnitude) * 0x1p-24f;
        return sign != 0 ? -value : value;
    }
    return std::bit_cast<float>(sign | ((magnitude << 13) + (112U << 23))); // the exponents' biases are 15 and 127
}

uint16_t FloatToHalf(float value)
{
    const auto sign = static_cast<uint16_t>((std::bit_cast<uint32_t>(value) >> 16) & 0x8000U);
    const uint32_t magnitude = MagnitudeBits(value);
    uint32_t rounded = 0;
    if (magnitude > Infinity)
    {
        rounded = 0x7E00;
    }
    else if (magnitude >= 0x477FF000) // 65520, halfway between the largest half and the next power of two
    {
        rounded = 0x7C00;
    }
    else if (magnitude < 0x38800000) // below 2^-14 halves are 2^-24 apart, and so are floats from 0.5 on
    {
        rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    }
    else
    {
        rounded = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
    }
    return static_cast<uint16_t>(sign | rounded);
}

} // namespace tenon
