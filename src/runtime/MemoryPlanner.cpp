// SPDX-License-Identifier: Apache-2.0
// MemoryPlanner: see MemoryPlanner.hpp.
#include "runtime/MemoryPlanner.hpp"

#include "common/CheckedMath.hpp"
#include "common/ErrorContext.hpp"
#include "common/Pages.hpp"
#include "runtime/Packing.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <string>

namespace tenon
{

namespace
{

/// The buffers that have bytes, with sizes as they are.
PageVector<MemBlock> MakeBlocks(std::span<const PlannedBuffer> buffers)
{
    PageVector<MemBlock> blocks;
    blocks.reserve(buffers.size());
    for (const PlannedBuffer& buffer : buffers)
    {
        if (buffer.m_Bytes != 0)
        {
            blocks.push_back({buffer.m_First, buffer.m_Last, buffer.m_Bytes, 0});
        }
    }
    return blocks;
}

} // namespace

size_t PlanMemory(std::span<PlannedBuffer> buffers, size_t alignment, const IMemoryOptimizerStrategy* strategy)
{
    PageVector<MemBlock> list = MakeBlocks(buffers);
    const Span<MemBlock> blocks(list.data(), list.size());
    size_t sum = 0;
    for (MemBlock& block : blocks)
    {
        const auto size = CheckedAlignUp(block.m_MemSize, alignment);
        const auto next = size ? CheckedAdd(sum, *size) : size;
        if (!next)
        {
            throw MemoryValidationException("the tensors of one run add up to more bytes than can be addressed");
        }
        block.m_MemSize = *size;
        sum = *next;
    }
    if (strategy == nullptr)
    {
        PackBest(blocks);
    }
    else
    {
        try
        {
            strategy->Optimize(blocks, alignment);
        }
        catch (...)
        {
            RethrowWithContext(std::string("memory strategy ") + strategy->GetName());
        }
    }
    // The sizes and lifetimes are those of the buffers, whatever a strategy made of them.
    size_t end = 0;
    auto block = blocks.begin();
    for (PlannedBuffer& buffer : buffers)
    {
        buffer.m_Offset = 0;
        if (buffer.m_Bytes != 0)
        {
            buffer.m_Offset = block->m_Offset;
            *block++ = {buffer.m_First, buffer.m_Last, buffer.m_Bytes, buffer.m_Offset};
            end = std::max(end, buffer.m_Offset + buffer.m_Bytes);
        }
    }
    if (strategy != nullptr)
    {
        CheckPacking(blocks, alignment, strategy->GetName());
    }
    return end;
}

size_t MemoryLowerBound(std::span<const PlannedBuffer> buffers, size_t alignment)
{
    PageVector<MemBlock> list = MakeBlocks(buffers);
    const Span<MemBlock> blocks(list.data(), list.size());
    for (MemBlock& block : blocks)
    {
        block.m_MemSize = (block.m_MemSize + alignment - 1) / alignment * alignment;
    }
    return LargestLiveBytes(blocks);
}

} // namespace tenon
