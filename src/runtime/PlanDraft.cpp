// SPDX-License-Identifier: Apache-2.0
// See PlanDraft.hpp.
#include "runtime/PlanDraft.hpp"

#include <algorithm>
#include <iterator>

namespace tenon
{

bool PlanDraft::IsMadeBy(uint32_t first, uint32_t end, ValueId value) const
{
    return std::any_of(m_Program.Steps().begin() + first, m_Program.Steps().begin() + end,
                       [value](const Step& step) { return step.m_FirstOutput == value; });
}

uint32_t PlanDraft::FindWriter(ValueId value) const
{
    // Values are numbered in the order of the steps; some steps have none.
    const auto& steps = m_Program.Steps();
    const auto after = std::upper_bound(steps.begin(), steps.end(), value,
                                        [](ValueId v, const Step& step) { return v < step.m_FirstOutput; });
    const bool isMade = after != steps.begin() && value - (after - 1)->m_FirstOutput < (after - 1)->m_NumOutputs;
    return static_cast<uint32_t>((isMade ? after - 1 : steps.end()) - steps.begin());
}

const FusedRun* PlanDraft::FindRun(uint32_t step) const
{
    return tenon::FindRun(m_Plan.m_FusedRuns, step);
}

std::pair<uint32_t, uint32_t> PlanDraft::RunsWith(uint32_t step) const
{
    if (const FusedRun* const run = FindRun(step); run != nullptr)
    {
        return {run->m_First, run->Last()};
    }
    const uint32_t index = step < NumSteps() ? Planned(step).m_ResidualAdd : ResidualAdd::None;
    const uint32_t runStep = index != ResidualAdd::None ? m_Plan.m_ResidualAdds[index].m_Add : step;
    return {runStep, runStep};
}

void PlanDraft::AddRuns(std::vector<std::unique_ptr<FusedRun>> runs)
{
    auto& all = m_Plan.m_FusedRuns;
    std::vector<std::unique_ptr<FusedRun>> merged;
    merged.reserve(all.size() + runs.size());
    std::merge(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()),
               std::make_move_iterator(runs.begin()), std::make_move_iterator(runs.end()), std::back_inserter(merged),
               [](const auto& a, const auto& b) { return a->m_First < b->m_First; });
    all = std::move(merged);
}

void PlanDraft::NoteDropped(FusionKind fusion, uint32_t first, WhyNot whyNot)
{
    if (m_Options.m_Attempts == nullptr)
    {
        return;
    }
    for (FusionAttempt& attempt : *m_Options.m_Attempts)
    {
        if (attempt.m_Fusion == fusion && attempt.m_First == first && attempt.m_WhyNot == nullptr)
        {
            attempt.m_WhyNot = whyNot;
        }
    }
}

bool IsAddition(const Step& step)
{
    return step.m_Type == LayerType::ElementwiseBinary && step.m_Memory == HostMemory && step.m_Overrides.empty() &&
           static_cast<const ElementwiseBinaryDescriptor&>(step.m_Layer->GetParameters()).m_Operation ==
               BinaryOperation::Add;
}

} // namespace tenon
