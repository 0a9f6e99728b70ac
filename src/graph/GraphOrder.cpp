// SPDX-License-Identifier: Apache-2.0
// The orders of a Graph's layers.
#include "graph/Graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace tenon
{

LayerOrder Graph::TopologicalOrder() const
{
    enum class State : uint8_t
    {
        New,
        Open,
        Done
    };
    struct Visit
    {
        Layer* m_Layer;
        unsigned int m_NextInput;
    };
    PageVector<Layer*> order;
    order.reserve(m_Layers.size());
    if (m_IsInOrder)
    {
        for (const auto& layer : m_Layers)
        {
            order.push_back(layer.get());
        }
        return LayerOrder(std::move(order));
    }
    std::vector<State> states(m_Layers.size(), State::New);
    std::vector<Visit> stack; // an explicit stack: networks may be deeper than the thread's own
    for (const auto& root : m_Layers)
    {
        if (states[root->m_Index] != State::New)
        {
            continue;
        }
        stack.push_back({root.get(), 0});
        states[root->m_Index] = State::Open;
        while (!stack.empty())
        {
            Visit& visit = stack.back();
            if (visit.m_NextInput == visit.m_Layer->NumInputs())
            {
                states[visit.m_Layer->m_Index] = State::Done;
                order.push_back(visit.m_Layer);
                stack.pop_back();
                continue;
            }
            Layer* producer = visit.m_Layer->Input(visit.m_NextInput++).GetProducer();
            if (producer == nullptr || states[producer->m_Index] == State::Done)
            {
                continue;
            }
            if (states[producer->m_Index] == State::Open)
            {
                throw GraphValidationException(
                    fmt::format("the network has a cycle through {}; a layer cannot depend on its own output",
                                producer->Describe()));
            }
            states[producer->m_Index] = State::Open;
            stack.push_back({producer, 0});
        }
    }
    return LayerOrder(std::move(order));
}

LayerOrder Graph::TopologicalOrder(std::initializer_list<LayerType> types) const
{
    const auto isWanted = [&](LayerType type) { return std::find(types.begin(), types.end(), type) != types.end(); };
    PageVector<Layer*> order;
    if (m_IsInOrder)
    {
        for (size_t i = 0; i < m_Layers.size(); ++i)
        {
            if (isWanted(m_Types[i]))
            {
                order.push_back(m_Layers[i].get());
            }
        }
        return LayerOrder(std::move(order));
    }
    const LayerOrder all = TopologicalOrder();
    std::copy_if(all.begin(), all.end(), std::back_inserter(order),
                 [&](const Layer* layer) { return isWanted(layer->GetType()); });
    return LayerOrder(std::move(order));
}

LayerOrder Graph::LayersOf(LayerType type) const
{
    PageVector<Layer*> layers;
    layers.reserve(Count(type));
    for (size_t i = 0; i < m_Layers.size() && layers.size() < Count(type); ++i)
    {
        if (m_Types[i] == type)
        {
            layers.push_back(m_Layers[i].get());
        }
    }
    return LayerOrder(std::move(layers));
}

void Graph::Sort(const PageVector<Layer*>& order)
{
    const bool isSame = std::equal(order.begin(), order.end(), m_Layers.begin(), m_Layers.end(),
                                   [](const Layer* a, const LayerPtr& b) { return a == b.get(); });
    if (isSame && m_IsInOrder)
    {
        return;
    }
    PageVector<LayerPtr> sorted;
    sorted.reserve(order.size());
    for (const Layer* layer : order)
    {
        sorted.push_back(std::move(m_Layers[layer->m_Index]));
    }
    m_Layers = std::move(sorted);
    m_IsInOrder = true;
    for (size_t i = 0; i < m_Layers.size(); ++i)
    {
        Layer& layer = *m_Layers[i];
        layer.m_Index = static_cast<uint32_t>(i);
        m_Types[i] = layer.GetType();
    }
    for (const LayerPtr& layer : m_Layers)
    {
        m_IsInOrder = m_IsInOrder && std::all_of(layer->Inputs().begin(), layer->Inputs().end(),
                                                 [&](const InputSlot& input) {
                                                     return input.GetProducer() == nullptr ||
                                                            input.GetProducer()->m_Index < layer->m_Index;
                                                 });
    }
    NoteEdit();
}

} // namespace tenon
