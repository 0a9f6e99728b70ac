// SPDX-License-Identifier: Apache-2.0
// OrderedList: order maintenance (Dietz and Sleator). A linked list of numbers with ascending 64-bit labels: comparing
// two positions costs O(1), moving k items O(k), but for a rare relabelling of all. Used by ContractedGraph for its
// topological order.
#pragma once

#include "common/Pages.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon
{

/// A linked list of numbers from 0 on whose entries carry labels that ascend along the list. Where there is
/// no room between two labels, all are given out anew. (Labels of this kind: P. Dietz, D. Sleator, "Two algorithms for
/// maintaining order in a list", STOC 1987; here with the plain relabelling.)
class OrderedList
{
public:
    /// Ascends along the list. Holds until the next change.
    uint64_t Label(uint32_t item) const { return m_Entries[item].m_Label; }

    /// `item` is not in the list. Memory goes with the largest one.
    void Append(uint32_t item);
    void Remove(uint32_t item);
    /// Takes `items`, which are in the list, out of it and puts them, in this order, directly before or after `place`,
    /// which is none of them.
    void MoveBefore(std::span<const uint32_t> items, uint32_t place);
    void MoveAfter(std::span<const uint32_t> items, uint32_t place);

    /// How many labels were given out, as a measure of the work done.
    uint64_t NumLabels() const { return m_NumLabels; }

private:
    static constexpr uint32_t Sentinel = UINT32_MAX;
    struct Entry
    {
        uint64_t m_Label = 0;
        uint32_t m_Previous = Sentinel;
        uint32_t m_Next = Sentinel;
    };

    Entry& At(uint32_t item) { return item == Sentinel ? m_Sentinel : m_Entries[item]; }

    void Link(std::span<const uint32_t> items, uint32_t previous, bool leaveRoomAfter);
    void Relabel();

    Entry m_Sentinel; ///< before the first and after the last
    PageVector<Entry> m_Entries;
    uint64_t m_NumLabels = 0;
};

} // namespace tenon
