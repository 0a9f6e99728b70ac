// SPDX-License-Identifier: Apache-2.0
// Integers of 4 bits: two a byte, the first in the low half. Parsers and kernels unpack them to one a byte.
#pragma once

#include <cstddef>

namespace tenon
{

/// Bytes that `count` integers take.
constexpr size_t GetFourBitsBytes(size_t count)
{
    return count / 2 + count % 2;
}

/// Unpacks `count` integers, int4 sign-extended, else uint4.
void UnpackFourBits(const void* packed, size_t count, bool isSigned, void* bytes);
/// The low half of each byte. The unused half of the last byte becomes 0.
void PackFourBits(const void* bytes, size_t count, void* packed);

} // namespace tenon
