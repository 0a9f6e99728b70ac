// SPDX-License-Identifier: Apache-2.0
// See FourBits.hpp.
#include "common/FourBits.hpp"

#include <cstdint>

namespace tenon
{

void UnpackFourBits(const void* packed, size_t count, bool isSigned, void* bytes)
{
    const auto* from = static_cast<const uint8_t*>(packed);
    auto* to = static_cast<uint8_t*>(bytes);
    const unsigned int sign = isSigned ? 8U : 0U;
    // Bytes are processed as unsigned, so that compilers vectorize the loop.
    const auto extend = [sign](unsigned int nibble) { return static_cast<uint8_t>((nibble ^ sign) - sign); };
    for (size_t i = 0; i < count / 2; ++i)
    {
        const unsigned int pair = from[i];
        to[2 * i] = extend(pair & 0xFU);
        to[2 * i + 1] = extend(pair >> 4U);
    }
    if (count % 2 != 0)
    {
        to[count - 1] = extend(from[count / 2] & 0xFU);
    }
}

void PackFourBits(const void* bytes, size_t count, void* packed)
{
    const auto* from = static_cast<const uint8_t*>(bytes);
    auto* to = static_cast<uint8_t*>(packed);
    for (size_t i = 0; i < count; i += 2)
    {
        const unsigned int high = i + 1 < count ? from[i + 1] & 0xFU : 0U;
        to[i / 2] = static_cast<uint8_t>((from[i] & 0xFU) | high << 4U);
    }
}

} // namespace tenon
