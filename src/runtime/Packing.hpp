// SPDX-License-Identifier: Apache-2.0
// Packing: places blocks with lifetimes in an arena. What the shipped strategies are made of (MemoryStrategies.cpp).
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

/// Orders in which greedy placement may go.
enum class PackingOrder
{
    Size,
    Lifetime, ///< size times steps alive
    Conflict, ///< most bytes alive at once during the block's life
    Time      ///< first step
};

/// The largest sum of sizes alive at one step: no packing needs less.
size_t LargestLiveBytes(Span<const MemBlock> blocks);

/// Indices of the blocks that have bytes, by first step.
PageVector<uint32_t> ByStart(Span<const MemBlock> blocks);
/// The same by last step.
PageVector<uint32_t> ByEnd(Span<const MemBlock> blocks);

/// Places blocks in the order in which they come to life, each into the smallest free range that fits. O(N log N).
void PackByTime(Span<MemBlock> blocks);

/// Places each block, in this order, at the lowest gap between those that it is alive with. Where there are so many
/// pairs that are alive at once that this would take longer than loading may, PackByTime.
void PackGreedily(Span<MemBlock> blocks, PackingOrder order);

/// Tries the orders, then a deterministic search of bounded work around the best of them, until the arena meets
/// LargestLiveBytes.
void PackBest(Span<MemBlock> blocks);

/// Sets the offsets of the blocks, each of which has its place in the list as m_Index, from those in bins that stand
/// one after the other, each beginning at a multiple of `alignment`. Throws MemoryValidationException that names
/// `strategy` unless each block is in one bin, once, unchanged but for its offset, and within the size of the bin.
void PlaceBins(Span<MemBlock> blocks, const std::vector<MemBin>& bins, size_t alignment, const std::string& strategy);

/// Throws MemoryValidationException that names `strategy` unless the offsets are multiples of `alignment` and blocks
/// that are alive at once are apart. O(N log N).
void CheckPacking(Span<const MemBlock> blocks, size_t alignment, const std::string& strategy);

} // namespace tenon
