// SPDX-License-Identifier: Apache-2.0
// Functions of whole rows take several steps, and each but the first one waits for a sum across vectors, a root or a
// quotient. Some rows at a time go through each step, so that what one waits for is had while others are computed.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

inline constexpr size_t MostRowsOfBlock = 8;

/// As many rows of `depth` floats as stay in the first-level cache from one step to the next, one at least.
inline size_t CountRowsOfBlock(size_t depth)
{
    constexpr size_t Floats = 4096;
    return std::clamp<size_t>(Floats / depth, 1, MostRowsOfBlock);
}

} // namespace tenon::cpu
