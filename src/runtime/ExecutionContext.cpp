// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: see ExecutionContext.hpp.
#include "runtime/ExecutionContext.hpp"

#include "common/ErrorContext.hpp"
#include "common/Profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace tenon
{

namespace
{

/// What a debug callback sees of a value.
class DebugHandle final : public ITensorHandle
{
public:
    DebugHandle(const TensorInfo& info, const void* memory) : m_Info(info), m_Memory(memory) {}
    const TensorInfo& GetTensorInfo() const override { return m_Info; }
    TensorShape GetShape() const override { return m_Info.GetShape(); }
    const void* Map(bool) const override { return m_Memory; }
    void Unmap() const override {}

private:
    const TensorInfo& m_Info;
    const void* m_Memory;
};

bool IsAligned(const void* memory, DataType type)
{
    return reinterpret_cast<uintptr_t>(memory) % GetAlignment(type) == 0;
}

} // namespace

void ExecutionContext::Run(const std::shared_ptr<const Plan>& plan, const RunArgs& args)
{
    struct Cleaner // gives memory of this run back, also after an exception
    {
        ~Cleaner() { m_Memory.clear(); }
        std::vector<LateMemory>& m_Memory;
    };
    const Cleaner cleaner{m_LateMemory};
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "PrepareInputs");
        UsePlan(plan);
        BindStates(args);
        BindInputs(args);
    }
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "PrepareOutputs");
        BindOutputs(args);
    }
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "Execute");
        RunPlannedSteps(args);
        for (size_t s = plan->Steps().size(); s < m_Program.Steps().size(); ++s)
        {
            RunLateStep(s, args);
        }
    }
    const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "WriteOutputs");
    CopyOutputs(args);
    WriteStates(args);
    WriteStagedOutputs();
}

const TensorInfo& ExecutionContext::InfoOf(ValueId value) const
{
    return m_Plan->IsComplete() ? m_Plan->Infos()[value] : m_LateInfos[value];
}

void ExecutionContext::UsePlan(const std::shared_ptr<const Plan>& plan)
{
    if (m_Plan != plan)
    {
        m_Plan = nullptr;
        m_Arena.Reserve(plan->ArenaBytes());
        m_Pointers.assign(m_Program.Values().size(), nullptr);
        for (ValueId v = 0; v < m_Pointers.size(); ++v)
        {
            const Location& location = plan->Locations()[v];
            if (location.m_Place == Place::Constant)
            {
                // Workloads get it as pointer to const; the table holds all kinds of memory.
                m_Pointers[v] = const_cast<void*>(m_Program.Values()[location.m_Index].m_Constant);
            }
            else if (location.m_Place == Place::Arena)
            {
                m_Pointers[v] = m_Arena.Data() + location.m_Offset;
            }
        }
        m_Plan = plan;
    }
    if (!plan->IsComplete())
    {
        m_LateInfos = plan->Infos();
        m_LateMemory.assign(m_Program.Values().size(), nullptr);
        m_LateBytes = plan->ArenaBytes();
        for (ValueId v = 0; v < m_Pointers.size(); ++v)
        {
            if (plan->Locations()[v].m_Place == Place::None)
            {
                m_Pointers[v] = nullptr; // what an earlier run left is gone
            }
        }
    }
}

void ExecutionContext::BindInputs(const RunArgs& args)
{
    m_InputStaging.resize(m_Program.Inputs().size());
    m_BoundInputs.resize(m_Program.Inputs().size());
    m_InputRanges.clear();
    for (size_t i = 0; i < m_BoundInputs.size(); ++i)
    {
        const TensorInfo& info = m_Plan->Infos()[m_Program.Inputs()[i].m_Value];
        const void* memory = args.m_Inputs[i];
        const size_t bytes = info.GetNumBytes();
        if (bytes != 0)
        {
            const auto begin = reinterpret_cast<uintptr_t>(memory);
            m_InputRanges.emplace_back(begin, begin + bytes);
        }
        if (bytes != 0 && !IsAligned(memory, info.GetDataType()))
        {
            m_InputStaging[i].Reserve(bytes);
            std::memcpy(m_InputStaging[i].Data(), memory, bytes);
            memory = m_InputStaging[i].Data();
        }
        m_BoundInputs[i] = const_cast<void*>(memory);
    }
    std::sort(m_InputRanges.begin(), m_InputRanges.end());
    for (size_t i = 1; i < m_InputRanges.size(); ++i)
    {
        m_InputRanges[i].second = std::max(m_InputRanges[i].second, m_InputRanges[i - 1].second);
    }
    for (const ValueId v : m_Plan->Bound())
    {
        if (m_Plan->Locations()[v].m_Place == Place::Input)
        {
            m_Pointers[v] = m_BoundInputs[m_Plan->Locations()[v].m_Index];
        }
    }
}

