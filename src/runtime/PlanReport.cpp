// SPDX-License-Identifier: Apache-2.0
// See PlanReport.hpp.
#include "runtime/PlanReport.hpp"

#include "runtime/PlanBuilder.hpp"

#include <fmt/format.h>

#include <utility>

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

/// Whether only tiles of the outputs of a step are ever there.
bool IsTiled(const Plan& plan, uint32_t step)
{
    const FusedRun* const run = FindRun(plan.GetFusedRuns(), step);
    return run != nullptr && !run->m_Steps[step - run->m_First].m_Output.m_IsKept;
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
            const char* const declined = planned.m_Workload->GetFusion().m_Declined;
            layer.m_Kernel = planned.m_KernelName;
            layer.m_Declined = declined != nullptr ? declined : "";
        }
    }
    for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
    {
        PlannedTensor& tensor = layer.m_Outputs.emplace_back();
        tensor.m_Info = plan != nullptr ? plan->Infos()[v] : program.Values()[v].m_Slot->GetTensorInfo();
        const Location location = plan != nullptr ? plan->Locations()[v] : Location();
        tensor.m_Memory = NameMemory(program, location, program.Values()[v].m_Memory);
        tensor.m_Offset = location.m_Offset;
        tensor.m_IsTiled = layer.m_IsPlanned && IsTiled(*plan, index);
    }
    for (const auto& body : step.m_Bodies)
    {
        layer.m_Bodies.push_back(ReportPlan(*body->m_Program, body->m_Plans, limits));
    }
    return layer;
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
        report.m_Fusions.push_back(
            {attempt.m_Fusion, attempt.m_First, attempt.m_Last, attempt.m_WhyNot != nullptr ? attempt.m_WhyNot : ""});
    }
    return report;
}

} // namespace tenon
