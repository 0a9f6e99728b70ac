// SPDX-License-Identifier: Apache-2.0
// Finds the values that a plan lets lie among the channels of what a Concat joins: their layers are shaped once more,
// and write them there.
#include "common/KernelName.hpp"
#include "runtime/Plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon
{

namespace
{

/// An output up to this size stays in a cache, where it does not matter that layers write it piece by piece. A larger
/// one takes them longer than memory of their own and a copy.
constexpr size_t MostJoinedBytes = size_t{4} << 20;

} // namespace

const PlannedPitch* Plan::FindPitch(ValueId value) const
{
    const auto found = std::lower_bound(m_PitchesByValue.begin(), m_PitchesByValue.end(), value,
                                        [this](size_t i, ValueId wanted) { return m_Pitches[i].m_Value < wanted; });
    const PlannedPitch* const pitch = found != m_PitchesByValue.end() ? &m_Pitches[*found] : nullptr;
    return pitch != nullptr && pitch->m_Value == value ? pitch : nullptr;
}

bool Plan::HasPitches(uint32_t join) const
{
    const auto found =
        std::lower_bound(m_Pitches.begin(), m_Pitches.end(), join,
                         [](const PlannedPitch& pitch, uint32_t wanted) { return pitch.m_Join < wanted; });
    return found != m_Pitches.end() && found->m_Join == join;
}

/// Whether the step runs by itself and its output shares no memory with an input, so that it might lie elsewhere.
bool Plan::RunsAlone(const Program& program, uint32_t index) const
{
    const Step& step = program.Steps()[index];
    const PlannedStep& planned = m_Steps[index];
    const OpSchema& schema = GetSchema(step.m_Type);
    const auto [first, last] = RunsWith(index);
    return planned.m_Workload != nullptr && step.m_Memory == HostMemory && step.m_Overrides.empty() &&
           step.m_NumOutputs == 1 && !planned.m_IsCopy && planned.m_Sum == PlannedSum::None && first == last &&
           !schema.Has(OpFlags::View) && !schema.Has(OpFlags::InPlace);
}

/// Null where the step does not write so.
std::unique_ptr<IShapedWorkload> Plan::ShapePitched(const Program& program, uint32_t index, size_t pitch) const
{
    const Step& step = program.Steps()[index];
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> constants;
    for (const ValueId value : step.m_Inputs)
    {
        inputs.push_back(value == NoValue ? nullptr : &m_Infos[value]);
        constants.push_back(value == NoValue ? nullptr : program.Values()[value].m_Constant);
    }
    const TensorInfo* const outputs[] = {&m_Infos[step.m_FirstOutput]};
    TensorShape shape;
    const auto resolved = InferShapes(*step.m_Layer, inputs, constants, {&shape, 1});
    return ReshapeStep(step, resolved.get(), inputs, {outputs, 1}, constants, pitch);
}

/// The step that makes the value; the number of steps for one that comes from elsewhere.
uint32_t Plan::FindWriter(const Program& program, ValueId value) const
{
    // Values are numbered in the order of the steps; some steps have none.
    const auto& steps = program.Steps();
    const auto after = std::upper_bound(steps.begin(), steps.end(), value,
                                        [](ValueId v, const Step& step) { return v < step.m_FirstOutput; });
    const bool isMade = after != steps.begin() && value - (after - 1)->m_FirstOutput < (after - 1)->m_NumOutputs;
    return static_cast<uint32_t>((isMade ? after - 1 : steps.end()) - steps.begin());
}

/// Gives input i of the join its place there, if a layer makes it that can write so, and the join alone reads it.
void Plan::TryPitch(const Program& program, uint32_t join, size_t input)
{
    const Step& step = program.Steps()[join];
    const ValueId value = step.m_Inputs[input];
    const Value& read = program.Values()[value];
    const TensorInfo& joined = m_Infos[step.m_FirstOutput];
    const size_t place = m_Steps[join].m_Parts->m_OfPixels[input];
    if (place == SharedParts::None || read.IsConstant() || read.m_Memory != HostMemory || step.m_Memory != HostMemory ||
        read.m_LastUse != join || read.m_IsReadAgain || m_Infos[value].GetNumBytes() == 0 ||
        joined.GetNumBytes() > MostJoinedBytes)
    {
        return;
    }
    const uint32_t writer = FindWriter(program, value);
    if (writer >= join || !RunsAlone(program, writer))
    {
        return;
    }
    const size_t pitch = joined.GetShape()[joined.GetNumDimensions() - 1];
    auto workload = ShapePitched(program, writer, pitch);
    if (workload != nullptr)
    {
        m_Pitches.push_back({value, join, place, pitch, writer, std::move(workload)});
    }
}

void Plan::FindPitches(const Program& program)
{
    for (uint32_t s = 0; s < m_Steps.size(); ++s)
    {
        const SharedParts* const parts = m_Steps[s].m_Parts;
        for (size_t i = 0; parts != nullptr && i < parts->m_OfPixels.size(); ++i)
        {
            TryPitch(program, s, i);
        }
    }
}

/// Lets the inputs of these joins alone have their pitches.
void Plan::ApplyPitches(const Program& program, const std::vector<bool>& isJoined)
{
    m_Pitches.erase(std::remove_if(m_Pitches.begin(), m_Pitches.end(),
                                   [&](const PlannedPitch& pitch) { return !isJoined[pitch.m_Join]; }),
                    m_Pitches.end());
    for (PlannedPitch& pitch : m_Pitches)
    {
        PlannedStep& planned = m_Steps[pitch.m_Writer];
        planned.m_Workload = std::move(pitch.m_Workload);
        planned.m_ScratchBytes = planned.m_Workload->GetScratchBytes();
        planned.m_KernelName = GetKernelName(*program.Steps()[pitch.m_Writer].m_Workload, *planned.m_Workload);
    }
    m_PitchesByValue.resize(m_Pitches.size());
    std::iota(m_PitchesByValue.begin(), m_PitchesByValue.end(), size_t{0});
    std::sort(m_PitchesByValue.begin(), m_PitchesByValue.end(),
              [this](size_t a, size_t b) { return m_Pitches[a].m_Value < m_Pitches[b].m_Value; });
}

} // namespace tenon
