// SPDX-License-Identifier: Apache-2.0
// IMemoryOptimizerStrategy: how the tensors of a run are packed into an arena.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Span.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon
{

/// A tensor or scratch buffer that is alive during the steps [m_StartOfLife, m_EndOfLife].
struct MemBlock
{
    uint32_t m_StartOfLife = 0;
    uint32_t m_EndOfLife = 0;
    size_t m_MemSize = 0; ///< bytes, a multiple of the arena's alignment
    size_t m_Offset = 0;  ///< the result: bytes from the start of the arena, a multiple of its alignment
};

/// A pure function; thread-safe. Given through IRuntime::CreationOptions::m_MemoryOptimizerStrategyMap.
class TENON_API IMemoryOptimizerStrategy
{
public:
    virtual ~IMemoryOptimizerStrategy();
    virtual const char* GetName() const = 0;
    virtual MemBlockStrategyType GetMemBlockStrategyType() const { return MemBlockStrategyType::SingleAxisPacking; }
    /// Sets the offsets so that blocks which are alive at once never overlap. The arena ends where the last block does.
    /// The runtime checks the result and throws MemoryValidationException, naming the strategy, where blocks overlap.
    virtual void Optimize(Span<MemBlock> blocks, size_t alignment) const = 0;
};

} // namespace tenon
