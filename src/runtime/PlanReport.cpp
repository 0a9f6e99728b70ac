// SPDX-License-Identifier: Apache-2.0
// See PlanReport.hpp.
#include "runtime/PlanReport.hpp"

#include "runtime/PlanBuilder.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <fmt/format.h>

namespace tenon
{

namespace
{

std::string NameMemory(const Program& program, const Location& location, MemoryId memory)
{
    switch (location.m_Place)
    {
    case Place::None: return "its own";
    case Place::Constant: return "constant";
    case Place::Input: return fmt::format("input {}", program.Inputs()[location.m_Index].m_Id);
    case Place::Output: return fmt::format("output {}", program.Outputs()[location.m_Index].m_Id);
    case Place::State: return fmt::format("state '{}'", program.States()[location.m_Index].m_Name);
    case Place::Imported: return fmt::format("imported by {}", program.Memories()[memory].m_Name);
    case Place::Arena: break;
    }
    return memory == HostMemory ? "arena" : program.Memories()[memory].m_Name;
}

/// The name of the kernel that runs the step; if the step is a part of a fused workload, that workload's.
std::string NameKernel(const Plan& plan, uint32_t index)
{
    const PlannedStep& planned = plan.Steps()[index];
    if (planned.m_ResidualAdd != ResidualAdd::None)
    {
        return plan.GetResidualAdds()[planned.m_ResidualAdd].m_KernelName;
    }
    const FusedRun* const run = FindRun(plan.GetFusedRuns(), index);
    return run != nullptr && run->m_Kind == FusionKind::Attention ? run->m_Fused.m_Workload->GetFusion().m_KernelName
                                                                  : planned.m_KernelName;
}

PlannedLayer ReportLayer(const Program& program, const Plan* plan, uint32_t index, const Limits& limits)
{
    const Step& step = program.Steps()[index];
    PlannedLayer layer;
    layer.m_Guid = step.m_Layer->GetGuid();
    layer.m_Name = step.m_Layer->GetNameStr();
    layer.m_Type = step.m_Layer->GetSchema().m_Name;
    layer.m_Backend = step.m_Workload != nullptr ? step.m_Layer->GetBackendId().Get() : "";
    layer.m_Kernel = step.m_Workload != nullptr ? step.m_Workload->GetName() : layer.m_Type;
    layer.m_IsPlanned = plan != nullptr && index < plan->Steps().size();
    if (layer.m_IsPlanned)
    {
        const PlannedStep& planned = plan->Steps()[index];
        layer.m_ScratchBytes = planned.m_ScratchBytes;
        if (planned.m_Workload != nullptr)
        {
            const FusionHooks& hooks = planned.m_Workload->GetFusion();
            layer.m_Kernel = NameKernel(*plan, index);
            layer.m_Declined = hooks.m_Declined != nullptr ? hooks.m_Declined : "";
            layer.m_Variant = hooks.m_Variant != nullptr ? hooks.m_Variant : "";
        }
    }
    const FusedRun* const run = layer.m_IsPlanned ? FindRun(plan->GetFusedRuns(), index) : nullptr;
    for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
    {
        PlannedTensor& tensor = layer.m_Outputs.emplace_back();
        tensor.m_Info = plan != nullptr ? plan->Infos()[v] : program.Values()[v].m_Slot->GetTensorInfo();
        const Location location = plan != nullptr ? plan->Locations()[v] : Location();
        tensor.m_Memory = NameMemory(program, location, program.Values()[v].m_Memory);
        tensor.m_Offset = location.m_Offset;
        tensor.m_IsTiled = run != nullptr && !run->m_Steps[index - run->m_First].m_Output.m_IsKept;
    }
    for (const auto& body : step.m_Bodies)
    {
        layer.m_Bodies.push_back(ReportPlan(*body->m_Program, body->m_Plans, limits));
    }
    return layer;
}

/// The reason why a fusion is not applied; empty if it is.
std::string DescribeOutcome(const Plan& plan, const FusionAttempt& attempt)
{
    if (attempt.m_WhyNot != nullptr)
    {
        return attempt.m_WhyNot;
    }
    const FusedRun* const run = FindRun(plan.GetFusedRuns(), attempt.m_First);
    const bool runs = attempt.m_Fusion != FusionKind::CrossLayerTiling || run->IsWorthwhile(plan.GetMaxThreads());
    return runs ? "" : fmt::format("{} tiles are unequal shares of {} threads", run->m_Tiles, plan.GetMaxThreads());
}

} // namespace

NetworkPlan ReportPlan(const Program& program, const PlanCache& plans, const Limits& limits)
{
    NetworkPlan report;
    std::vector<FusionAttempt> attempts;
    std::shared_ptr<const Plan> plan = plans.Latest();
    if (plan != nullptr)
    {
        PlanOptions options;
        options.m_MaxThreads = plan->GetMaxThreads();
        options.m_DisabledFusions = plans.GetDisabledFusions();
        options.m_Attempts = &attempts;
        plan = BuildPlan(program, plan->InputShapes(), limits, options);
        report.m_MaxThreads = plan->GetMaxThreads();
        report.m_InputShapes = plan->InputShapes();
        report.m_ArenaBytes = plan->Arenas()[HostMemory].m_Bytes;
    }
    for (uint32_t s = 0; s < program.Steps().size(); ++s)
    {
        report.m_Layers.push_back(ReportLayer(program, plan.get(), s, limits));
    }
    for (const FusionAttempt& attempt : attempts)
    {
        report.m_Fusions.push_back({GetFusions()[static_cast<size_t>(attempt.m_Fusion)].m_Name, attempt.m_First,
                                    attempt.m_Last, DescribeOutcome(*plan, attempt)});
    }
    return report;
}

} // namespace tenon
