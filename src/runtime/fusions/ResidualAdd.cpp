// SPDX-License-Identifier: Apache-2.0
// ResidualAdd: a convolution or product and the following addition of a residual to its output run as one workload,
// which adds in its epilogue, while accumulators are in registers (FusionHooks::m_AddTensor). The layer waits for the
// step of the addition.
#include "common/KernelName.hpp"
#include "runtime/MemoryLayout.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// The maximum number of steps from the layer to the addition, during which the tensors that the layer reads keep their
/// memory.
constexpr uint32_t MaxResidualSteps = 4;

bool MayHaveAddition(const Step& step)
{
    return (step.m_Type == LayerType::Convolution2d || step.m_Type == LayerType::FullyConnected) &&
           step.m_Memory == HostMemory && step.m_NumOutputs == 1 && step.m_Overrides.empty();
}

/// Whether the last layer that reads the output of this one is an addition.
bool IsBeforeAddition(const PlanDraft& draft, uint32_t layer)
{
    const Step& step = draft.GetStep(layer);
    if (!MayHaveAddition(step) || draft.Planned(layer).m_Workload == nullptr)
    {
        return false;
    }
    const uint32_t add = draft.GetValue(step.m_FirstOutput).m_LastUse;
    return add > layer && add < draft.NumSteps() && IsAddition(draft.GetStep(add));
}

/// Precondition: IsBeforeAddition() holds for the layer.
WhyNot Check(const PlanDraft& draft, uint32_t layer)
{
    const Step& step = draft.GetStep(layer);
    const Value& value = draft.GetValue(step.m_FirstOutput);
    const uint32_t add = value.m_LastUse;
    const Step& next = draft.GetStep(add);
    if (draft.HooksOf(layer)->m_AddTensor == nullptr)
    {
        return "its kernel adds no tensor, or has an activation fused into it";
    }
    if (add - layer > MaxResidualSteps)
    {
        return "the addition is too far behind it";
    }
    if (draft.Planned(add).m_ResidualAdd != ResidualAdd::None)
    {
        return "the addition runs with the layer of its other input";
    }
    if (draft.FindRun(add) != nullptr)
    {
        return "the addition is a part of a fused run";
    }
    if (value.m_IsReadAgain)
    {
        return "another layer reads its output";
    }
    if (step.m_Layer->GetBackendId() != next.m_Layer->GetBackendId())
    {
        return "the addition is on another backend";
    }
    const TensorInfo& info = draft.InfoOf(next.m_FirstOutput);
    const DataType type = info.GetDataType();
    if (type != DataType::Float32 && type != DataType::BFloat16 && type != DataType::Float16)
    {
        return "the addition is quantized, or of integers";
    }
    const auto fits = [&](ValueId v)
    { return draft.InfoOf(v).GetDataType() == type && draft.InfoOf(v).GetShape() == info.GetShape(); };
    return fits(next.m_Inputs[0]) && fits(next.m_Inputs[1]) ? nullptr : "the addition broadcasts an input";
}

/// Additions whose layers wait for more than the next step keep memory for longer: they are dropped if the arena would
/// grow by more than a small part.
void DropCostly(PlanDraft& draft)
{
    constexpr size_t MaxGrowthDivisor = 16; // the maximum growth is a sixteenth of the arena
    auto& adds = draft.m_Plan.m_ResidualAdds;
    const auto waitsLong = [](const ResidualAdd& add) { return add.m_Add - add.m_Layer > 1; };
    const auto firstLong = std::stable_partition(adds.begin(), adds.end(), std::not_fn(waitsLong));
    if (firstLong == adds.end())
    {
        return;
    }
    const auto number = [&]
    {
        for (uint32_t i = 0; i < adds.size(); ++i)
        {
            draft.Planned(adds[i].m_Layer).m_ResidualAdd = draft.Planned(adds[i].m_Add).m_ResidualAdd = i;
        }
    };
    number();
    const std::vector<bool> nothing(draft.NumSteps(), false);
    const size_t bytes = CountHostBytes(draft, nothing);
    std::vector<ResidualAdd> costly(std::make_move_iterator(firstLong), std::make_move_iterator(adds.end()));
    adds.erase(firstLong, adds.end());
    for (const ResidualAdd& add : costly)
    {
        draft.Planned(add.m_Layer).m_ResidualAdd = draft.Planned(add.m_Add).m_ResidualAdd = ResidualAdd::None;
    }
    const size_t without = CountHostBytes(draft, nothing);
    if (bytes <= without + without / MaxGrowthDivisor)
    {
        adds.insert(adds.end(), std::make_move_iterator(costly.begin()), std::make_move_iterator(costly.end()));
        number();
        return;
    }
    for (const ResidualAdd& add : costly)
    {
        draft.NoteDropped(FusionKind::ResidualAdd, add.m_Layer,
                          "the arena would grow, since tensors live until the addition");
    }
}

} // namespace

bool IsResidualAdd(const PlanDraft& draft, uint32_t step)
{
    if (!IsAddition(draft.GetStep(step)) || !IsEnabled(draft.m_Options, FusionKind::ResidualAdd))
    {
        return false;
    }
    for (uint32_t layer = step - std::min(step, MaxResidualSteps); layer < step; ++layer)
    {
        if (IsBeforeAddition(draft, layer) && draft.GetValue(draft.GetStep(layer).m_FirstOutput).m_LastUse == step &&
            Check(draft, layer) == nullptr)
        {
            return true;
        }
    }
    return false;
}

void FuseResidualAdds(PlanDraft& draft)
{
    // If two such layers are added, the later one waits.
    for (uint32_t layer = draft.NumSteps(); layer-- > 0;)
    {
        if (!IsBeforeAddition(draft, layer))
        {
            continue;
        }
        const Step& step = draft.GetStep(layer);
        ResidualAdd add;
        add.m_Layer = layer;
        add.m_Add = draft.GetValue(step.m_FirstOutput).m_LastUse;
        WhyNot whyNot = Check(draft, layer);
        if (whyNot == nullptr)
        {
            const Step& next = draft.GetStep(add.m_Add);
            add.m_Residual = next.m_Inputs[0] == step.m_FirstOutput ? 1 : 0;
            add.m_Workload = draft.HooksOf(layer)->m_AddTensor(next.m_Layer->GetFusedActivation());
            whyNot = add.m_Workload != nullptr ? nullptr : "its kernel does not take an addition of these shapes";
        }
        draft.Note(FusionKind::ResidualAdd, layer, add.m_Add, whyNot);
        if (whyNot == nullptr)
        {
            add.m_KernelName = GetKernelName(*step.m_Workload, *add.m_Workload);
            PlannedStep& planned = draft.Planned(layer);
            planned.m_ScratchBytes = std::max(planned.m_ScratchBytes, add.m_Workload->GetScratchBytes());
            planned.m_ResidualAdd = draft.Planned(add.m_Add).m_ResidualAdd =
                static_cast<uint32_t>(draft.m_Plan.m_ResidualAdds.size());
            draft.m_Plan.m_ResidualAdds.push_back(std::move(add));
        }
    }
    DropCostly(draft);
}

} // namespace tenon::fusions
