// SPDX-License-Identifier: Apache-2.0
// 4-bit values, two per byte, the first in the lower half. Code that prints tensors reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon
{

inline int8_t LoadInt4(const std::byte* data, size_t index)
{
    const unsigned int bits = std::to_integer<unsigned int>(data[index / 2] >> (index % 2 * 4)) & 0xFU;
    return static_cast<int8_t>(static_cast<int>(bits ^ 8U) - 8);
}

} // namespace tenon