bool ExecutionContext::OverlapsInput(const void* memory, size_t bytes) const
{
    // Of the inputs that begin before the end of the memory, does one end behind its beginning?
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const auto next = std::partition_point(m_InputRanges.begin(), m_InputRanges.end(),
                                           [&](const auto& range) { return range.first < begin + bytes; });
    return next != m_InputRanges.begin() && std::prev(next)->second > begin;
}

void ExecutionContext::AskForOutput(size_t index, const RunArgs& args)
{
    const TensorInfo& info = InfoOf(m_Program.Outputs()[index].m_Value);
    const size_t bytes = info.GetNumBytes();
    void* memory = args.m_GetOutput(index, info);
    m_CallerOutputs[index] = memory;
    const bool aligned = reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t) == 0;
    if (bytes != 0 && (!aligned || OverlapsInput(memory, bytes)))
    {
        m_OutputStaging[index].Reserve(bytes);
        memory = m_OutputStaging[index].Data();
    }
    m_Outputs[index] = memory;
}

void ExecutionContext::BindOutputs(const RunArgs& args)
{
    m_Outputs.assign(m_Program.Outputs().size(), nullptr);
    m_CallerOutputs.assign(m_Program.Outputs().size(), nullptr);
    m_OutputStaging.resize(m_Program.Outputs().size());
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (m_Plan->Locations()[m_Program.Outputs()[i].m_Value].m_Place != Place::None)
        {
            AskForOutput(i, args);
        }
    }
    for (const ValueId v : m_Plan->Bound())
    {
        if (m_Plan->Locations()[v].m_Place == Place::Output)
        {
            m_Pointers[v] = m_Outputs[m_Plan->Locations()[v].m_Index];
        }
    }
}

void ExecutionContext::Execute(const Step& step, const IShapedWorkload& workload, void* scratch, ILateOutputs* late,
                               const RunArgs& args)
{
    m_StepInputs.clear();
    for (ValueId value : step.m_Inputs)
    {
        m_StepInputs.push_back(value == NoValue ? nullptr : m_Pointers[value]);
    }
    ExecuteArgs execute;
    execute.m_Inputs = m_StepInputs;
    execute.m_Outputs = Span<void* const>(m_Pointers.data() + step.m_FirstOutput, step.m_NumOutputs);
    execute.m_Scratch = scratch;
    execute.m_Parallel = args.m_Parallel;
    execute.m_LateOutputs = late;
    try
    {
        const auto event =
            args.m_Profiler->Scope(ProfilingCategory::Inference, step.m_Workload->GetName(), step.m_Layer);
        workload.Execute(execute);
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("running {} on {}", step.m_Layer->Describe(), step.m_Layer->GetBackendId().Get()));
    }
    if (args.m_Debug != nullptr)
    {
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            DebugHandle handle(InfoOf(step.m_FirstOutput + k), m_Pointers[step.m_FirstOutput + k]);
            (*args.m_Debug)(step.m_Layer->GetGuid(), k, &handle);
        }
    }
}

void ExecutionContext::RunPlannedSteps(const RunArgs& args)
{
    for (size_t s = 0; s < m_Plan->Steps().size(); ++s)
    {
        const PlannedStep& planned = m_Plan->Steps()[s];
        const Step& step = m_Program.Steps()[s];
        if (step.m_State != NoState)
        {
            RunStateStep(step, m_Plan->Infos()[step.m_FirstOutput], args.m_Session->States()[step.m_State]);
            continue;
        }
        Execute(step, *planned.m_Workload, m_Arena.Data() + planned.m_ScratchOffset, nullptr, args);
    }
}

void ExecutionContext::CopyOutputs(const RunArgs& args)
{
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        const ValueId value = m_Program.Outputs()[i].m_Value;
        if (m_Plan->Locations()[value].m_Place == Place::None)
        {
            AskForOutput(i, args);
        }
        const size_t bytes = InfoOf(value).GetNumBytes();
        if (bytes != 0 && m_Outputs[i] != m_Pointers[value])
        {
            std::memcpy(m_Outputs[i], m_Pointers[value], bytes);
        }
    }
}

void ExecutionContext::WriteStagedOutputs()
{
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (m_Outputs[i] != m_CallerOutputs[i])
        {
            std::memcpy(m_CallerOutputs[i], m_Outputs[i], InfoOf(m_Program.Outputs()[i].m_Value).GetNumBytes());
        }
    }
}

} // namespace tenon
