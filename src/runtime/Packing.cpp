// SPDX-License-Identifier: Apache-2.0
// Greedy placement of Packing.hpp in several orders, and the search around the best of them.
#include "runtime/Packing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon
{

namespace
{

/// Above this many pairs of blocks alive at once, greedy placement would take longer than loading may (some 20 ms).
constexpr size_t MaxPairs = 1'000'000;
/// The number of neighbours that the search may visit after the orders were tried: about a millisecond.
constexpr size_t SearchWork = 200'000;

/// Lists of blocks that are alive together.
class Neighbours
{
public:
    explicit Neighbours(Span<const MemBlock> blocks)
    {
        std::vector<uint32_t> alive;
        PageVector<std::pair<uint32_t, uint32_t>> pairs;
        for (const uint32_t i : ByStart(blocks))
        {
            alive.erase(std::remove_if(alive.begin(), alive.end(),
                                       [&](uint32_t other)
                                       { return blocks[other].m_EndOfLife < blocks[i].m_StartOfLife; }),
                        alive.end());
            if (pairs.size() + alive.size() > MaxPairs)
            {
                m_IsOverLimit = true;
                return;
            }
            for (const uint32_t other : alive)
            {
                pairs.emplace_back(i, other);
            }
            alive.push_back(i);
        }
        m_First.assign(blocks.size() + 1, 0);
        for (const auto& [a, b] : pairs)
        {
            ++m_First[a + 1];
            ++m_First[b + 1];
        }
        std::partial_sum(m_First.begin(), m_First.end(), m_First.begin());
        m_All.resize(pairs.size() * 2);
        PageVector<uint32_t> next(m_First.begin(), m_First.end() - 1);
        for (const auto& [a, b] : pairs)
        {
            m_All[next[a]++] = b;
            m_All[next[b]++] = a;
        }
    }

    bool IsOverLimit() const { return m_IsOverLimit; }
    Span<const uint32_t> Of(uint32_t block) const
    {
        return {m_All.data() + m_First[block], m_First[block + 1] - m_First[block]};
    }
    size_t Count() const { return m_All.size(); }

private:
    bool m_IsOverLimit = false;
    PageVector<uint32_t> m_First; ///< by block: where its neighbours begin in m_All
    PageVector<uint32_t> m_All;
};

/// Places blocks in any order.
class Placer
{
public:
    Placer(Span<const MemBlock> blocks, const Neighbours& neighbours)
        : m_Blocks(blocks), m_Neighbours(neighbours), m_Offsets(blocks.size(), 0), m_IsPlaced(blocks.size(), 0)
    {
    }

    /// Returns the arena's size.
    size_t Place(const PageVector<uint32_t>& order)
    {
        std::fill(m_IsPlaced.begin(), m_IsPlaced.end(), uint8_t{0});
        size_t end = 0;
        for (const uint32_t i : order)
        {
            m_Offsets[i] = LowestGap(i);
            m_IsPlaced[i] = 1;
            end = std::max(end, m_Offsets[i] + m_Blocks[i].m_MemSize);
        }
        return end;
    }

    const PageVector<size_t>& Offsets() const { return m_Offsets; }

private:
    size_t LowestGap(uint32_t block)
    {
        m_Taken.clear();
        for (const uint32_t other : m_Neighbours.Of(block))
        {
            if (m_IsPlaced[other] != 0)
            {
                m_Taken.emplace_back(m_Offsets[other], m_Offsets[other] + m_Blocks[other].m_MemSize);
            }
        }
        std::sort(m_Taken.begin(), m_Taken.end());
        size_t offset = 0;
        for (const auto& [begin, end] : m_Taken)
        {
            if (begin >= offset + m_Blocks[block].m_MemSize)
            {
                break;
            }
            offset = std::max(offset, end);
        }
        return offset;
    }

    Span<const MemBlock> m_Blocks;
    const Neighbours& m_Neighbours;
    PageVector<size_t> m_Offsets;
    PageVector<uint8_t> m_IsPlaced;
    std::vector<std::pair<size_t, size_t>> m_Taken;
};

/// The maximum of bytes alive at one step of a block's life, by block.
PageVector<size_t> Pressure(Span<const MemBlock> blocks)
{
    // The number of bytes grows only at steps where a block starts.
    PageVector<uint64_t> starts;
    for (const uint32_t i : ByStart(blocks))
    {
        if (starts.empty() || starts.back() != blocks[i].m_StartOfLife)
        {
            starts.push_back(blocks[i].m_StartOfLife);
        }
    }
    const auto place = [&](uint64_t step)
    { return static_cast<size_t>(std::lower_bound(starts.begin(), starts.end(), step) - starts.begin()); };
    PageVector<size_t> change(starts.size() + 1, 0); // differences, modulo 2^64
    for (const MemBlock& block : blocks)
    {
        change[place(block.m_StartOfLife)] += block.m_MemSize;
        change[place(uint64_t{block.m_EndOfLife} + 1)] -= block.m_MemSize;
    }
    std::partial_sum(change.begin(), change.end(), change.begin());
    // Tables of maxima over ranges of 2^k starts.
    std::vector<PageVector<size_t>> max{std::move(change)};
    for (size_t width = 1; width * 2 <= starts.size(); width *= 2)
    {
        const PageVector<size_t>& half = max.back();
        PageVector<size_t> whole(half.size() - width);
        for (size_t s = 0; s < whole.size(); ++s)
        {
            whole[s] = std::max(half[s], half[s + width]);
        }
        max.push_back(std::move(whole));
    }
    PageVector<size_t> pressure;
    pressure.reserve(blocks.size());
    for (const MemBlock& block : blocks)
    {
        const size_t first = place(block.m_StartOfLife);
        const size_t end = place(uint64_t{block.m_EndOfLife} + 1);
        size_t level = 0;
        while ((size_t{2} << level) <= end - first)
        {
            ++level;
        }
        pressure.push_back(end == first ? 0 : std::max(max[level][first], max[level][end - (size_t{1} << level)]));
    }
    return pressure;
}

PageVector<uint32_t> MakeOrder(Span<const MemBlock> blocks, PackingOrder kind)
{
    PageVector<uint32_t> order = ByStart(blocks);
    if (kind == PackingOrder::Time)
    {
        return order;
    }
    PageVector<size_t> pressure;
    if (kind == PackingOrder::Conflict)
    {
        pressure = Pressure(blocks);
    }
    const auto area = [](const MemBlock& block)
    { return static_cast<double>(block.m_MemSize) * (block.m_EndOfLife - block.m_StartOfLife + 1.0); };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b)
                     {
                         if (kind == PackingOrder::Lifetime)
                         {
                             return area(blocks[a]) > area(blocks[b]);
                         }
                         if (kind == PackingOrder::Conflict && pressure[a] != pressure[b])
                         {
                             return pressure[a] > pressure[b];
                         }
                         return blocks[a].m_MemSize > blocks[b].m_MemSize;
                     });
    return order;
}

