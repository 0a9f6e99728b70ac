// SPDX-License-Identifier: Apache-2.0
// MemoryPlanner: see MemoryPlanner.hpp.
#include "runtime/MemoryPlanner.hpp"

#include "common/CheckedMath.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace tenon
{

namespace
{

/// Above this many steps of all lifetimes together, greedy placement would take longer than loading may.
constexpr size_t MaxGreedyWork = 4'000'000;

size_t Aligned(size_t bytes)
{
    return (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
}

/// The lowest offset at which `bytes` fit between `taken`, which are sorted by offset.
size_t LowestGap(const std::vector<const PlannedBuffer*>& taken, size_t bytes)
{
    size_t offset = 0;
    for (const PlannedBuffer* other : taken)
    {
        if (other->m_Offset >= offset + bytes)
        {
            break;
        }
        offset = std::max(offset, other->m_Offset + Aligned(other->m_Bytes));
    }
    return offset;
}

size_t PlaceBySize(std::vector<PlannedBuffer>& buffers, uint32_t steps)
{
    std::vector<uint32_t> order(buffers.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return buffers[a].m_Bytes > buffers[b].m_Bytes; });
    std::vector<std::vector<const PlannedBuffer*>> aliveAt(steps); // placed buffers, by step
    std::vector<const PlannedBuffer*> taken;
    size_t total = 0;
    for (uint32_t i : order)
    {
        PlannedBuffer& buffer = buffers[i];
        if (buffer.m_Bytes == 0)
        {
            continue;
        }
        taken.clear();
        for (uint32_t step = buffer.m_First; step <= buffer.m_Last; ++step)
        {
            // A buffer that was there before this step was met at an earlier one.
            for (const PlannedBuffer* other : aliveAt[step])
            {
                if (step == buffer.m_First || other->m_First == step)
                {
                    taken.push_back(other);
                }
            }
        }
        std::sort(taken.begin(), taken.end(),
                  [](const PlannedBuffer* a, const PlannedBuffer* b) { return a->m_Offset < b->m_Offset; });
        buffer.m_Offset = LowestGap(taken, buffer.m_Bytes);
        total = std::max(total, buffer.m_Offset + Aligned(buffer.m_Bytes));
        for (uint32_t step = buffer.m_First; step <= buffer.m_Last; ++step)
        {
            aliveAt[step].push_back(&buffer);
        }
    }
    return total;
}

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

    size_t End() const { return m_End; }

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

size_t PlaceByTime(std::vector<PlannedBuffer>& buffers, uint32_t steps)
{
    std::vector<std::vector<uint32_t>> starting(steps);
    std::vector<std::vector<uint32_t>> ending(steps);
    for (uint32_t i = 0; i < buffers.size(); ++i)
    {
        if (buffers[i].m_Bytes != 0)
        {
            starting[buffers[i].m_First].push_back(i);
            ending[buffers[i].m_Last].push_back(i);
        }
    }
    FreeList free;
    for (uint32_t step = 0; step < steps; ++step)
    {
        for (uint32_t i : starting[step])
        {
            buffers[i].m_Offset = free.Take(Aligned(buffers[i].m_Bytes));
        }
        for (uint32_t i : ending[step])
        {
            free.Give(buffers[i].m_Offset, Aligned(buffers[i].m_Bytes));
        }
    }
    return free.End();
}

} // namespace

size_t PlanMemory(std::vector<PlannedBuffer>& buffers)
{
    uint32_t steps = 0;
    uint64_t work = 0;
    uint64_t sum = 0;
    for (PlannedBuffer& buffer : buffers)
    {
        const auto withNext = CheckedAdd<uint64_t>(sum, uint64_t{buffer.m_Bytes});
        const auto padded = withNext ? CheckedAdd<uint64_t>(*withNext, uint64_t{ArenaAlignment}) : withNext;
        if (!padded)
        {
            throw MemoryValidationException("the tensors of one run add up to more bytes than can be addressed");
        }
        sum = *padded;
        buffer.m_Offset = 0;
        steps = std::max(steps, buffer.m_Last + 1);
        work += buffer.m_Last - buffer.m_First + 1;
    }
    return work <= MaxGreedyWork ? PlaceBySize(buffers, steps) : PlaceByTime(buffers, steps);
}

size_t MemoryLowerBound(const std::vector<PlannedBuffer>& buffers)
{
    std::map<uint64_t, int64_t> changes;
    for (const PlannedBuffer& buffer : buffers)
    {
        changes[buffer.m_First] += static_cast<int64_t>(buffer.m_Bytes);
        changes[uint64_t{buffer.m_Last} + 1] -= static_cast<int64_t>(buffer.m_Bytes);
    }
    int64_t alive = 0;
    int64_t most = 0;
    for (const auto& [step, change] : changes)
    {
        alive += change;
        most = std::max(most, alive);
    }
    return static_cast<size_t>(most);
}

} // namespace tenon
