// SPDX-License-Identifier: Apache-2.0
// StepRunner: see StepRunner.hpp.
#include "runtime/StepRunner.hpp"

#include "common/ErrorContext.hpp"
#include "common/Profiler.hpp"
#include "runtime/StepShapes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

void StepRunner::RunPlannedSteps(const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    auto nextRun = plan.GetFusedRuns().begin();
    const auto endOfRuns = plan.GetFusedRuns().end();
    for (size_t s = 0; s < plan.Steps().size(); ++s)
    {
        args.ThrowIfCancelled();
        if (nextRun != endOfRuns && (*nextRun)->m_First == s)
        {
            const FusedRun& run = **nextRun++;
            if (args.m_Debug == nullptr && // a DebugRun shows whole tensors
                run.IsWorthwhile(args.m_Parallel->GetNumThreads()))
            {
                m_Fused.Run(run, args);
                s = run.Last();
                continue;
            }
        }
        RunPlannedStep(s, args);
    }
}

void StepRunner::RunPlannedStep(size_t index, const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    const PlannedStep& planned = plan.Steps()[index];
    const Step& step = m_Tensors.GetProgram().Steps()[index];
    if (planned.m_ResidualAdd != ResidualAdd::None)
    {
        const ResidualAdd& add = plan.GetResidualAdds()[planned.m_ResidualAdd];
        if (add.m_Add == index) // its workload runs the layer, too
        {
            RunResidualAdd(add, args);
        }
        return;
    }
    if (planned.m_Workload != nullptr)
    {
        ExecutePlanned(step, planned, args);
    }
    else if (step.m_State != NoState)
    {
        m_States.Initialize(step, args);
    }
    else
    {
        RunCopyStep(index, plan.TotalBytes(), args);
    }
    m_DebugTensors.ShowOutputs(step, args);
}

void StepRunner::ExecutePlanned(const Step& step, const PlannedStep& planned, const RunArgs& args)
{
    StepScratch scratch;
    if (step.m_Memory == HostMemory)
    {
        scratch.m_Host = m_Tensors.GetArena() + planned.m_ScratchOffset;
    }
    else if (planned.m_ScratchBytes != 0)
    {
        scratch.m_Device = m_Tensors.GetDevices()->InArena(step.m_Memory, planned.m_ScratchOffset);
    }
    Execute(step, *planned.m_Workload, planned.m_KernelName, scratch, nullptr, args);
}

void StepRunner::RunResidualAdd(const ResidualAdd& add, const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    const Step& layer = m_Tensors.GetProgram().Steps()[add.m_Layer];
    const Step& next = m_Tensors.GetProgram().Steps()[add.m_Add];
    if (args.m_Debug != nullptr) // it shows both outputs
    {
        ExecutePlanned(layer, plan.Steps()[add.m_Layer], args);
        m_DebugTensors.ShowOutputs(layer, args);
        ExecutePlanned(next, plan.Steps()[add.m_Add], args);
        m_DebugTensors.ShowOutputs(next, args);
        return;
    }
    ListInputs(layer);
    m_Inputs.push_back(m_Tensors.GetPointer(next.m_Inputs[add.m_Residual]));
    ExecuteArgs execute;
    execute.m_Inputs = m_Inputs;
    execute.m_Outputs = m_Tensors.GetPointers(next.m_FirstOutput, 1);
    execute.m_Scratch = m_Tensors.GetArena() + plan.Steps()[add.m_Layer].m_ScratchOffset;
    execute.m_Parallel = args.m_Parallel;
    try
    {
        const auto event = args.m_Profiler->KernelScope(add.m_KernelName, layer.m_Layer, add.m_Workload.get());
        add.m_Workload->Execute(execute);
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} and {} on {}", layer.m_Layer->Describe(), next.m_Layer->Describe(),
                                       layer.m_Layer->GetBackendId().Get()));
    }
}

void StepRunner::Execute(const Step& step, const IShapedWorkload& workload, const char* kernelName,
                         const StepScratch& scratch, ILateOutputs* outputs, const RunArgs& args)
{
    ListInputs(step);
    ExecuteArgs execute;
    execute.m_Inputs = m_Inputs;
    execute.m_Outputs = m_Tensors.GetPointers(step.m_FirstOutput, step.m_NumOutputs);
    execute.m_Scratch = scratch.m_Host;
    execute.m_Parallel = args.m_Parallel;
    execute.m_LateOutputs = outputs;
    try
    {
        if (step.m_Memory != HostMemory)
        {
            m_Tensors.GetDevices()->Prepare(step, m_Tensors.GetPlan(), scratch.m_Device, execute);
        }
        const auto event = args.m_Profiler->KernelScope(kernelName, step.m_Layer, &workload);
        workload.Execute(execute);
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("running {} on {}", step.m_Layer->Describe(), step.m_Layer->GetBackendId().Get()));
    }
}

void StepRunner::RunCopyStep(size_t index, uint64_t bytesUsed, const RunArgs& args)
{
    const Program& program = m_Tensors.GetProgram();
    const Step& step = program.Steps()[index];
    const ValueId input = step.m_Inputs[0];
    const void* const source = m_Tensors.GetPointer(input);
    void* const target = m_Tensors.GetPointer(step.m_FirstOutput);
    const size_t bytes = m_Tensors.GetInfo(step.m_FirstOutput).GetNumBytes();
    const auto event =
        args.m_Profiler->Scope(ProfilingCategory::Inference, step.m_Layer->GetSchema().m_Name, step.m_Layer);
    try
    {
        if (IsImport(program, step))
        {
            m_Tensors.GetDevices()->Import(step, source, bytes, FindImported(input, args),
                                           args.m_Limits->m_MaxTotalBytes -
                                               std::min(args.m_Limits->m_MaxTotalBytes, bytesUsed));
        }
        else if (step.m_Memory == HostMemory && program.Values()[input].m_Memory == HostMemory)
        {
            std::copy_n(static_cast<const std::byte*>(source), bytes, static_cast<std::byte*>(target));
        }
        else
        {
            m_Tensors.GetDevices()->Copy(index, source, target, bytes);
        }
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("running {} from memory {} to memory {}", step.m_Layer->Describe(),
                                       program.Memories()[program.Values()[input].m_Memory].m_Name,
                                       program.Memories()[step.m_Memory].m_Name));
    }
}

void StepRunner::ListInputs(const Step& step)
{
    m_Inputs.clear();
    for (const ValueId value : step.m_Inputs)
    {
        m_Inputs.push_back(value == NoValue ? nullptr : m_Tensors.GetPointer(value));
    }
}

const ImportedMemory* StepRunner::FindImported(ValueId value, const RunArgs& args) const
{
    const Location& location = m_Tensors.GetPlan().Locations()[value];
    return location.m_Place == Place::Input && !args.m_ImportedInputs.empty() ? args.m_ImportedInputs[location.m_Index]
                                                                              : nullptr;
}

} // namespace tenon