/// A small generator whose numbers are the same everywhere.
class Random
{
public:
    uint32_t Below(size_t bound)
    {
        m_State = m_State * 6364136223846793005U + 1442695040888963407U;
        return static_cast<uint32_t>((m_State >> 33U) % bound);
    }

private:
    uint64_t m_State = 1;
};

void SetOffsets(Span<MemBlock> blocks, const PageVector<size_t>& offsets)
{
    for (size_t i = 0; i < blocks.size(); ++i)
    {
        blocks[i].m_Offset = offsets[i];
    }
}

} // namespace

void PackGreedily(Span<MemBlock> blocks, PackingOrder order)
{
    const Neighbours neighbours(blocks);
    if (neighbours.IsOverLimit())
    {
        PackByTime(blocks);
        return;
    }
    Placer placer(blocks, neighbours);
    placer.Place(MakeOrder(blocks, order));
    SetOffsets(blocks, placer.Offsets());
}

void PackBest(Span<MemBlock> blocks)
{
    const Neighbours neighbours(blocks);
    if (neighbours.IsOverLimit())
    {
        PackByTime(blocks);
        return;
    }
    const size_t wanted = LargestLiveBytes(blocks);
    Placer placer(blocks, neighbours);
    PageVector<uint32_t> order;
    PageVector<size_t> offsets;
    size_t best = SIZE_MAX;
    for (const PackingOrder kind :
         {PackingOrder::Size, PackingOrder::Conflict, PackingOrder::Lifetime, PackingOrder::Time})
    {
        PageVector<uint32_t> candidate = MakeOrder(blocks, kind);
        const size_t end = placer.Place(candidate);
        if (end < best)
        {
            best = end;
            order = std::move(candidate);
            offsets = placer.Offsets();
        }
        if (best == wanted)
        {
            SetOffsets(blocks, offsets);
            return;
        }
    }
    // A block that ends too high goes to an earlier place in the order, or two blocks change places. A change that is
    // not worse stays, so that the search leaves plateaus.
    Random random;
    PageVector<uint32_t> candidate;
    for (size_t work = 0; best > wanted && work < SearchWork; work += neighbours.Count() + order.size())
    {
        candidate = order;
        if (random.Below(4) != 0)
        {
            std::vector<size_t> high;
            for (size_t p = 1; p < order.size(); ++p)
            {
                if (offsets[order[p]] + blocks[order[p]].m_MemSize > wanted)
                {
                    high.push_back(p);
                }
            }
            if (!high.empty())
            {
                const auto from = static_cast<ptrdiff_t>(high[random.Below(high.size())]);
                const auto to = static_cast<ptrdiff_t>(random.Below(static_cast<size_t>(from)));
                std::rotate(candidate.begin() + to, candidate.begin() + from, candidate.begin() + from + 1);
            }
        }
        else
        {
            std::swap(candidate[random.Below(candidate.size())], candidate[random.Below(candidate.size())]);
        }
        const size_t end = placer.Place(candidate);
        if (end <= best)
        {
            best = end;
            order.swap(candidate);
            offsets = placer.Offsets();
        }
    }
    SetOffsets(blocks, offsets);
}

} // namespace tenon
