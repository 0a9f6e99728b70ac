// SPDX-License-Identifier: Apache-2.0
// SubgraphViewMaker: see SubgraphViewMaker.hpp.
#include "optimizer/subgraphs/SubgraphViewMaker.hpp"

#include <algorithm>

namespace tenon
{

SubgraphViewMaker::SubgraphViewMaker(std::span<Layer* const> layers)
    : m_Layers(layers.begin(), layers.end()), m_Makers(layers.size())
{
    size_t numSlots = 0;
    for (size_t place = 0; place < m_Layers.size(); ++place)
    {
        m_Places.emplace(m_Layers[place], place);
        numSlots += m_Layers[place]->NumInputs() + m_Layers[place]->GetNumOutputSlots();
    }
    m_Tensors.reserve(numSlots); // spans point into it
    m_ViewLayers.reserve(m_Layers.size());
    for (size_t place = 0; place < m_Layers.size(); ++place)
    {
        const Layer& layer = *m_Layers[place];
        const SubgraphTensor* inputs = m_Tensors.data() + m_Tensors.size();
        for (InputSlot& input : layer.Inputs())
        {
            OutputSlot* source = input.GetConnectedOutputSlot();
            m_Tensors.push_back(source == nullptr ? NoSubgraphTensor : NumberOf(*source));
        }
        const SubgraphTensor* outputs = m_Tensors.data() + m_Tensors.size();
        for (OutputSlot& output : layer.Outputs())
        {
            m_Tensors.push_back(NumberOf(output));
            const auto readers = output.GetConnections();
            if (std::any_of(readers.begin(), readers.end(),
                            [&](const InputSlot* reader)
                            { return PlaceOf(reader->GetOwningLayer()) == m_Layers.size(); }))
            {
                m_Outputs.push_back(m_Tensors.back());
            }
        }
        m_ViewLayers.push_back(
            {m_Makers[place].Make(layer), {inputs, layer.NumInputs()}, {outputs, layer.GetNumOutputSlots()}});
    }
    for (SubgraphTensor tensor = 0; tensor < m_Slots.size(); ++tensor)
    {
        m_Infos.push_back(&GetInfo(tensor));
        const Layer& producer = m_Slots[tensor]->GetOwningLayer();
        if (producer.GetConstant() == nullptr && PlaceOf(producer) == m_Layers.size())
        {
            m_Inputs.push_back(tensor);
        }
    }
}

SubgraphView SubgraphViewMaker::View() const
{
    return {m_ViewLayers, m_Inputs, m_Outputs, m_Infos};
}

size_t SubgraphViewMaker::PlaceOf(const Layer& layer) const
{
    const auto found = m_Places.find(&layer);
    return found == m_Places.end() ? m_Layers.size() : found->second;
}

SubgraphTensor SubgraphViewMaker::NumberOf(OutputSlot& slot)
{
    const auto [found, isNew] = m_Numbers.emplace(&slot, static_cast<SubgraphTensor>(m_Slots.size()));
    if (isNew)
    {
        m_Slots.push_back(&slot);
    }
    return found->second;
}

} // namespace tenon
