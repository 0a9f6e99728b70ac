// SPDX-License-Identifier: Apache-2.0
// Reversal of the order of elements, by vectors. Called by ReverseV2.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

/// to[i] = from[count - 1 - i]. Source and target must not overlap.
using ReverseFunction = void (*)(const std::byte* from, size_t count, std::byte* to);

/// For elements of 1, 2, 4 or 8 bytes; null for others.
ReverseFunction FindReverse(size_t elementBytes);

} // namespace tenon::cpu
