// SPDX-License-Identifier: Apache-2.0
// RegionBorder: the connections that lead across the border of a region of layers, and BorderCost: what the Transposes
// there cost. For BorderedRegion.
#pragma once

#include "graph/Layer.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon
{

/// Transposes at the border of a region: how many, and the elements that they move as far as those are known. That
/// guides what pays; no result depends on it.
struct BorderCost
{
    size_t m_Count = 0;
    uint64_t m_Elements = 0;

    void Add(const TensorInfo& info);
    friend bool operator<(const BorderCost& a, const BorderCost& b)
    {
        return std::pair(a.m_Count, a.m_Elements) < std::pair(b.m_Count, b.m_Elements);
    }
};

/// Connections across the border of a region: readers by the slot that they read. Its memory is reused for the next
/// region.
class RegionBorder
{
public:
    struct Edges
    {
        OutputSlot* m_Source = nullptr;
        std::vector<InputSlot*> m_Readers;
        bool m_IsTransposed = false; ///< an input of the region: its source is a Transpose of an outside tensor
    };

    void Clear()
    {
        m_Size = 0;
        m_Places.clear();
    }

    Edges& Add(OutputSlot* source, InputSlot* reader)
    {
        Edges& edges = Find(source);
        edges.m_Readers.push_back(reader);
        return edges;
    }

    Span<Edges> All() { return {m_Edges.data(), m_Size}; }
    Span<const Edges> All() const { return {m_Edges.data(), m_Size}; }

private:
    static constexpr size_t MaxSearched = 8; ///< above this number slots are found by hash

    Edges& Find(OutputSlot* source);

    std::vector<Edges> m_Edges;
    size_t m_Size = 0;
    std::unordered_map<const OutputSlot*, size_t> m_Places;
};

} // namespace tenon
