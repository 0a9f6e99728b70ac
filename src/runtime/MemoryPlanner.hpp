// SPDX-License-Identifier: Apache-2.0
// MemoryPlanner: computes the offset of each buffer in the arena. It is a pure function of sizes and lifetimes; called
// by Plan.
#pragma once

#include "common/AlignedMemory.hpp"

#include <tenon/backend/IMemoryOptimizerStrategy.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

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

/// Sets the offsets, multiples of `alignment`, so that buffers which are alive together never overlap, and returns the
/// arena's size. `strategy` null: PackBest. Throws MemoryValidationException if the sizes add up beyond size_t, and if
/// a given strategy lets buffers overlap.
size_t PlanMemory(std::span<PlannedBuffer> buffers, size_t alignment = ArenaAlignment,
                  IMemoryOptimizerStrategy* strategy = nullptr);

/// The largest sum of bytes alive at one step, each buffer in whole units of `alignment`: no plan with such offsets
/// needs fewer units. Buffers that PlanMemory accepts do not overflow.
size_t MemoryLowerBound(std::span<const PlannedBuffer> buffers, size_t alignment = 1);

} // namespace tenon
