// SPDX-License-Identifier: Apache-2.0
// LayoutRegions: connected sets of layers that compute the same in any order of dimensions, once their axes are renamed
// (LayoutRules.hpp). All layers of a region change their order together, or none does. Used by MoveTransposes.
//
//     Transpose -> [Add -> ReLU -> Concat] -> Transpose        one region; the Transposes are at its border
#pragma once

#include "optimizer/layout/FixedRanks.hpp"

#include <cstdint>
#include <vector>

namespace tenon
{

/// The regions of a graph as it is now: connected layers that do the same in any order of dimensions. Layers that are
/// added later belong to none. The layers must stay where they are in the graph.
class LayoutRegions
{
public:
    explicit LayoutRegions(const Graph& graph);

    size_t Size() const { return m_First.size() - 1; }
    /// Of one region, in the order of data flow: indices of layers.
    Span<const uint32_t> Members(size_t region) const
    {
        return {m_Members.data() + m_First[region], m_First[region + 1] - m_First[region]};
    }
    unsigned int RankOf(const Layer& member) const { return m_Ranks.Get(member.Output(0)); }
    bool Has(size_t region, const Layer& layer) const
    {
        return layer.m_Index < m_Region.size() && m_Region[layer.m_Index] == region;
    }

private:
    /// Whether an input is a data input of a member that another member feeds.
    bool IsInner(const InputSlot& input) const;
    bool IsMovable(const Layer& layer) const;
    /// Joins what belongs together; m_Region then leads towards a representative of each region.
    void Join(const LayerOrder& order);
    uint32_t Root(uint32_t layer);

    FixedRanks m_Ranks;
    PageVector<uint32_t> m_Region; ///< by layer index
    PageVector<uint32_t> m_First;  ///< by region: where its members begin
    PageVector<uint32_t> m_Members;
};

} // namespace tenon
