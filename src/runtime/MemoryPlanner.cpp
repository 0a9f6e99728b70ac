// SPDX-License-Identifier: Apache-2.0
// MemoryPlanner: see MemoryPlanner.hpp.
#include "runtime/MemoryPlanner.hpp"

#include "common/CheckedMath.hpp"
#include "common/ErrorContext.hpp"
#include "common/Pages.hpp"
#include "runtime/Packing.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <vector>

namespace tenon
{

namespace
{

/// The buffers that have bytes, each in whole units of `alignment`. Throws MemoryValidationException if their sum
/// exceeds size_t.
PageVector<MemBlock> MakeBlocks(std::span<const PlannedBuffer> buffers, size_t alignment)
{
    PageVector<MemBlock> blocks;
    blocks.reserve(buffers.size());
    size_t sum = 0;
    for (const PlannedBuffer& buffer : buffers)
    {
        if (buffer.m_Bytes == 0)
        {
            continue;
        }
        const auto size = CheckedAlignUp(buffer.m_Bytes, alignment);
        const auto next = size ? CheckedAdd(sum, *size) : size;
        if (!next)
        {
            throw MemoryValidationException("the tensors of one run add up to more bytes than can be addressed");
        }
        sum = *next;
        blocks.emplace_back(buffer.m_First, buffer.m_Last, *size, size_t{0}, static_cast<unsigned int>(blocks.size()));
    }
    return blocks;
}

/// Calls the strategy, and takes its offsets if they are valid.
void PackAs(IMemoryOptimizerStrategy& strategy, Span<MemBlock> blocks, size_t alignment)
{
    std::vector<MemBin> bins;
    try
    {
        std::vector<MemBlock> asked(blocks.begin(), blocks.end());
        bins = strategy.Optimize(asked);
    }
    catch (...)
    {
        RethrowWithContext("memory strategy " + strategy.GetName());
    }
    PlaceBins(blocks, bins, alignment, strategy.GetName());
    CheckPacking(blocks, alignment, strategy.GetName());
}

} // namespace

size_t PlanMemory(std::span<PlannedBuffer> buffers, size_t alignment, IMemoryOptimizerStrategy* strategy)
{
    PageVector<MemBlock> list = MakeBlocks(buffers, alignment);
    const Span<MemBlock> blocks(list.data(), list.size());
    if (strategy == nullptr)
    {
        PackBest(blocks);
    }
    else
    {
        PackAs(*strategy, blocks, alignment);
    }
    size_t end = 0;
    auto block = blocks.begin();
    for (PlannedBuffer& buffer : buffers)
    {
        buffer.m_Offset = 0;
        if (buffer.m_Bytes != 0)
        {
            buffer.m_Offset = block->m_Offset;
            end = std::max(end, buffer.m_Offset + buffer.m_Bytes);
            ++block;
        }
    }
    return end;
}

size_t MemoryLowerBound(std::span<const PlannedBuffer> buffers, size_t alignment)
{
    const PageVector<MemBlock> blocks = MakeBlocks(buffers, alignment);
    return LargestLiveBytes(Span<const MemBlock>(blocks.data(), blocks.size()));
}

} // namespace tenon
