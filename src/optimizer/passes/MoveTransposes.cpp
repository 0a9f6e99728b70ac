// SPDX-License-Identifier: Apache-2.0
// Pass MoveTransposes: moves Transposes through layers that do the same in any order of dimensions, where fewer of them
// remain. Connected layers of that kind form a region. A region works in one order: all of it changes to another one,
// or none. Of the orders that Transposes at its border ask for, the one is taken with which the fewest remain there;
// the number of Transposes never grows. Where it stays, smaller tensors decide.
#include "optimizer/Pass.hpp"
#include "optimizer/layout/AbsorbTranspose.hpp"
#include "optimizer/layout/BorderedRegion.hpp"
#include "optimizer/layout/LayoutRegions.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/DeadLayers.hpp"

#include <array>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

PermutationVector Identity(unsigned int rank)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        mappings[i] = i;
    }
    return PermutationVector(mappings.data(), rank);
}

/// Reductions and searches that remove dimensions take their input as it is before a Transpose.
void AbsorbTransposes(Graph& graph, DeadLayers& deadLayers)
{
    for (Layer* layer : graph.TopologicalOrder({LayerType::ArgMinMax, LayerType::Mean, LayerType::Reduce}))
    {
        InputSlot& input = layer->Input(0);
        Layer* transpose = input.GetProducer();
        while (IsPlainTranspose(transpose) && !input.IsTensorInfoOverridden())
        {
            auto absorbed = AbsorbTranspose(*layer, MappingsOf(*transpose));
            if (absorbed == nullptr)
            {
                break;
            }
            layer->SetDescriptor(std::move(absorbed));
            input.GetConnectedOutputSlot()->Disconnect(input);
            transpose->Input(0).GetConnectedOutputSlot()->Connect(input);
            deadLayers.CutOffIfDead(*transpose);
            transpose = input.GetProducer();
        }
    }
}

} // namespace

void MoveTransposes(Graph& graph)
{
    const LayoutRegions regions(graph);
    DeadLayers deadLayers(graph);
    BorderedRegion region(graph, regions, deadLayers);
    for (size_t i = 0; i < regions.Size(); ++i)
    {
        region.SetRegion(i);
        const std::vector<PermutationVector> candidates = region.Candidates();
        if (candidates.empty())
        {
            continue;
        }
        BorderCost minCost = region.CostOf(Identity(candidates.front().GetSize()));
        const PermutationVector* best = nullptr;
        for (const PermutationVector& candidate : candidates)
        {
            const BorderCost cost = region.CostOf(candidate);
            if (cost < minCost)
            {
                minCost = cost;
                best = &candidate;
            }
        }
        if (best != nullptr)
        {
            region.Change(*best);
        }
    }
    AbsorbTransposes(graph, deadLayers);
    deadLayers.Remove();
}

} // namespace tenon::passes
