// SPDX-License-Identifier: Apache-2.0
// Program: see Program.hpp.
#include "runtime/Program.hpp"

#include "common/ErrorContext.hpp"
#include "common/Profiler.hpp"
#include "graph/MakeLayerView.hpp"
#include "runtime/PlanCache.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

Step::Step() = default;
Step::Step(Step&&) noexcept = default;
Step::~Step() = default;

Program::Program(std::unique_ptr<Graph> graph, const BackendRegistry& registry, const ModelOptions& options,
                 Profiler& profiler)
    : m_OwnedGraph(std::move(graph)), m_Graph(*m_OwnedGraph)
{
    NumberValues();
    MakeSteps(registry, options, profiler);
}

Program::Program(const Graph& graph, const BackendRegistry& registry, const ModelOptions& options, Profiler& profiler)
    : m_Graph(graph)
{
    NumberValues();
    MakeSteps(registry, options, profiler);
}

void Program::NumberValues()
{
    m_FirstValue.resize(m_Graph.Size());
    for (const auto& layer : m_Graph.Layers())
    {
        m_FirstValue[layer->m_Index] = static_cast<ValueId>(m_Values.size());
        const ConstantPayload* constant = layer->GetConstant();
        for (const OutputSlot& output : layer->Outputs())
        {
            m_Values.push_back({&output, constant != nullptr ? constant->m_Tensor.GetMemoryArea() : nullptr, 0});
        }
    }
}

ValueId Program::ValueOf(const InputSlot& input) const
{
    const OutputSlot* source = input.GetConnectedOutputSlot();
    return source == nullptr ? NoValue
                             : m_FirstValue[source->GetOwningLayer().m_Index] + source->CalculateIndexOnOwner();
}

State& Program::FindState(const Layer& layer)
{
    const std::string& name = layer.Descriptor<StateDescriptor>().m_Name;
    const auto [found, isNew] = m_StateIndex.emplace(name, m_States.size());
    if (isNew)
    {
        m_States.push_back({name});
    }
    return m_States[found->second];
}

void Program::AddInputs(Step& step)
{
    step.m_Inputs.reserve(step.m_Layer->GetNumInputSlots());
    for (const InputSlot& input : step.m_Layer->Inputs())
    {
        const ValueId value = ValueOf(input);
        if (value != NoValue && input.IsTensorInfoOverridden())
        {
            step.m_Overrides.resize(step.m_Layer->GetNumInputSlots(), nullptr);
            step.m_Overrides[step.m_Inputs.size()] = &input.GetTensorInfo();
        }
        step.m_Inputs.push_back(value);
        if (value != NoValue)
        {
            m_Values[value].m_LastUse = static_cast<uint32_t>(m_Steps.size());
        }
    }
}

void Program::MakeSteps(const BackendRegistry& registry, const ModelOptions& options, Profiler& profiler)
{
    std::map<std::string, std::unique_ptr<IWorkloadFactory>> factories;
    // Most layers run on the backend of the one before them: no look-up for those.
    const IWorkloadFactory* factory = nullptr;
    LayerViewMaker maker;
    m_Steps.reserve(m_Graph.Size());
    for (const auto& layer : m_Graph.Layers())
    {
        Step step;
        step.m_Layer = layer.get();
        step.m_FirstOutput = m_FirstValue[layer->m_Index];
        step.m_NumOutputs = layer->GetNumOutputSlots();
        switch (layer->GetType())
        {
        case LayerType::Constant: continue;
        case LayerType::Input:
            m_InputIndex.emplace(layer->GetBindingId(), m_Inputs.size());
            m_Inputs.push_back({layer->GetBindingId(), m_FirstValue[layer->m_Index], layer.get()});
            continue;
        case LayerType::Output:
            m_OutputIndex.emplace(layer->GetBindingId(), m_Outputs.size());
            m_Outputs.push_back({layer->GetBindingId(), ValueOf(layer->Input(0)), layer.get()});
            continue;
        case LayerType::WriteState:
        {
            State& state = FindState(*layer);
            if (state.m_Written != NoValue)
            {
                throw GraphValidationException(fmt::format("{} writes state '{}', which another layer writes too",
                                                           layer->Describe(), state.m_Name));
            }
            state.m_Written = ValueOf(layer->Input(0));
            continue;
        }
        case LayerType::ReadState:
        {
            State& state = FindState(*layer);
            if (state.m_Read != NoValue)
            {
                throw GraphValidationException(
                    fmt::format("{} reads state '{}', which another layer reads too", layer->Describe(), state.m_Name));
            }
            state.m_Read = step.m_FirstOutput;
            step.m_State = static_cast<uint32_t>(&state - m_States.data());
            AddInputs(step);
            m_Steps.push_back(std::move(step));
            continue;
        }
        case LayerType::If:
        case LayerType::While:
            for (const auto& body : layer->Bodies())
            {
                auto nested = std::make_unique<NestedProgram>();
                nested->m_Program = std::make_unique<const Program>(*body, registry, options, profiler);
                step.m_Bodies.push_back(std::move(nested));
            }
            AddInputs(step);
            m_Steps.push_back(std::move(step));
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
        AddInputs(step);
        try
        {
            const auto event = profiler.Scope(ProfilingCategory::Load, "CreateWorkload", layer.get());
            step.m_Workload = factory->CreateWorkload(maker.Make(*layer));
        }
        catch (...)
        {
            RethrowWithContext(
                fmt::format("making the workload of {} on {}", layer->Describe(), layer->GetBackendId().Get()));
        }
        m_Steps.push_back(std::move(step));
    }
    const auto end = static_cast<uint32_t>(m_Steps.size());
    for (const Binding& output : m_Outputs)
    {
        m_Values[output.m_Value].m_LastUse = end;
    }
    for (const State& state : m_States)
    {
        if (state.m_Written != NoValue)
        {
            m_Values[state.m_Written].m_LastUse = end;
        }
    }
    CheckStates();
}

void Program::CheckStates() const
{
    for (const State& state : m_States)
    {
        if (state.m_Read == NoValue || state.m_Written == NoValue)
        {
            continue;
        }
        const DataType read = m_Values[state.m_Read].m_Slot->GetTensorInfo().GetDataType();
        const DataType written = m_Values[state.m_Written].m_Slot->GetTensorInfo().GetDataType();
        if (read != written)
        {
            throw GraphValidationException(fmt::format("state '{}' is read as {} but written as {}", state.m_Name,
                                                       GetDataTypeName(read), GetDataTypeName(written)));
        }
    }
}

size_t Program::Find(const std::vector<Binding>& bindings, const BindingIndex& index, LayerBindingId id,
                     const char* kind)
{
    const auto found = index.find(id);
    if (found != index.end())
    {
        return found->second;
    }
    constexpr size_t most = 20; // of one message
    std::string there;
    for (size_t i = 0; i < bindings.size() && i < most; ++i)
    {
        there += fmt::format("{}{} ({})", there.empty() ? "" : ", ", bindings[i].m_Id, bindings[i].m_Layer->Describe());
    }
    if (bindings.size() > most)
    {
        there += fmt::format(" and {} more", bindings.size() - most);
    }
    throw InvalidArgumentException(fmt::format("the network has no {0} with binding id {1}; {2}", kind, id,
                                               there.empty() ? fmt::format("it has no {}s at all", kind)
                                                             : fmt::format("the ids of its {}s are {}", kind, there)));
}

} // namespace tenon
