// SPDX-License-Identifier: Apache-2.0
// What of Packing.hpp walks over the blocks in the order of time: placement in that order, bounds and checks.
#include "common/CheckedMath.hpp"
#include "runtime/Packing.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace tenon
{

namespace
{

/// Free ranges of the arena by offset; finds the smallest that fits.
class FreeList
{
public:
    size_t Take(size_t bytes)
    {
        auto best = m_BySize.lower_bound(bytes);
        if (best == m_BySize.end())
        {
            const size_t offset = m_End;
            m_End += bytes;
            return offset;
        }
        const auto [size, offset] = *best;
        m_BySize.erase(best);
        m_ByOffset.erase(offset);
        if (size > bytes)
        {
            Add(offset + bytes, size - bytes);
        }
        return offset;
    }

    void Give(size_t offset, size_t bytes)
    {
        auto next = m_ByOffset.lower_bound(offset);
        if (next != m_ByOffset.end() && next->first == offset + bytes)
        {
            bytes += next->second;
            next = Remove(next);
        }
        if (next != m_ByOffset.begin())
        {
            auto previous = std::prev(next);
            if (previous->first + previous->second == offset)
            {
                offset = previous->first;
                bytes += previous->second;
                Remove(previous);
            }
        }
        Add(offset, bytes);
    }

private:
    using OffsetMap = std::map<size_t, size_t>;

    void Add(size_t offset, size_t bytes)
    {
        m_ByOffset.emplace(offset, bytes);
        m_BySize.emplace(bytes, offset);
    }

    OffsetMap::iterator Remove(OffsetMap::iterator range)
    {
        auto [first, last] = m_BySize.equal_range(range->second);
        m_BySize.erase(std::find_if(first, last, [&](const auto& entry) { return entry.second == range->first; }));
        return m_ByOffset.erase(range);
    }

    OffsetMap m_ByOffset;
    std::multimap<size_t, size_t> m_BySize;
    size_t m_End = 0;
};

/// Stable. Most plans list their blocks in the order in which they come and go.
template <typename Less>
void Sort(PageVector<uint32_t>& order, Less less)
{
    if (!std::is_sorted(order.begin(), order.end(), less))
    {
        std::stable_sort(order.begin(), order.end(), less);
    }
}

PageVector<uint32_t> ByEnd(Span<const MemBlock> blocks)
{
    PageVector<uint32_t> order = ByStart(blocks);
    Sort(order, [&](uint32_t a, uint32_t b) { return blocks[a].m_EndOfLife < blocks[b].m_EndOfLife; });
    return order;
}

} // namespace

PageVector<uint32_t> ByStart(Span<const MemBlock> blocks)
{
    PageVector<uint32_t> order;
    order.reserve(blocks.size());
    for (uint32_t i = 0; i < blocks.size(); ++i)
    {
        if (blocks[i].m_MemSize != 0)
        {
            order.push_back(i);
        }
    }
    Sort(order, [&](uint32_t a, uint32_t b) { return blocks[a].m_StartOfLife < blocks[b].m_StartOfLife; });
    return order;
}

size_t LargestLiveBytes(Span<const MemBlock> blocks)
{
    const PageVector<uint32_t> ending = ByEnd(blocks);
    auto gone = ending.begin();
    size_t alive = 0;
    size_t most = 0;
    for (const uint32_t i : ByStart(blocks))
    {
        for (; gone != ending.end() && blocks[*gone].m_EndOfLife < blocks[i].m_StartOfLife; ++gone)
        {
            alive -= blocks[*gone].m_MemSize;
        }
        alive += blocks[i].m_MemSize;
        most = std::max(most, alive);
    }
    return most;
}

void PackByTime(Span<MemBlock> blocks)
{
    const PageVector<uint32_t> ending = ByEnd(blocks);
    auto gone = ending.begin();
    FreeList free;
    for (const uint32_t i : ByStart(blocks))
    {
        for (; gone != ending.end() && blocks[*gone].m_EndOfLife < blocks[i].m_StartOfLife; ++gone)
        {
            free.Give(blocks[*gone].m_Offset, blocks[*gone].m_MemSize);
        }
        blocks[i].m_Offset = free.Take(blocks[i].m_MemSize);
    }
}

void PlaceBins(Span<MemBlock> blocks, const std::vector<MemBin>& bins, size_t alignment, const std::string& strategy)
{
    const auto fail = [&](const std::string& what)
    { throw MemoryValidationException(fmt::format("memory strategy {}: {}", strategy, what)); };
    std::vector<bool> isPlaced(blocks.size(), false);
    size_t numPlaced = 0;
    size_t start = 0; // of the bin, in the arena
    for (const MemBin& bin : bins)
    {
        for (const MemBlock& placed : bin.m_MemBlocks)
        {
            if (placed.m_Index >= blocks.size() || isPlaced[placed.m_Index])
            {
                fail(
                    fmt::format("block {} {}", placed.m_Index,
                                placed.m_Index < blocks.size() ? "is in the bins twice" : "is none that it was given"));
            }
            MemBlock& block = blocks[placed.m_Index];
            if (placed.m_StartOfLife != block.m_StartOfLife || placed.m_EndOfLife != block.m_EndOfLife ||
                placed.m_MemSize != block.m_MemSize)
            {
                fail(fmt::format("it changes the size or the lifetime of block {}", placed.m_Index));
            }
            if (placed.m_MemSize > bin.m_MemSize || placed.m_Offset > bin.m_MemSize - placed.m_MemSize)
            {
                fail(fmt::format("block {} of {} bytes at {} ends after its bin of {} bytes", placed.m_Index,
                                 placed.m_MemSize, placed.m_Offset, bin.m_MemSize));
            }
            block.m_Offset = start + placed.m_Offset;
            isPlaced[placed.m_Index] = true;
            ++numPlaced;
        }
        const auto size = CheckedAlignUp(bin.m_MemSize, alignment);
        const auto end = size ? CheckedAdd(start, *size) : size;
        if (!end)
        {
            fail("its bins add up to more bytes than can be addressed");
        }
        start = *end;
    }
    if (numPlaced != blocks.size())
    {
        const auto missing = std::find(isPlaced.begin(), isPlaced.end(), false) - isPlaced.begin();
        fail(fmt::format("block {} is in no bin", missing));
    }
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
    std::map<size_t, uint32_t> alive; // by offset; apart from each other
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
