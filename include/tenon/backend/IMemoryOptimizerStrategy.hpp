// SPDX-License-Identifier: Apache-2.0
// IMemoryOptimizerStrategy: how the tensors of a run are packed into an arena.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tenon
{

/// A tensor or scratch buffer that is alive during the steps [m_StartOfLife, m_EndOfLife].
struct MemBlock
{
    MemBlock(unsigned int startOfLife, unsigned int endOfLife, size_t memSize, size_t offset, unsigned int index)
        : m_StartOfLife(startOfLife), m_EndOfLife(endOfLife), m_MemSize(memSize), m_Offset(offset), m_Index(index)
    {
    }

    const unsigned int m_StartOfLife;
    const unsigned int m_EndOfLife;
    const size_t m_MemSize;     ///< bytes, a multiple of the arena's alignment
    size_t m_Offset;            ///< the result: bytes from the start of the bin, a multiple of that alignment
    const unsigned int m_Index; ///< names the block, in whichever order a strategy returns it
};

/// A contiguous piece of the arena.
struct MemBin
{
    std::vector<MemBlock> m_MemBlocks;
    size_t m_MemSize = 0; ///< bytes; no block of the bin ends after them
};

/// Thread-safe, as networks may be loaded at once. Given through
/// IRuntime::CreationOptions::m_MemoryOptimizerStrategyMap.
class TENON_API IMemoryOptimizerStrategy
{
public:
    virtual ~IMemoryOptimizerStrategy();
    virtual std::string GetName() const = 0;
    /// SingleAxisPacking: blocks that are alive at once are in different bins. MultiAxisPacking: they may share a bin,
    /// at different offsets.
    virtual MemBlockStrategyType GetMemBlockStrategyType() const = 0;
    /// Distributes the blocks over bins, each block to one bin once, and sets their offsets so that blocks which are
    /// alive at once never overlap. The runtime puts the bins one after the other; the arena has the sum of their
    /// sizes. It checks the result and throws MemoryValidationException, naming the strategy, where a block is missing
    /// or there twice, was changed otherwise, does not fit into its bin or overlaps another one. `memBlocks` may be
    /// changed at will.
    virtual std::vector<MemBin> Optimize(std::vector<MemBlock>& memBlocks) = 0;
};

} // namespace tenon
