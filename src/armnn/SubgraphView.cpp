// SPDX-License-Identifier: Apache-2.0
// SubgraphView and OptimizationViews: see the headers of armnn/backends/ with their names.
#include <tenon/Exceptions.hpp>
#include <tenon/IConnectableLayer.hpp>

#include <algorithm>
#include <armnn/backends/OptimizationViews.hpp>
#include <armnn/backends/SubgraphView.hpp>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

namespace tenon
{

namespace
{

/// Throws unless each slot is there once and belongs to one of the layers.
template <typename Slot>
void CheckSlots(const std::vector<Slot*>& slots, const std::set<const IConnectableLayer*>& layers, const char* which)
{
    std::set<const Slot*> seen;
    for (const Slot* slot : slots)
    {
        if (slot == nullptr)
        {
            throw NullPointerException(std::string("an ") + which + " slot of a subgraph is null");
        }
        if (layers.count(&slot->GetOwningIConnectableLayer()) == 0 || !seen.insert(slot).second)
        {
            throw InvalidArgumentException(std::string("an ") + which +
                                           " slot of a subgraph is of no layer of it, or there twice");
        }
    }
}

template <typename Slots>
auto GetSlot(const Slots& slots, unsigned int index, const char* which)
{
    if (index >= slots.size())
    {
        throw InvalidArgumentException(std::string("there is no ") + which + " slot " + std::to_string(index) +
                                       " in a subgraph of " + std::to_string(slots.size()));
    }
    return slots[index];
}

} // namespace

SubgraphView::SubgraphView(IConnectableLayers&& layers, IInputSlots&& inputs, IOutputSlots&& outputs)
    : m_Layers(std::move(layers)), m_Inputs(std::move(inputs)), m_Outputs(std::move(outputs))
{
    Check();
    Sort();
}

SubgraphView::SubgraphView(IConnectableLayer* layer) : m_Layers{layer}
{
    if (layer == nullptr)
    {
        throw NullPointerException("the layer of a subgraph is null");
    }
    for (unsigned int i = 0; i < layer->GetNumInputSlots(); ++i)
    {
        m_Inputs.push_back(&layer->GetInputSlot(i));
    }
    for (unsigned int i = 0; i < layer->GetNumOutputSlots(); ++i)
    {
        m_Outputs.push_back(&layer->GetOutputSlot(i));
    }
}

SubgraphView::SubgraphView(const SubgraphView& subgraph)
    : std::enable_shared_from_this<SubgraphView>(), m_Layers(subgraph.m_Layers), m_Inputs(subgraph.m_Inputs),
      m_Outputs(subgraph.m_Outputs)
{
}

SubgraphView::SubgraphView(SubgraphView&& subgraph) noexcept
    : m_Layers(std::move(subgraph.m_Layers)), m_Inputs(std::move(subgraph.m_Inputs)),
      m_Outputs(std::move(subgraph.m_Outputs))
{
}

SubgraphView& SubgraphView::operator=(SubgraphView&& other) noexcept
{
    m_Layers = std::move(other.m_Layers);
    m_Inputs = std::move(other.m_Inputs);
    m_Outputs = std::move(other.m_Outputs);
    return *this;
}

SubgraphView::~SubgraphView() = default;

void SubgraphView::Check() const
{
    std::set<const IConnectableLayer*> layers;
    for (const IConnectableLayer* layer : m_Layers)
    {
        if (layer == nullptr)
        {
            throw NullPointerException("a layer of a subgraph is null");
        }
        if (!layers.insert(layer).second)
        {
            throw InvalidArgumentException(std::string("layer '") + layer->GetName() + "' is in a subgraph twice");
        }
    }
    CheckSlots(m_Inputs, layers, "input");
    CheckSlots(m_Outputs, layers, "output");
}

/// Puts producers before consumers. The next layer is the first one in the former order whose producers are placed.
void SubgraphView::Sort()
{
    struct Entry
    {
        IConnectableLayers::iterator m_Place;
        size_t m_Number = 0;  // in the order so far
        size_t m_Missing = 0; // producers of the subgraph that are not placed yet
    };
    std::unordered_map<const IConnectableLayer*, Entry> entries;
    for (auto place = m_Layers.begin(); place != m_Layers.end(); ++place)
    {
        entries.emplace(*place, Entry{place, entries.size(), 0});
    }
    std::map<size_t, const Entry*> ready;
    for (auto& [layer, entry] : entries)
    {
        for (unsigned int i = 0; i < layer->GetNumInputSlots(); ++i)
        {
            const IOutputSlot* const source = layer->GetInputSlot(i).GetConnection();
            entry.m_Missing += source != nullptr ? entries.count(&source->GetOwningIConnectableLayer()) : 0;
        }
        if (entry.m_Missing == 0)
        {
            ready.emplace(entry.m_Number, &entry);
        }
    }
    IConnectableLayers sorted;
    while (!ready.empty())
    {
        const auto place = ready.begin()->second->m_Place;
        ready.erase(ready.begin());
        const IConnectableLayer* const layer = *place;
        sorted.splice(sorted.end(), m_Layers, place);
        for (unsigned int o = 0; o < layer->GetNumOutputSlots(); ++o)
        {
            const IOutputSlot& output = layer->GetOutputSlot(o);
            for (unsigned int c = 0; c < output.GetNumConnections(); ++c)
            {
                const auto reader = entries.find(&output.GetConnection(c)->GetOwningIConnectableLayer());
                if (reader != entries.end() && --reader->second.m_Missing == 0)
                {
                    ready.emplace(reader->second.m_Number, &reader->second);
                }
            }
        }
    }
    if (!m_Layers.empty())
    {
        throw InvalidArgumentException(std::string("the layers of a subgraph are in a circle, with '") +
                                       m_Layers.front()->GetName() + "'");
    }
    m_Layers = std::move(sorted);
}

const IInputSlot* SubgraphView::GetIInputSlot(unsigned int index) const
{
    return GetSlot(m_Inputs, index, "input");
}

IInputSlot* SubgraphView::GetIInputSlot(unsigned int index)
{
    return GetSlot(m_Inputs, index, "input");
}

const IOutputSlot* SubgraphView::GetIOutputSlot(unsigned int index) const
{
    return GetSlot(m_Outputs, index, "output");
}

IOutputSlot* SubgraphView::GetIOutputSlot(unsigned int index)
{
    return GetSlot(m_Outputs, index, "output");
}

void SubgraphView::Clear()
{
    m_Layers.clear();
    m_Inputs.clear();
    m_Outputs.clear();
}

OptimizationViews::OptimizationViews(const NetworkOptions& networkOptions) : m_Network(INetwork::Create(networkOptions))
{
}

OptimizationViews::OptimizationViews(OptimizationViews&&) noexcept = default;
OptimizationViews& OptimizationViews::operator=(OptimizationViews&&) noexcept = default;
OptimizationViews::~OptimizationViews() = default;

bool OptimizationViews::Validate(const SubgraphView& originalSubgraph) const
{
    std::multiset<const IConnectableLayer*> named;
    const auto add = [&](const SubgraphView& subgraph)
    { named.insert(subgraph.GetIConnectableLayers().begin(), subgraph.GetIConnectableLayers().end()); };
    for (const auto* subgraphs : {&m_Failed, &m_Untouched, &m_Deleted})
    {
        for (const SubgraphView& subgraph : *subgraphs)
        {
            add(subgraph);
        }
    }
    for (const SubstitutionPair& pair : m_Substitutions)
    {
        const SubgraphView& before = pair.m_SubstitutableSubgraph;
        const SubgraphView& after = pair.m_ReplacementSubgraph;
        if (before.GetNumInputSlots() != after.GetNumInputSlots() ||
            before.GetNumOutputSlots() != after.GetNumOutputSlots())
        {
            return false;
        }
        add(before);
    }
    const auto& layers = originalSubgraph.GetIConnectableLayers();
    return named == std::multiset<const IConnectableLayer*>(layers.begin(), layers.end());
}

} // namespace tenon
