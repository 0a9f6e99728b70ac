// SPDX-License-Identifier: Apache-2.0
// FixedRanks: see FixedRanks.hpp.
#include "optimizer/layout/FixedRanks.hpp"

#include "graph/FixedShapes.hpp"
#include "graph/Ranks.hpp"
#include "optimizer/layout/LayoutRules.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>

namespace tenon
{

namespace
{

/// Whether all data inputs and outputs have one rank (those that broadcast aside).
bool PreservesRank(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Mean:
    case LayerType::Reduce: return KeepsRank(layer);
    case LayerType::StridedSlice:
        return layer.Descriptor<StridedSliceDescriptor>().m_ShrinkAxisMask == 0 &&
               layer.Descriptor<StridedSliceDescriptor>().m_NewAxisMask == 0;
    default: return KeepsRank(layer) || GetLayoutKind(layer.GetType()) == LayoutKind::Same;
    }
}

unsigned int RankIfKnown(const TensorShape& shape)
{
    return shape.GetDimensionality() == Dimensionality::Specified ? shape.GetNumDimensions() : 0;
}

} // namespace

FixedRanks::FixedRanks(const Graph& graph) : FixedRanks(graph.Size(), graph.TopologicalOrder())
{
    const FixedShapes fixed(graph);
    for (const auto& layer : graph.Layers())
    {
        for (const OutputSlot& output : layer->Outputs())
        {
            if (fixed.IsFixed(output))
            {
                Set(output, RankIfKnown(output.GetTensorInfo().GetShape()));
            }
        }
    }
}

FixedRanks::FixedRanks(size_t size, const LayerOrder& order) : FixedRanks(size)
{
    AskReaders(order);
    for (const Layer* layer : order)
    {
        AskProducer(*layer);
    }
}

void FixedRanks::AskReaders(const LayerOrder& order)
{
    for (const Layer* reader : order.Backward())
    {
        const Layer& layer = *reader;
        if (layer.NumInputs() == 0 || layer.Input(0).GetConnectedOutputSlot() == nullptr ||
            layer.Input(0).IsTensorInfoOverridden())
        {
            continue;
        }
        unsigned int rank = GetOperatorRank(layer);
        if (rank == 0 && PreservesRank(layer))
        {
            rank = Get(layer.Output(0));
        }
        Set(*layer.Input(0).GetConnectedOutputSlot(), rank);
    }
}

void FixedRanks::AskProducer(const Layer& layer)
{
    if (layer.GetNumOutputSlots() == 0)
    {
        return;
    }
    unsigned int rank = GetFixedRank(layer);
    if (layer.GetType() == LayerType::Constant)
    {
        rank = RankIfKnown(layer.Output(0).GetTensorInfo().GetShape());
    }
    else if (rank == 0 && PreservesRank(layer))
    {
        rank = RankOfData(layer, false);
    }
    else if (GetLayoutKind(layer.GetType()) == LayoutKind::Broadcast)
    {
        rank = RankOfData(layer, true);
    }
    for (const OutputSlot& output : layer.Outputs())
    {
        Set(output, rank);
    }
}

unsigned int FixedRanks::RankOfData(const Layer& layer, bool needsAll) const
{
    unsigned int rank = 0;
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* source = input.GetConnectedOutputSlot();
        if (!IsDataInput(layer, input.GetSlotIndex()))
        {
            continue;
        }
        const bool isUsable = source != nullptr && !input.IsTensorInfoOverridden();
        const unsigned int given = isUsable ? Get(*source) : 0;
        const bool isScalar = isUsable && source->GetOwningLayer().GetConstant() != nullptr;
        if (given == 0 && needsAll && !isScalar)
        {
            return 0;
        }
        rank = std::max(rank, given);
    }
    return rank;
}

unsigned int FixedRanks::Get(const OutputSlot& slot) const
{
    const uint32_t layer = slot.GetOwningLayer().m_Index;
    if (layer >= m_First.size())
    {
        return 0;
    }
    if (slot.CalculateIndexOnOwner() == 0)
    {
        return m_First[layer];
    }
    const auto found = m_Further.find(&slot);
    return found != m_Further.end() ? found->second : 0;
}

void FixedRanks::Set(const OutputSlot& slot, unsigned int rank)
{
    const bool isFirst = slot.CalculateIndexOnOwner() == 0;
    uint8_t& known = isFirst ? m_First[slot.GetOwningLayer().m_Index] : m_Further[&slot];
    known = known == 0 ? static_cast<uint8_t>(rank) : known;
}

} // namespace tenon
