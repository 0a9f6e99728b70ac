// SPDX-License-Identifier: Apache-2.0
// Program: see Program.hpp.
#include "runtime/Program.hpp"

#include "runtime/PlanCache.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

Step::Step() = default;
Step::Step(Step&&) noexcept = default;
Step::~Step() = default;

Program::Program(std::unique_ptr<Graph> graph, const MemorySpaces& memories, WorkloadFactories& factories)
    : m_OwnedGraph(std::move(graph)), m_Graph(*m_OwnedGraph), m_Memories(memories),
      m_HostAlignment(memories[HostMemory].m_Alignment)
{
    MakeSteps(factories);
    factories.Finish();
}

Program::Program(const Graph& graph, const MemorySpaces& memories, WorkloadFactories& factories)
    : m_Graph(graph), m_Memories(memories), m_HostAlignment(memories[HostMemory].m_Alignment)
{
    MakeSteps(factories);
}

void Program::NumberValues(const Layer& layer)
{
    m_FirstValue.push_back(static_cast<ValueId>(m_Values.size()));
    const ConstantPayload* constant = layer.GetConstant();
    for (const OutputSlot& output : layer.Outputs())
    {
        m_Values.push_back(
            {&output, constant != nullptr ? constant->m_Tensor.GetMemoryArea() : nullptr, 0, HostMemory});
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
    const Span<InputSlot> inputs = step.m_Layer->Inputs();
    auto* const values = static_cast<ValueId*>(m_Memory.Allocate(inputs.size() * sizeof(ValueId), alignof(ValueId)));
    const TensorInfo** overrides = nullptr;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        values[i] = ValueOf(inputs[i]);
        if (values[i] == NoValue)
        {
            continue;
        }
        Value& value = m_Values[values[i]];
        value.m_LastUse = static_cast<uint32_t>(m_Steps.size());
        value.m_IsReadAgain = value.m_IsRead;
        value.m_IsRead = true;
        if (inputs[i].IsTensorInfoOverridden())
        {
            if (overrides == nullptr)
            {
                overrides = static_cast<const TensorInfo**>(
                    m_Memory.Allocate(inputs.size() * sizeof(const TensorInfo*), alignof(const TensorInfo*)));
                std::fill_n(overrides, inputs.size(), nullptr);
            }
            overrides[i] = &inputs[i].GetTensorInfo();
        }
    }
    step.m_Inputs = {values, inputs.size()};
    step.m_Overrides = {overrides, overrides != nullptr ? inputs.size() : 0};
}

void Program::SetMemory(Step& step, MemoryId memory)
{
    step.m_Memory = memory;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        m_Values[step.m_FirstOutput + k].m_Memory = memory;
    }
    m_UsesDevices = m_UsesDevices || memory != HostMemory;
}

void Program::CheckMemory(const Step& step) const
{
    const uint32_t valueInputs = step.m_Layer->GetSchema().m_ValueInputs(step.m_Layer->GetParameters());
    for (size_t i = 0; i < step.m_Inputs.size(); ++i)
    {
        if (step.m_Inputs[i] == NoValue || m_Values[step.m_Inputs[i]].IsConstant())
        {
            continue;
        }
        const MemoryId memory = m_Values[step.m_Inputs[i]].m_Memory;
        const bool staysOnHost = i < 32 && ((valueInputs >> i) & 1U) != 0;
        const MemoryId wanted = staysOnHost ? HostMemory : step.m_Memory;
        if (memory != wanted)
        {
            throw GraphValidationException(fmt::format("input {} of {} is in memory {}, but must be in memory {}; "
                                                       "optimize the network with the device spec of the runtime that "
                                                       "loads it",
                                                       i, step.m_Layer->Describe(), m_Memories[memory].m_Name,
                                                       m_Memories[wanted].m_Name));
        }
    }
}

void Program::CheckBoundMemory() const
{
    const auto check = [&](ValueId value, const std::string& what)
    {
        if (value != NoValue && m_Values[value].m_Memory != HostMemory)
        {
            throw GraphValidationException(fmt::format("{} is in memory {}, but must be on the host; optimize the "
                                                       "network with the device spec of the runtime that loads it",
                                                       what, m_Memories[m_Values[value].m_Memory].m_Name));
        }
    };
    for (const Binding& output : m_Outputs)
    {
        check(output.m_Value, output.m_Layer->Describe());
    }
    for (const State& state : m_States)
    {
        check(state.m_Written, fmt::format("state '{}'", state.m_Name));
    }
}

