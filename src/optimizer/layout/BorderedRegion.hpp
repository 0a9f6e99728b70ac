// SPDX-License-Identifier: Apache-2.0
// BorderedRegion: a region of layers that change their order of dimensions together, the Transposes at its border, and
// what becomes of both. For MoveTransposes.
#pragma once

#include "optimizer/layout/LayoutRegions.hpp"
#include "optimizer/layout/RegionBorder.hpp"
#include "optimizer/rewriting/DeadLayers.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tenon
{

/// A region with what is around it. The regions are looked at one after the other, each as the graph is by then.
class BorderedRegion
{
public:
    BorderedRegion(Graph& graph, const LayoutRegions& regions, DeadLayers& deadLayers)
        : m_Graph(graph), m_Regions(regions), m_DeadLayers(deadLayers)
    {
    }

    void SetRegion(size_t number);
    /// The orders that Transposes around the region ask for, the most frequent ones.
    std::vector<PermutationVector> Candidates();
    /// The Transposes at the border once the region works in this order. `mappings` is the identity for what is there.
    BorderCost CostOf(const PermutationVector& mappings) const;
    /// Lets the region work in this order.
    void Change(const PermutationVector& mappings);

private:
    using Edges = RegionBorder::Edges;
    /// Mappings, 0 behind the last one.
    using Votes = std::vector<std::array<unsigned int, MaxNumOfTensorDimensions>>;

    Layer& Member(size_t i) const { return *m_Graph.Layers()[m_Members[i]]; }
    void Vote(const PermutationVector& mappings);
    Layer& AddTranspose(OutputSlot& source, const PermutationVector& mappings, const TensorInfo& info);
    /// The values of the slot in the new order: the input of a Transpose that cancels, or a new Transpose.
    OutputSlot& MakeTransposed(const Edges& edges, const PermutationVector& mappings);
    /// A constant's info with ones in front, up to the rank of the region.
    TensorInfo WithRank(const TensorInfo& info) const;
    /// Puts Transposes back to the old order in front of readers outside of the region.
    void TransposeBack(const Edges& edges, const PermutationVector& inverse);

    Graph& m_Graph;
    const LayoutRegions& m_Regions;
    DeadLayers& m_DeadLayers;
    Span<const uint32_t> m_Members; ///< of the region that was looked at
    unsigned int m_Rank = 0;
    RegionBorder m_Inputs;
    RegionBorder m_Outputs;
    Votes m_Votes;
};

} // namespace tenon
