// SPDX-License-Identifier: Apache-2.0
// ConcatInPlace: tensors that a Concat or Stack joins, or that a Splitter or Slice extracts, lie in place from the
// start, so that nothing is copied. There are two forms:
//
//   aliases  the tensor is one range of the other (FusionHooks::m_Aliases): memory is shared
//   pitch    the tensor is a range of the channels of each pixel of the output of a Concat: its writer is shaped anew,
//            for an output with gaps (ReshapeArgs::m_OutputPitch)
//
//              pixel 0           pixel 1           pixel 2
//            | a a a | b b | c | a a a | b b | c | a a a | ...     pitch: 6 elements
//
// Neither is applied if the arena would grow: memory for all tensors of a Concat is in use as soon as the first one is
// written.
#include "common/KernelName.hpp"
#include "runtime/MemoryLayout.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::fusions
{

namespace
{

/// The maximum size of a pitched output. It stays in a cache, where writing with gaps costs nothing. For a larger
/// output it takes longer than separate memory and a copy.
constexpr size_t MaxPitchedBytes = size_t{4} << 20;

/// Whether the step runs alone and its output shares no memory with an input, so that it may be moved.
bool RunsAlone(const PlanDraft& draft, uint32_t index)
{
    const Step& step = draft.GetStep(index);
    const PlannedStep& planned = draft.Planned(index);
    const OpSchema& schema = GetSchema(step.m_Type);
    return planned.m_Workload != nullptr && step.m_Memory == HostMemory && step.m_Overrides.empty() &&
           step.m_NumOutputs == 1 && !planned.m_IsCopy && planned.m_ResidualAdd == ResidualAdd::None &&
           planned.m_Aliases == nullptr && draft.FindRun(index) == nullptr && !schema.Has(OpFlags::View) &&
           !schema.Has(OpFlags::InPlace);
}

/// The workload for an output with gaps; null if the step does not support it.
std::unique_ptr<IShapedWorkload> ShapePitched(const PlanDraft& draft, uint32_t index, size_t pitch)
{
    const Step& step = draft.GetStep(index);
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> constants;
    std::vector<const void*> values;
    for (const ValueId value : step.m_Inputs)
    {
        inputs.push_back(value == NoValue ? nullptr : &draft.InfoOf(value));
        constants.push_back(value == NoValue ? nullptr : draft.GetValue(value).m_Constant);
        values.push_back(draft.m_Known.Find(value));
    }
    const TensorInfo* const outputs[] = {&draft.OutputOf(index)};
    TensorShape shape;
    const auto resolved = InferShapes(*step.m_Layer, inputs, values, {&shape, 1});
    return ReshapeStep(step, resolved.get(), inputs, {outputs, 1}, constants, draft.m_Options.m_MaxThreads, pitch);
}

/// Makes a candidate of input i of the Concat, if the layer that writes it supports gaps, and the Concat alone reads
/// it.
WhyNot TryPitch(PlanDraft& draft, uint32_t concat, size_t input)
{
    const Step& step = draft.GetStep(concat);
    const ValueId value = step.m_Inputs[input];
    const Value& read = draft.GetValue(value);
    const TensorInfo& joined = draft.OutputOf(concat);
    const size_t offset = draft.Planned(concat).m_Aliases->m_InputsInPixels[input];
    if (offset == TensorAliases::None)
    {
        return "an input has another quantization than the output";
    }
    if (read.IsConstant() || read.m_Memory != HostMemory || step.m_Memory != HostMemory)
    {
        return "an input is a constant, or in the memory of a device";
    }
    if (read.m_LastUse != concat || read.m_IsReadAgain)
    {
        return "another layer reads an input";
    }
    if (draft.InfoOf(value).GetNumBytes() == 0 || joined.GetNumBytes() > MaxPitchedBytes)
    {
        return "the output is empty, or too large for a cache";
    }
    const uint32_t writer = draft.FindWriter(value);
    if (writer >= concat || !RunsAlone(draft, writer))
    {
        return "the layer before it is a view, works in place or in a fused run, or is none";
    }
    if (!draft.HooksOf(writer)->m_WritesPitched)
    {
        return "the kernel before it writes no outputs with a pitch";
    }
    const size_t pitch = joined.GetShape()[joined.GetNumDimensions() - 1];
    auto workload = ShapePitched(draft, writer, pitch);
    if (workload == nullptr)
    {
        return "the kernel before it writes no outputs with a pitch for these shapes";
    }
    draft.m_Pitches.push_back({{value, concat, offset, pitch, writer}, std::move(workload)});
    return nullptr;
}

bool HasPitches(const PlanDraft& draft, uint32_t concat)
{
    const auto found = std::lower_bound(draft.m_Pitches.begin(), draft.m_Pitches.end(), concat,
                                        [](const PitchCandidate& candidate, uint32_t wanted)
                                        { return candidate.m_Pitched.m_Concat < wanted; });
    return found != draft.m_Pitches.end() && found->m_Pitched.m_Concat == concat;
}

/// The limit of the number of steps times candidates. Beyond it, candidates are not tried one by one, which would take
/// some 100 ms.
constexpr size_t MaxWork = 1'000'000;

/// The steps whose tensors may lie in place without making the host's arena larger.
std::vector<bool> Choose(const PlanDraft& draft, const std::vector<bool>& candidates, WhyNot& whyNot)
{
    std::vector<bool> chosen(draft.NumSteps(), false);
    size_t min = CountHostBytes(draft, chosen);
    if (CountHostBytes(draft, candidates) <= min)
    {
        return candidates;
    }
    const auto count = static_cast<size_t>(std::count(candidates.begin(), candidates.end(), true));
    if (count > MaxWork / candidates.size())
    {
        whyNot = "the arena would grow if all were in place, and there are too many to try each";
        return chosen;
    }
    whyNot = "the arena would grow";
    for (size_t s = 0; s < candidates.size(); ++s)
    {
        if (candidates[s])
        {
            chosen[s] = true;
            const size_t bytes = CountHostBytes(draft, chosen);
            chosen[s] = bytes <= min;
            min = std::min(min, bytes);
        }
    }
    return chosen;
}

/// Gives the writers of the chosen Concats' inputs their workloads; drops the other candidates.
void ApplyPitches(PlanDraft& draft)
{
    std::vector<PitchCandidate> applied;
    for (PitchCandidate& candidate : draft.m_Pitches)
    {
        const PitchedValue& pitched = candidate.m_Pitched;
        if (draft.m_InPlace[pitched.m_Concat])
        {
            PlannedStep& planned = draft.Planned(pitched.m_Writer);
            planned.m_Workload = std::move(candidate.m_Workload);
            planned.m_ScratchBytes = planned.m_Workload->GetScratchBytes();
            planned.m_KernelName = GetKernelName(*draft.GetStep(pitched.m_Writer).m_Workload, *planned.m_Workload);
            draft.m_Plan.m_PitchedValues.push_back(pitched);
            applied.push_back({pitched, nullptr});
        }
    }
    draft.m_Pitches = std::move(applied);
    std::sort(draft.m_Plan.m_PitchedValues.begin(), draft.m_Plan.m_PitchedValues.end(),
              [](const PitchedValue& a, const PitchedValue& b) { return a.m_Value < b.m_Value; });
}

} // namespace

void FindConcatsInPlace(PlanDraft& draft)
{
    std::vector<bool> candidates(draft.NumSteps(), false);
    std::vector<WhyNot> refusals(draft.NumSteps(), nullptr);
    bool hasCandidates = false;
    for (uint32_t s = 0; s < draft.NumSteps(); ++s)
    {
        const TensorAliases* const aliases = draft.Planned(s).m_Aliases;
        if (aliases == nullptr)
        {
            continue;
        }
        for (size_t i = 0; i < aliases->m_InputsInPixels.size(); ++i)
        {
            const WhyNot refusal = TryPitch(draft, s, i);
            refusals[s] = refusals[s] != nullptr ? refusals[s] : refusal;
        }
        candidates[s] = aliases->m_InputsInPixels.empty() || HasPitches(draft, s);
        hasCandidates = hasCandidates || candidates[s];
    }
    WhyNot notChosen = nullptr;
    if (hasCandidates)
    {
        draft.m_InPlace = Choose(draft, candidates, notChosen);
        ApplyPitches(draft);
    }
    for (uint32_t s = 0; s < draft.NumSteps(); ++s)
    {
        if (draft.Planned(s).m_Aliases != nullptr)
        {
            draft.Note(FusionKind::ConcatInPlace, s, s,
                       draft.m_InPlace[s] ? nullptr
                       : candidates[s]    ? notChosen
                                          : refusals[s]);
        }
    }
}

} // namespace tenon::fusions
