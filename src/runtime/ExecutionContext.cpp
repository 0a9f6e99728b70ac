// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: see ExecutionContext.hpp. Memory of the caller is in CallerMemory.cpp.
#include "runtime/ExecutionContext.hpp"

#include "common/ErrorContext.hpp"
#include "common/Log.hpp"
#include "common/Populate.hpp"
#include "common/Profiler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

namespace
{

/// A value of a device as the host sees it while this lives: mapped where it can be, else copied.
class DeviceView
{
public:
    DeviceView(size_t bytes, const DeviceTensor& tensor, const MemorySpace& memory, IDeviceQueue& queue)
        : m_Tensor(tensor), m_CanMap(memory.m_Factory->SupportsMapUnmap()), m_Queue(queue)
    {
        if (bytes != 0 && m_CanMap)
        {
            m_Shown = m_Queue.Map(*m_Tensor.m_Memory, m_Tensor.m_Offset, bytes, MapAccess::Read);
        }
        else if (bytes != 0)
        {
            m_Copy.Reserve(bytes);
            m_Queue.Read(m_Copy.Data(), *m_Tensor.m_Memory, m_Tensor.m_Offset, bytes);
            m_Shown = m_Copy.Data();
        }
    }
    ~DeviceView()
    {
        if (m_Shown != nullptr && m_CanMap)
        {
            try
            {
                m_Queue.Unmap(*m_Tensor.m_Memory, m_Shown);
            }
            catch (const Exception& error) // debugging must not end the program; the next wait fails if the queue has
            {
                LogWarning("a tensor of a device is still mapped: {}", error.what());
            }
        }
    }
    DeviceView(const DeviceView&) = delete;
    DeviceView& operator=(const DeviceView&) = delete;
    const void* Get() const { return m_Shown; }

private:
    const DeviceTensor& m_Tensor;
    const bool m_CanMap;
    IDeviceQueue& m_Queue;
    AlignedMemory m_Copy;
    void* m_Shown = nullptr;
};

} // namespace

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
            m_Arena.Reserve(arenaBytes);
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

void ExecutionContext::RunSum(const PlannedSum& sum, const RunArgs& args)
{
    const Step& step = m_Program.Steps()[sum.m_Layer];
    const Step& next = m_Program.Steps()[sum.m_Sum];
    if (args.m_Debug != nullptr) // which wants to see both
    {
        for (const uint32_t s : {sum.m_Layer, sum.m_Sum})
        {
            const PlannedStep& planned = m_Plan->Steps()[s];
            Scratch scratch;
            scratch.m_Host = m_Arena.Data() + planned.m_ScratchOffset;
            Execute(m_Program.Steps()[s], *planned.m_Workload, planned.m_KernelName, scratch, nullptr, args);
            ShowOutputs(m_Program.Steps()[s], args);
        }
        return;
    }
    m_StepInputs.clear();
    for (ValueId value : step.m_Inputs)
    {
        m_StepInputs.push_back(value == NoValue ? nullptr : m_Pointers[value]);
    }
    m_StepInputs.push_back(m_Pointers[next.m_Inputs[sum.m_Other]]);
    ExecuteArgs execute;
    execute.m_Inputs = m_StepInputs;
    execute.m_Outputs = Span<void* const>(m_Pointers.data() + next.m_FirstOutput, 1);
    execute.m_Scratch = m_Arena.Data() + m_Plan->Steps()[sum.m_Layer].m_ScratchOffset;
    execute.m_Parallel = args.m_Parallel;
    try
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, sum.m_KernelName, step.m_Layer);
        sum.m_Workload->Execute(execute);
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} and {} on {}", step.m_Layer->Describe(), next.m_Layer->Describe(),
                                       step.m_Layer->GetBackendId().Get()));
    }
}

void ExecutionContext::ShowInputs(const RunArgs& args) const
{
    if (args.m_Debug == nullptr)
    {
        return;
    }
    for (size_t i = 0; i < m_BoundInputs.size(); ++i)
    {
        const Binding& input = m_Program.Inputs()[i];
        args.m_Debug->Show(*input.m_Layer, 0, InfoOf(input.m_Value), m_BoundInputs[i]);
    }
}

void ExecutionContext::ShowOutputs(const Step& step, const RunArgs& args)
{
    if (args.m_Debug == nullptr)
    {
        return;
    }
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        const ValueId value = step.m_FirstOutput + k;
        const TensorInfo& info = InfoOf(value);
        if (step.m_Memory == HostMemory)
        {
            args.m_Debug->Show(*step.m_Layer, k, info, m_Pointers[value]);
        }
        else
        {
            const DeviceView view(info.GetNumBytes(), m_Devices->TensorOf(value), m_Program.Memories()[step.m_Memory],
                                  m_Queues->Use(step.m_Memory));
            args.m_Debug->Show(*step.m_Layer, k, info, view.Get());
        }
    }
}

void ExecutionContext::RunPlannedSteps(const RunArgs& args)
{
    auto strips = m_Plan->GetStrips().begin();
    const auto lastStrips = m_Plan->GetStrips().end();
    for (size_t s = 0; s < m_Plan->Steps().size(); ++s)
    {
        const PlannedStep& planned = m_Plan->Steps()[s];
        const Step& step = m_Program.Steps()[s];
        if (strips != lastStrips && (*strips)->m_First == s)
        {
            const Strips& run = **strips++;
            if (args.m_Debug == nullptr && // which wants to see whole tensors
                run.IsWorthwhile(args.m_Parallel->GetNumThreads()))
            {
                RunStrips(run, args);
                s = run.Last();
                continue;
            }
        }
        if (planned.m_Sum != PlannedSum::None)
        {
            const PlannedSum& sum = m_Plan->GetSums()[planned.m_Sum];
            if (sum.m_Sum == s)
            {
                RunSum(sum, args);
            }
            continue;
        }
        if (planned.m_Workload == nullptr)
        {
            if (step.m_State != NoState)
            {
                RunStateStep(step, m_Plan->Infos()[step.m_FirstOutput], args.m_Session->States()[step.m_State]);
            }
            else
            {
                RunCopyStep(s, args);
            }
        }
        else
        {
            Scratch scratch;
            if (step.m_Memory == HostMemory)
            {
                scratch.m_Host = m_Arena.Data() + planned.m_ScratchOffset;
            }
            else if (planned.m_ScratchBytes != 0)
            {
                scratch.m_Device = m_Devices->InArena(step.m_Memory, planned.m_ScratchOffset);
            }
            Execute(step, *planned.m_Workload, planned.m_KernelName, scratch, nullptr, args);
        }
        ShowOutputs(step, args);
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
