// SPDX-License-Identifier: Apache-2.0
// See HalfFloat.hpp.
#include "common/HalfFloat.hpp"

namespace tenon
{

namespace
{

constexpr uint32_t Infinity = 0x7F800000;

/// `a` where it is true, else `b`, in a form of which compilers make no branch.
constexpr uint32_t Select(bool isA, uint32_t a, uint32_t b)
{
    const uint32_t mask = 0U - uint32_t{isA};
    return (a & mask) | (b & ~mask);
}

/// Both without branches, for loops that compilers make vectors of.
float WidenBits(uint16_t bits)
{
    const uint32_t sign = (bits & 0x8000U) << 16;
    const uint32_t magnitude = bits & 0x7FFFU;
    // Below the normal numbers the leading one is missing: it is added as bits, and taken off as a number.
    const uint32_t normal = (magnitude << 13) + (112U << 23); // the exponents' biases are 15 and 127
    const float small = std::bit_cast<float>(normal + (1U << 23)) - 0x1p-14f;
    const uint32_t finite = Select(magnitude < 0x400, std::bit_cast<uint32_t>(small), normal);
    const uint32_t special = normal + (112U << 23); // infinity and NaN
    return std::bit_cast<float>(sign | Select(magnitude >= 0x7C00, special, finite));
}

uint16_t RoundBits(float value)
{
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    // Below 2^-14 halves are 2^-24 apart, and so are floats from 0.5 on.
    const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000;
    const uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
    const uint32_t special = Select(magnitude > Infinity, 0x7E00, 0x7C00);
    const uint32_t finite = Select(magnitude < 0x38800000, small, normal);
    // From 65520 on, halfway between the largest half and the next power of two, there is infinity.
    return static_cast<uint16_t>(((bits >> 16) & 0x8000U) | Select(magnitude >= 0x477FF000, special, finite));
}

} // namespace

float HalfToFloat(uint16_t bits)
{
    return WidenBits(bits);
}

uint16_t FloatToHalf(float value)
{
    return RoundBits(value);
}

void HalvesToFloats(const uint16_t* halves, size_t count, float* floats)
{
    for (size_t i = 0; i < count; ++i)
    {
        floats[i] = WidenBits(halves[i]);
    }
}

void FloatsToHalves(const float* floats, size_t count, uint16_t* halves)
{
    for (size_t i = 0; i < count; ++i)
    {
        halves[i] = RoundBits(floats[i]);
    }
}

} // namespace tenon
