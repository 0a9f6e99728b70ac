// SPDX-License-Identifier: Apache-2.0
// See ShapeRelevantValues.hpp.
#include "optimizer/rewriting/ShapeRelevantValues.hpp"

#include <tenon/descriptors/ControlFlow.hpp>

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

class Finder
{
public:
    explicit Finder(const Graph& graph)
    {
        Collect(graph, nullptr);
        while (!m_Open.empty())
        {
            const OutputSlot* value = m_Open.back();
            m_Open.pop_back();
            Follow(*value);
        }
    }

    std::unordered_set<const Layer*> m_Layers;

private:
    /// What is known of a graph: the layer that it is nested in, its outputs and its writers of states.
    struct Scope
    {
        const Layer* m_Owner = nullptr;
        std::map<LayerBindingId, const Layer*> m_Outputs;
        std::map<std::string, const Layer*> m_Writers;
    };

    /// Notes the scopes, and opens the values to begin with.
    void Collect(const Graph& graph, const Layer* owner)
    {
        Scope& scope = m_Scopes[&graph];
        scope.m_Owner = owner;
        for (const auto& layer : graph.Layers())
        {
            if (layer->GetType() == LayerType::Output)
            {
                scope.m_Outputs[layer->GetBindingId()] = layer.get();
            }
            else if (layer->GetType() == LayerType::WriteState)
            {
                scope.m_Writers[layer->Descriptor<StateDescriptor>().m_Name] = layer.get();
            }
            const uint32_t valueInputs = layer->GetSchema().m_ValueInputs(layer->GetParameters());
            for (const InputSlot& input : layer->Inputs())
            {
                const bool isValue = input.GetSlotIndex() < 32 && ((valueInputs >> input.GetSlotIndex()) & 1U) != 0;
                if (isValue && input.GetConnectedOutputSlot() != nullptr)
                {
                    Open(input);
                    if (input.GetTensorInfo().GetDataType() == DataType::Float32)
                    {
                        m_Layers.insert(layer.get());
                    }
                }
            }
            for (const auto& body : layer->Bodies())
            {
                Collect(*body, layer.get());
            }
            if (layer->GetType() == LayerType::While)
            {
                OpenOutput(*layer->Bodies()[0], 0);
            }
        }
    }

    void Open(const InputSlot& input)
    {
        const OutputSlot* value = input.GetConnectedOutputSlot();
        if (value != nullptr && m_Seen.insert(value).second)
        {
            m_Open.push_back(value);
        }
    }

    void OpenOutput(const Graph& graph, LayerBindingId id)
    {
        const auto& outputs = m_Scopes.at(&graph).m_Outputs;
        const auto found = outputs.find(id);
        if (found != outputs.end())
        {
            Open(found->second->Input(0));
        }
    }

    void Follow(const OutputSlot& value)
    {
        const Layer& layer = value.GetOwningLayer();
        if (layer.GetSchema().Has(OpFlags::EndsSizes))
        {
            return;
        }
        const Scope& scope = m_Scopes.at(&layer.GetGraph());
        const auto index = static_cast<LayerBindingId>(value.CalculateIndexOnOwner());
        switch (layer.GetType())
        {
        case LayerType::Input:
            if (scope.m_Owner != nullptr)
            {
                const bool isLoop = scope.m_Owner->GetType() == LayerType::While;
                Open(scope.m_Owner->Input(static_cast<unsigned int>(layer.GetBindingId()) + (isLoop ? 0 : 1)));
                if (isLoop) // from the second iteration on the input is the output of the body
                {
                    OpenOutput(*scope.m_Owner->Bodies()[1], layer.GetBindingId());
                }
            }
            return;
        case LayerType::If:
            for (const auto& body : layer.Bodies())
            {
                OpenOutput(*body, index);
            }
            return;
        case LayerType::While:
            OpenOutput(*layer.Bodies()[1], index);
            Open(layer.Input(static_cast<unsigned int>(index)));
            return;
        case LayerType::ReadState:
        {
            const auto writer = scope.m_Writers.find(layer.Descriptor<StateDescriptor>().m_Name);
            if (writer != scope.m_Writers.end())
            {
                Open(writer->second->Input(0));
            }
            break;
        }
        default: break;
        }
        m_Layers.insert(&layer);
        for (const InputSlot& input : layer.Inputs())
        {
            Open(input);
        }
    }

    std::unordered_map<const Graph*, Scope> m_Scopes;
    std::unordered_set<const OutputSlot*> m_Seen;
    std::vector<const OutputSlot*> m_Open;
};

} // namespace

std::unordered_set<const Layer*> FindShapeRelevantLayers(const Graph& graph)
{
    return std::move(Finder(graph).m_Layers);
}

} // namespace tenon
