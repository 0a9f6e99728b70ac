// SPDX-License-Identifier: Apache-2.0
// Random floats, halves and bytes.
#include "RandomValues.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tenon::bench
{

namespace
{

/// The bits of a float of 16: a random sign and mantissa, and one of the five exponents below that of `most`.
uint16_t MakeHalf(unsigned int mantissaBits, int exponentBias, float max, std::mt19937& random)
{
    constexpr unsigned int Exponents = 5;
    const auto bits = static_cast<uint32_t>(random());
    const int below = 1 + static_cast<int>(bits % Exponents);
    const auto exponent = static_cast<unsigned int>(exponentBias + std::ilogb(max) - below);
    const unsigned int mantissa = (bits >> 8U) & ((1U << mantissaBits) - 1U);
    return static_cast<uint16_t>((bits >> 31U) << 15U | exponent << mantissaBits | mantissa);
}

} // namespace

void FillRandom(DataType type, void* data, size_t bytes, std::mt19937& random, float max)
{
    if (type == DataType::Float32)
    {
        std::uniform_real_distribution<float> distribution(-max, max);
        std::generate_n(static_cast<float*>(data), bytes / sizeof(float), [&] { return distribution(random); });
    }
    else if (type == DataType::Float16 || type == DataType::BFloat16)
    {
        const bool isShort = type == DataType::Float16;
        std::generate_n(static_cast<uint16_t*>(data), bytes / sizeof(uint16_t),
                        [&] { return isShort ? MakeHalf(10, 15, max, random) : MakeHalf(7, 127, max, random); });
    }
    else
    {
        const unsigned int mask = type == DataType::Boolean ? 1 : 0xFF;
        std::generate_n(static_cast<uint8_t*>(data), bytes, [&] { return static_cast<uint8_t>(random() & mask); });
    }
}

} // namespace tenon::bench
