// SPDX-License-Identifier: Apache-2.0
// OrderedList: see OrderedList.hpp.
#include "optimizer/partition/OrderedList.hpp"

#include <algorithm>
#include <limits>

namespace tenon
{

namespace
{

constexpr uint64_t AppendStride = uint64_t{1} << 32; ///< between labels at the end of the list: room for insertions
constexpr uint64_t InsertStride = uint64_t{1} << 12; ///< between labels put beside another: room for more of the same
constexpr uint64_t LastLabel = std::numeric_limits<uint64_t>::max();

} // namespace

void OrderedList::Append(uint32_t item)
{
    if (item >= m_Entries.size())
    {
        m_Entries.resize(size_t{item} + 1);
    }
    Link({&item, 1}, m_Sentinel.m_Previous, false);
}

void OrderedList::Remove(uint32_t item)
{
    const Entry& entry = At(item);
    At(entry.m_Previous).m_Next = entry.m_Next;
    At(entry.m_Next).m_Previous = entry.m_Previous;
}

void OrderedList::MoveBefore(std::span<const uint32_t> items, uint32_t place)
{
    for (const uint32_t item : items)
    {
        Remove(item);
    }
    Link(items, At(place).m_Previous, true);
}

void OrderedList::MoveAfter(std::span<const uint32_t> items, uint32_t place)
{
    for (const uint32_t item : items)
    {
        Remove(item);
    }
    Link(items, place, false);
}

void OrderedList::Link(std::span<const uint32_t> items, uint32_t previous, bool leaveRoomAfter)
{
    const uint32_t next = At(previous).m_Next;
    uint32_t last = previous;
    for (const uint32_t item : items)
    {
        At(last).m_Next = item;
        At(item).m_Previous = last;
        last = item;
    }
    At(last).m_Next = next;
    At(next).m_Previous = last;

    const uint64_t low = At(previous).m_Label; // 0 for the head: labels start above it
    const uint64_t high = next == Sentinel ? LastLabel : At(next).m_Label;
    const uint64_t count = items.size();
    const uint64_t widest = next == Sentinel ? AppendStride : InsertStride;
    const uint64_t stride = std::min(widest, (high - low) / (count + 1));
    if (stride == 0)
    {
        Relabel();
        return;
    }
    // Insertions at one place tend to repeat there: the room stays on that side of what was inserted.
    const bool fromLow = leaveRoomAfter || next == Sentinel;
    uint64_t label = fromLow ? low : high - stride * (count + 1);
    for (const uint32_t item : items)
    {
        label += stride;
        At(item).m_Label = label;
    }
    m_NumLabels += count;
}

void OrderedList::Relabel()
{
    uint64_t label = 0;
    for (uint32_t item = m_Sentinel.m_Next; item != Sentinel; item = At(item).m_Next)
    {
        label += AppendStride;
        At(item).m_Label = label;
        ++m_NumLabels;
    }
}

} // namespace tenon
