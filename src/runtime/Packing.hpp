// SPDX-License-Identifier: Apache-2.0
// Packing: places blocks with lifetimes in an arena. Used by the shipped strategies (MemoryStrategies.cpp).
#pragma once

#include "common/Pages.hpp"

#include <tenon/Span.hpp>
#include <tenon/backend/IMemoryOptimizerStrategy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon
{

/// Orders of greedy placement.
enum class PackingOrder
{
    Size,
    Lifetime, ///< size times number of steps alive
    Conflict, ///< most bytes alive at once during the block's life
    Time      ///< first step
};

/// The largest sum of sizes alive at one step: no packing needs less.
size_t LargestLiveBytes(Span<const MemBlock> blocks);

/// Indices of the blocks that have bytes, by first step.
PageVector<uint32_t> ByStart(Span<const MemBlock> blocks);
/// The same by last step.
PageVector<uint32_t> ByEnd(Span<const MemBlock> blocks);

/// Places blocks in the order of their first steps, each into the smallest free range that fits. O(N log N).
void PackByTime(Span<MemBlock> blocks);

/// Places each block, in this order, in the lowest gap between the blocks that are alive with it. If the number of
/// pairs alive at once would make loading too slow, PackByTime is used.
void PackGreedily(Span<MemBlock> blocks, PackingOrder order);

/// Tries the orders, then a deterministic search of bounded work around the best of them, until the arena meets
/// LargestLiveBytes.
void PackBest(Span<MemBlock> blocks);

/// Sets the offsets of the blocks from their offsets in bins. m_Index of a block is its index in the list. Bins follow
/// each other in the arena, each beginning at a multiple of `alignment`. Throws MemoryValidationException that names
/// `strategy` unless each block is in one bin, once, unchanged but for its offset, and within the size of the bin.
void PlaceBins(Span<MemBlock> blocks, const std::vector<MemBin>& bins, size_t alignment, const std::string& strategy);

/// Throws MemoryValidationException that names `strategy` unless the offsets are multiples of `alignment` and blocks
/// that are alive at once do not overlap. O(N log N).
void CheckPacking(Span<const MemBlock> blocks, size_t alignment, const std::string& strategy);

} // namespace tenon
