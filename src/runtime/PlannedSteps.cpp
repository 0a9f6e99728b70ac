// SPDX-License-Identifier: Apache-2.0
// How an ExecutionContext runs the steps of its plan: one by one, in strips, or with the sum that follows.
#include "common/ErrorContext.hpp"
#include "common/Profiler.hpp"
#include "runtime/ExecutionContext.hpp"

#include <fmt/format.h>

namespace tenon
{

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

} // namespace tenon
