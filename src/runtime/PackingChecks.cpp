// SPDX-License-Identifier: Apache-2.0
// Functions of Packing.hpp that check and place the answers of memory strategies.
#include "common/CheckedMath.hpp"
#include "runtime/Packing.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace tenon
{

void PlaceBins(Span<MemBlock> blocks, const std::vector<MemBin>& bins, size_t alignment, const std::string& strategy)
{
    const auto check = [&](bool isTrue, size_t index, const char* otherwise)
    {
        if (!isTrue)
        {
            throw MemoryValidationException(fmt::format("memory strategy {}: block {} {}", strategy, index, otherwise));
        }
    };
    std::vector<bool> isPlaced(blocks.size(), false);
    size_t start = 0; // offset of the bin in the arena
    for (const MemBin& bin : bins)
    {
        const auto size = CheckedAlignUp(bin.m_MemSize, alignment);
        const auto end = size ? CheckedAdd(start, *size) : size;
        for (const MemBlock& placed : bin.m_MemBlocks)
        {
            const size_t index = placed.m_Index;
            check(index < blocks.size(), index, "is none that it was given");
            check(!isPlaced[index], index, "is in the bins twice");
            MemBlock& block = blocks[index];
            check(placed.m_StartOfLife == block.m_StartOfLife && placed.m_EndOfLife == block.m_EndOfLife &&
                      placed.m_MemSize == block.m_MemSize,
                  index, "has another size or lifetime than it was given");
            check(placed.m_MemSize <= bin.m_MemSize && placed.m_Offset <= bin.m_MemSize - placed.m_MemSize, index,
                  "ends after its bin");
            check(end.has_value(), index, "is in a bin that ends after what can be addressed");
            block.m_Offset = start + placed.m_Offset;
            isPlaced[index] = true;
        }
        start = end.value_or(start); // a bin without blocks needs no memory
    }
    const auto missing = std::find(isPlaced.begin(), isPlaced.end(), false);
    check(missing == isPlaced.end(), static_cast<size_t>(missing - isPlaced.begin()), "is in no bin");
}

void CheckPacking(Span<const MemBlock> blocks, size_t alignment, const std::string& strategy)
{
    const auto fail = [&](const std::string& what)
    { throw MemoryValidationException(fmt::format("memory strategy {}: {}", strategy, what)); };
    const auto describe = [&](uint32_t i)
    {
        return fmt::format("block {} of {} bytes at {}, alive in steps {} to {},", i, blocks[i].m_MemSize,
                           blocks[i].m_Offset, blocks[i].m_StartOfLife, blocks[i].m_EndOfLife);
    };
    const PageVector<uint32_t> ending = ByEnd(blocks);
    auto gone = ending.begin();
    std::map<size_t, uint32_t> alive; // blocks by offset; they do not overlap
    for (const uint32_t i : ByStart(blocks))
    {
        const MemBlock& block = blocks[i];
        if (block.m_Offset % alignment != 0 || block.m_Offset > SIZE_MAX - block.m_MemSize)
        {
            fail(fmt::format("{} is not placed at a multiple of {}", describe(i), alignment));
        }
        for (; gone != ending.end() && blocks[*gone].m_EndOfLife < block.m_StartOfLife; ++gone)
        {
            alive.erase(blocks[*gone].m_Offset);
        }
        const auto next = alive.lower_bound(block.m_Offset);
        if (next != alive.end() && next->first < block.m_Offset + block.m_MemSize)
        {
            fail(fmt::format("{} overlaps {}", describe(i), describe(next->second)));
        }
        if (next != alive.begin())
        {
            const uint32_t before = std::prev(next)->second;
            if (blocks[before].m_Offset + blocks[before].m_MemSize > block.m_Offset)
            {
                fail(fmt::format("{} overlaps {}", describe(i), describe(before)));
            }
        }
        alive.emplace(block.m_Offset, i);
    }
}

} // namespace tenon
