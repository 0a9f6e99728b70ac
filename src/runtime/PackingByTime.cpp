// SPDX-License-Identifier: Apache-2.0
// Functions of Packing.hpp that walk over the blocks in the order of time: placement in that order, and bounds.
#include "runtime/Packing.hpp"

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

/// A stable sort. Most plans list their blocks in order of time already.
template <typename Less>
void Sort(PageVector<uint32_t>& order, Less less)
{
    if (!std::is_sorted(order.begin(), order.end(), less))
    {
        std::stable_sort(order.begin(), order.end(), less);
    }
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

PageVector<uint32_t> ByEnd(Span<const MemBlock> blocks)
{
    PageVector<uint32_t> order = ByStart(blocks);
    Sort(order, [&](uint32_t a, uint32_t b) { return blocks[a].m_EndOfLife < blocks[b].m_EndOfLife; });
    return order;
}

size_t LargestLiveBytes(Span<const MemBlock> blocks)
{
    const PageVector<uint32_t> ending = ByEnd(blocks);
    auto gone = ending.begin();
    size_t alive = 0;
    size_t max = 0;
    for (const uint32_t i : ByStart(blocks))
    {
        for (; gone != ending.end() && blocks[*gone].m_EndOfLife < blocks[i].m_StartOfLife; ++gone)
        {
            alive -= blocks[*gone].m_MemSize;
        }
        alive += blocks[i].m_MemSize;
        max = std::max(max, alive);
    }
    return max;
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

} // namespace tenon
