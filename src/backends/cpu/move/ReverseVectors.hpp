// SPDX-License-Identifier: Apache-2.0
// Elements in reverse order, by vectors. Used by ReverseV2.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// to[i] = from[count - 1 - i]; they do not overlap.
using ReverseFunction = void (*)(const std::byte* from, size_t count, std::byte* to);

/// For elements of 1, 2, 4 or 8 bytes; null for others.
ReverseFunction FindReverse(size_t elementBytes);

} // namespace tenon::cpu
