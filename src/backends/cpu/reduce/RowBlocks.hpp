// SPDX-License-Identifier: Apache-2.0
// Row functions (softmax, normalizations) have several dependent steps: a sum across lanes, a root or quotient, a
// product. A block of rows goes through each step together, so that the latency of one row's step hides behind the
// others'.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

inline constexpr size_t MaxRowsOfBlock = 8;

/// Rows of a block: as many rows of `depth` floats as 16 KiB hold, 1 to 8.
inline size_t CountRowsOfBlock(size_t depth)
{
    constexpr size_t Floats = 4096;
    return std::clamp<size_t>(Floats / depth, 1, MaxRowsOfBlock);
}

} // namespace tenon::cpu
