// SPDX-License-Identifier: Apache-2.0
// See LayoutRegions.hpp.
#include "optimizer/layout/LayoutRegions.hpp"

#include "optimizer/layout/LayoutRules.hpp"

namespace tenon
{

namespace
{

constexpr uint32_t NoRegion = UINT32_MAX;

} // namespace

LayoutRegions::LayoutRegions(const Graph& graph) : m_Ranks(graph.Size()), m_Region(graph.Size(), NoRegion)
{
    const LayerOrder order = graph.TopologicalOrder();
    m_Ranks.AskReaders(order);
    Join(order);
    // Regions are numbered in the order of their first members, which come in the order of data flow.
    PageVector<uint32_t> number(graph.Size(), NoRegion); // by representative
    PageVector<uint32_t> sizes;
    PageVector<uint32_t> places(graph.IsInOrder() ? 0 : graph.Size());
    for (size_t i = 0; i < places.size(); ++i)
    {
        places[i] = order[i]->m_Index;
    }
    const auto at = [&](size_t i) { return places.empty() ? static_cast<uint32_t>(i) : places[i]; };
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        if (m_Region[at(i)] == NoRegion)
        {
            continue;
        }
        uint32_t& region = number[Root(at(i))];
        if (region == NoRegion)
        {
            region = static_cast<uint32_t>(sizes.size());
            sizes.push_back(0);
        }
        ++sizes[region];
    }
    m_First.assign(1, 0);
    for (const uint32_t size : sizes)
    {
        m_First.push_back(m_First.back() + size);
    }
    m_Members.resize(m_First.back());
    PageVector<uint32_t> next(m_First.begin(), m_First.end() - 1);
    PageVector<uint32_t> regions(graph.Size(), NoRegion);
    for (size_t i = 0; i < graph.Size(); ++i)
    {
        const uint32_t layer = at(i);
        if (m_Region[layer] != NoRegion)
        {
            regions[layer] = number[Root(layer)];
            m_Members[next[regions[layer]]++] = layer;
        }
    }
    m_Region = std::move(regions);
}

void LayoutRegions::Join(const LayerOrder& order)
{
    for (const Layer* layer : order)
    {
        m_Ranks.AskProducer(*layer);
        if (!IsMovable(*layer))
        {
            continue;
        }
        m_Region[layer->m_Index] = layer->m_Index;
        for (const InputSlot& input : layer->Inputs())
        {
            if (IsInner(input))
            {
                m_Region[Root(layer->m_Index)] = Root(input.GetProducer()->m_Index);
            }
        }
    }
}

uint32_t LayoutRegions::Root(uint32_t layer)
{
    while (m_Region[layer] != layer)
    {
        m_Region[layer] = m_Region[m_Region[layer]];
        layer = m_Region[layer];
    }
    return layer;
}

bool LayoutRegions::IsInner(const InputSlot& input) const
{
    const Layer* producer = input.GetProducer(); // which came before it
    return producer != nullptr && m_Region[producer->m_Index] != NoRegion &&
           IsDataInput(input.GetOwningLayer(), input.GetSlotIndex());
}

bool LayoutRegions::IsMovable(const Layer& layer) const
{
    const LayoutKind kind = GetLayoutKind(layer.GetType());
    const unsigned int rank = kind == LayoutKind::None ? 0 : m_Ranks.Get(layer.Output(0));
    if (rank < 2 || !MayPermute(layer, rank))
    {
        return false;
    }
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* source = input.GetConnectedOutputSlot();
        if (input.IsTensorInfoOverridden())
        {
            return false;
        }
        if (!IsDataInput(layer, input.GetSlotIndex()) || (source == nullptr && input.GetSlotIndex() != 0))
        {
            continue;
        }
        const bool isLowerConstant = kind == LayoutKind::Broadcast && source != nullptr &&
                                     source->GetOwningLayer().GetConstant() != nullptr &&
                                     m_Ranks.Get(*source) <= rank && !source->GetTensorInfo().HasPerAxisQuantization();
        if (source == nullptr || (m_Ranks.Get(*source) != rank && !isLowerConstant))
        {
            return false;
        }
    }
    return true;
}

} // namespace tenon
