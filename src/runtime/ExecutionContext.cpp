// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: see ExecutionContext.hpp. A run from its beginning to its end, the memory of its plan, and what
// steps of any kind have in common.
#include "runtime/ExecutionContext.hpp"

#include "common/ErrorContext.hpp"
#include "common/Populate.hpp"
#include "common/Profiler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

ExecutionContext::ExecutionContext(const Program& program, DeviceQueues* queues)
    : m_Program(program), m_Arena(0, HostAllocator(), program.HostAlignment()), m_Queues(queues)
{
    if (m_Queues == nullptr && program.Memories().Size() > 1)
    {
        m_OwnedQueues = std::make_unique<DeviceQueues>(program.Memories());
        m_Queues = m_OwnedQueues.get();
    }
    if (program.UsesDevices())
    {
        m_Devices = std::make_unique<DeviceRun>(program, *m_Queues);
    }
}

void ExecutionContext::Run(const std::shared_ptr<const Plan>& plan, const RunArgs& args)
{
    struct Cleaner // gives memory of this run back, also after an exception
    {
        ~Cleaner()
        {
            if (m_Context.m_Devices != nullptr)
            {
                m_Context.m_Queues->Drain();
                m_Context.m_Devices->EndRun();
            }
            m_Context.m_LateWorkloads.clear();
            m_Context.m_LateMemory.clear();
        }
        ExecutionContext& m_Context;
    };
    const Cleaner cleaner{*this};
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
        ShowInputs(args);
        RunPlannedSteps(args);
        for (size_t s = plan->Steps().size(); s < m_Program.Steps().size(); ++s)
        {
            RunLateStep(s, args);
        }
        if (m_Devices != nullptr)
        {
            m_Queues->WaitAll(); // what fails now must not become a state
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
        const size_t arenaBytes = plan->Arenas()[HostMemory].m_Bytes;
        if (m_Devices != nullptr && arenaBytes > m_Arena.Bytes())
        {
            m_Devices->ForgetHostArena();
        }
        if (arenaBytes > m_Arena.Bytes())
        {
            try
            {
                m_Arena.Reserve(arenaBytes);
            }
            catch (...)
            {
                RethrowWithContext("taking memory for what layers hand on to each other");
            }
            if (HostAllocator() == nullptr) // what pages an application's memory has is its own choice
            {
                for (const ByteRange& range : plan->GetWritten())
                {
                    UseHugePages(m_Arena.Data() + range.m_Begin, range.m_End - range.m_Begin);
                    Populate(m_Arena.Data() + range.m_Begin, range.m_End - range.m_Begin);
                }
            }
        }
        m_Pointers.assign(m_Program.Values().size(), nullptr);
        for (ValueId v = 0; v < m_Pointers.size(); ++v)
        {
            const Location& location = plan->Locations()[v];
            if (location.m_Place == Place::Constant)
            {
                // Workloads get it as pointer to const; the table holds all kinds of memory.
                auto* const constant =
                    static_cast<std::byte*>(const_cast<void*>(m_Program.Values()[location.m_Index].m_Constant));
                m_Pointers[v] = constant + location.m_Offset;
            }
            else if (location.m_Place == Place::Arena && m_Program.Values()[v].m_Memory == HostMemory)
            {
                m_Pointers[v] = m_Arena.Data() + location.m_Offset;
            }
        }
        if (m_Devices != nullptr)
        {
            m_Devices->UsePlan(*plan, m_Arena);
        }
        m_Plan = plan;
    }
    if (!plan->IsComplete())
    {
        m_LateInfos = plan->Infos();
        m_LateMemory.assign(m_Program.Values().size(), nullptr);
        m_LateBytes = plan->TotalBytes();
        for (ValueId v = 0; v < m_Pointers.size(); ++v)
        {
            if (plan->Locations()[v].m_Place == Place::None)
            {
                m_Pointers[v] = nullptr; // what an earlier run left is gone
                if (m_Devices != nullptr)
                {
                    m_Devices->SetTensor(v, {});
                }
            }
        }
    }
}

void ExecutionContext::Execute(const Step& step, const IShapedWorkload& workload, const char* kernelName,
                               const Scratch& scratch, ILateOutputs* late, const RunArgs& args)
{
    m_StepInputs.clear();
    for (ValueId value : step.m_Inputs)
    {
        m_StepInputs.push_back(value == NoValue ? nullptr : m_Pointers[value]);
    }
    ExecuteArgs execute;
    execute.m_Inputs = m_StepInputs;
    execute.m_Outputs = Span<void* const>(m_Pointers.data() + step.m_FirstOutput, step.m_NumOutputs);
    execute.m_Scratch = scratch.m_Host;
    execute.m_Parallel = args.m_Parallel;
    execute.m_LateOutputs = late;
    try
    {
        if (step.m_Memory != HostMemory)
        {
            m_Devices->Prepare(step, *m_Plan, scratch.m_Device, execute);
        }
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, kernelName, step.m_Layer);
        workload.Execute(execute);
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("running {} on {}", step.m_Layer->Describe(), step.m_Layer->GetBackendId().Get()));
    }
}

AlignedMemory ExecutionContext::TakeLate(const Step& step, size_t bytes, size_t alignment) const
{
    try
    {
        return AlignedMemory(bytes, HostAllocator(), alignment);
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("taking memory for {}", step.m_Layer->Describe()));
    }
}

const ImportedMemory* ExecutionContext::FindImported(ValueId value, const RunArgs& args) const
{
    const Location& location = m_Plan->Locations()[value];
    return location.m_Place == Place::Input && !args.m_ImportedInputs.empty() ? args.m_ImportedInputs[location.m_Index]
                                                                              : nullptr;
}

void ExecutionContext::RunCopyStep(size_t index, const RunArgs& args)
{
    const Step& step = m_Program.Steps()[index];
    const ValueId input = step.m_Inputs[0];
    const ValueId output = step.m_FirstOutput;
    const size_t bytes = InfoOf(output).GetNumBytes();
    const auto event =
        args.m_Profiler->Scope(ProfilingCategory::Inference, step.m_Layer->GetSchema().m_Name, step.m_Layer);
    try
    {
        if (IsImport(m_Program, step))
        {
            const uint64_t used = m_Plan->IsComplete() ? m_Plan->TotalBytes() : m_LateBytes;
            m_Devices->Import(step, m_Pointers[input], bytes, FindImported(input, args),
                              args.m_Limits->m_MaxTotalBytes - std::min(args.m_Limits->m_MaxTotalBytes, used));
        }
        else if (step.m_Memory == HostMemory && m_Program.Values()[input].m_Memory == HostMemory)
        {
            std::copy_n(static_cast<const std::byte*>(m_Pointers[input]), bytes,
                        static_cast<std::byte*>(m_Pointers[output]));
        }
        else
        {
            m_Devices->Copy(index, m_Pointers[input], m_Pointers[output], bytes);
        }
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} from memory {} to memory {}", step.m_Layer->Describe(),
                                       m_Program.Memories()[m_Program.Values()[input].m_Memory].m_Name,
                                       m_Program.Memories()[step.m_Memory].m_Name));
    }
}

} // namespace tenon
