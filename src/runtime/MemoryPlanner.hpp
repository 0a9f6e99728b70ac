// SPDX-License-Identifier: Apache-2.0
// MemoryPlanner: where each buffer lies in the arena. A pure function of sizes and lifetimes; called by Plan.
#pragma once

#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon
{

/// A buffer that is alive during the steps [m_First, m_Last].
struct PlannedBuffer
{
    size_t m_Bytes = 0;
    uint32_t m_First = 0;
    uint32_t m_Last = 0;
    size_t m_Offset = 0; ///< result
};

/// Sets the offsets so that buffers which are alive together never overlap, and returns the arena's size.
/// Large buffers are placed first, each at the lowest gap that fits (greedy by size); where the number of overlapping
/// pairs would make that slow, buffers are placed in the order in which they come to life instead.
/// Throws MemoryValidationException where the sizes add up beyond size_t.
size_t PlanMemory(std::vector<PlannedBuffer>& buffers);

/// The largest sum of bytes alive at one step: no plan needs less.
size_t MemoryLowerBound(const std::vector<PlannedBuffer>& buffers);

} // namespace tenon