void Program::MakeSteps(WorkloadFactories& factories)
{
    // Most layers run on the backend of the previous layer and need no look-up.
    const IWorkloadFactory* factory = nullptr;
    MemoryId memory = HostMemory;
    std::vector<WorkloadJob> jobs;
    if (!m_Graph.IsInOrder())
    {
        throw GraphValidationException("the layers are not in an order of execution; optimize the network");
    }
    m_Steps.reserve(m_Graph.Size()); // jobs store their workloads there, so that steps must not move
    jobs.reserve(m_Graph.Size());
    m_Values.reserve(m_Graph.Size());
    m_FirstValue.reserve(m_Graph.Size());
    for (const auto& layer : m_Graph.Layers())
    {
        NumberValues(*layer);
        Step step;
        step.m_Layer = layer.get();
        step.m_Type = layer->GetType();
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
        case LayerType::WriteState: FindState(*layer).m_Written = ValueOf(layer->Input(0)); continue;
        case LayerType::ReadState:
        {
            State& state = FindState(*layer);
            state.m_Read = step.m_FirstOutput;
            step.m_State = static_cast<uint32_t>(&state - m_States.data());
            AddInputs(step);
            CheckMemory(step);
            m_Steps.push_back(std::move(step));
            continue;
        }
        case LayerType::If:
        case LayerType::While:
            for (const auto& body : layer->Bodies())
            {
                auto nested = std::make_unique<NestedProgram>();
                nested->m_Program = std::make_unique<const Program>(*body, m_Memories, factories);
                step.m_Bodies.push_back(std::move(nested));
            }
            AddInputs(step);
            CheckMemory(step);
            m_Steps.push_back(std::move(step));
            continue;
        case LayerType::MemCopy:
        case LayerType::MemImport:
            AddInputs(step);
            SetMemory(step, m_Memories.Of(layer->GetBackendId()));
            if (layer->GetType() == LayerType::MemImport)
            {
                m_HostAlignment = std::max(m_HostAlignment, m_Memories[step.m_Memory].m_Alignment);
            }
            m_Steps.push_back(std::move(step));
            continue;
        default: break;
        }
        if (factory == nullptr || factory->GetBackendId() != layer->GetBackendId())
        {
            factory = &factories.Get(layer->GetBackendId());
            memory = m_Memories.Of(layer->GetBackendId());
        }
        AddInputs(step);
        SetMemory(step, memory);
        if (m_UsesDevices)
        {
            CheckMemory(step);
        }
        m_Steps.push_back(std::move(step));
        jobs.push_back({layer.get(), factory, &m_Steps.back().m_Workload});
    }
    factories.Make(jobs);
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
    CheckBoundMemory();
    MarkShapeRelevantValues();
}

void Program::MarkShapeRelevantValues()
{
    for (size_t s = m_Steps.size(); s-- > 0;)
    {
        const Step& step = m_Steps[s];
        const OpSchema& schema = step.m_Layer->GetSchema();
        const uint32_t needed = schema.m_ValueInputs(step.m_Layer->GetParameters());
        bool needsAll = false;
        for (uint32_t k = 0; k < step.m_NumOutputs && !schema.Has(OpFlags::EndsSizes); ++k)
        {
            needsAll = needsAll || m_Values[step.m_FirstOutput + k].m_IsShapeRelevant;
        }
        for (size_t i = 0; i < step.m_Inputs.size() && (needsAll || needed != 0); ++i)
        {
            if (step.m_Inputs[i] != NoValue && (needsAll || (i < 32 && ((needed >> i) & 1U) != 0)))
            {
                m_Values[step.m_Inputs[i]].m_IsShapeRelevant = true;
            }
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
    constexpr size_t max = 20; // entries of one message
    std::string there;
    for (size_t i = 0; i < bindings.size() && i < max; ++i)
    {
        there += fmt::format("{}{} ({})", there.empty() ? "" : ", ", bindings[i].m_Id, bindings[i].m_Layer->Describe());
    }
    if (bindings.size() > max)
    {
        there += fmt::format(" and {} more", bindings.size() - max);
    }
    throw InvalidArgumentException(fmt::format("the network has no {0} with binding id {1}; {2}", kind, id,
                                               there.empty() ? fmt::format("it has no {}s at all", kind)
                                                             : fmt::format("the ids of its {}s are {}", kind, there)));
}

} // namespace tenon
