// SPDX-License-Identifier: Apache-2.0
// Program: see Program.hpp.
#include "runtime/Program.hpp"

#include "common/Profiler.hpp"
#include "graph/MakeLayerView.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

Program::Program(std::unique_ptr<Graph> graph, const BackendRegistry& registry, const ModelOptions& options,
                 Profiler& profiler)
    : m_Graph(std::move(graph))
{
    NumberValues();
    MakeSteps(registry, options, profiler);
}

void Program::NumberValues()
{
    m_FirstValue.resize(m_Graph->Size());
    for (const auto& layer : m_Graph->Layers())
    {
        m_FirstValue[layer->m_Index] = static_cast<ValueId>(m_Values.size());
        const ConstantPayload* constant = layer->GetConstant();
        for (const OutputSlot& output : layer->Outputs())
        {
            m_Values.push_back({&output, constant != nullptr ? constant->m_Tensor.GetMemoryArea() : nullptr, 0});
        }
    }
}

void Program::MakeSteps(const BackendRegistry& registry, const ModelOptions& options, Profiler& profiler)
{
    std::map<std::string, std::unique_ptr<IWorkloadFactory>> factories;
    auto valueOf = [&](const InputSlot& input)
    {
        const OutputSlot* source = input.GetConnectedOutputSlot();
        return source == nullptr ? NoValue
                                 : m_FirstValue[source->GetOwningLayer().m_Index] + source->CalculateIndexOnOwner();
    };
    // Most layers run on the backend of the one before them: no look-up for those.
    const IWorkloadFactory* factory = nullptr;
    LayerViewMaker maker;
    m_Steps.reserve(m_Graph->Size());
    for (const auto& layer : m_Graph->Layers())
    {
        switch (layer->GetType())
        {
        case LayerType::Constant: continue;
        case LayerType::Input:
            m_Inputs.push_back({layer->GetBindingId(), m_FirstValue[layer->m_Index], layer.get()});
            continue;
        case LayerType::Output:
            m_Outputs.push_back({layer->GetBindingId(), valueOf(layer->Input(0)), layer.get()});
            continue;
        default: break;
        }
        if (factory == nullptr || factory->GetBackendId() != layer->GetBackendId())
        {
            auto& entry = factories[layer->GetBackendId().Get()];
            if (entry == nullptr)
            {
                entry = registry.Get(layer->GetBackendId()).CreateWorkloadFactory(options);
            }
            factory = entry.get();
        }
        Step step;
        step.m_Layer = layer.get();
        step.m_FirstOutput = m_FirstValue[layer->m_Index];
        step.m_NumOutputs = layer->GetNumOutputSlots();
        const LayerView view = maker.Make(*layer);
        step.m_Inputs.reserve(view.GetNumInputs());
        for (unsigned int i = 0; i < view.GetNumInputs(); ++i)
        {
            const ValueId value = valueOf(layer->Input(i));
            step.m_Inputs.push_back(value);
            if (value != NoValue)
            {
                m_Values[value].m_LastUse = static_cast<uint32_t>(m_Steps.size());
            }
        }
        try
        {
            const auto event = profiler.Scope(ProfilingCategory::Load, "CreateWorkload", &layer->GetNameStr());
            step.m_Workload = factory->CreateWorkload(view);
        }
        catch (Exception& error)
        {
            error.AddContext(
                fmt::format("making the workload of {} on {}", layer->Describe(), layer->GetBackendId().Get()));
            throw;
        }
        m_Steps.push_back(std::move(step));
    }
    for (const Binding& output : m_Outputs)
    {
        m_Values[output.m_Value].m_LastUse = static_cast<uint32_t>(m_Steps.size());
    }
}

size_t Program::Find(const std::vector<Binding>& bindings, LayerBindingId id, const char* kind)
{
    for (size_t i = 0; i < bindings.size(); ++i)
    {
        if (bindings[i].m_Id == id)
        {
            return i;
        }
    }
    std::string there;
    for (const Binding& binding : bindings)
    {
        there += fmt::format("{}{} ('{}')", there.empty() ? "" : ", ", binding.m_Id, binding.m_Layer->GetNameStr());
    }
    throw InvalidArgumentException(fmt::format("the network has no {} with binding id {}; there are {}", kind, id,
                                               there.empty() ? "none" : there));
}

} // namespace tenon
