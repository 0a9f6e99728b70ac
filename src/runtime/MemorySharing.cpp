// SPDX-License-Identifier: Apache-2.0
// The decision which values of a plan share memory: views and copies of others, outputs in place of inputs that die,
// and ranges of others that layers join or extract.
#include "runtime/MemorySharing.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

bool IsSameLayout(const TensorInfo& a, const TensorInfo& b)
{
    return a.GetShape() == b.GetShape() && GetDataTypeBits(a.GetDataType()) == GetDataTypeBits(b.GetDataType());
}

} // namespace

MemorySharing::MemorySharing(const PlanDraft& draft, const std::vector<bool>& inPlace)
    : m_Program(draft.m_Program), m_Infos(draft.m_Plan.m_Infos), m_ResidualAdds(draft.m_Plan.m_ResidualAdds),
      m_NumSteps(draft.NumSteps()), m_Parent(m_Program.Values().size()), m_Offset(m_Parent.size(), 0),
      m_First(m_Parent.size(), 0), m_Last(m_Parent.size()), m_IsOutput(m_Parent.size(), false),
      m_IsImported(m_Program.UsesDevices() ? m_Parent.size() : 0, false)
{
    m_External.reserve(m_Parent.size());
    for (ValueId v = 0; v < m_Parent.size(); ++v)
    {
        m_Parent[v] = v;
        m_Last[v] = std::min(m_Program.Values()[v].m_LastUse, m_NumSteps);
        m_External.push_back(m_Program.Values()[v].m_Constant != nullptr);
    }
    for (const Binding& input : m_Program.Inputs())
    {
        m_External[input.m_Value] = true;
    }
    for (const Binding& output : m_Program.Outputs())
    {
        m_IsOutput[output.m_Value] = true;
    }
    for (const State& state : m_Program.States())
    {
        if (state.m_Read != NoValue)
        {
            m_External[state.m_Read] = true;
        }
    }
    for (const ResidualAdd& add : m_ResidualAdds)
    {
        for (const ValueId input : m_Program.Steps()[add.m_Layer].m_Inputs)
        {
            if (input != NoValue)
            {
                m_Last[input] = std::max(m_Last[input], add.m_Add);
            }
        }
    }
    if (m_Program.UsesDevices())
    {
        FindSyncSteps();
    }
    auto pitch = draft.m_Pitches.begin(); // in the order of their Concats
    for (uint32_t s = 0; s < m_NumSteps; ++s)
    {
        const Step& step = m_Program.Steps()[s];
        const PlannedStep& planned = draft.Planned(s);
        AddStep(s, step, planned);
        if (inPlace[s])
        {
            ShareAliases(step, *planned.m_Aliases);
        }
        for (; pitch != draft.m_Pitches.end() && pitch->m_Pitched.m_Concat == s; ++pitch)
        {
            if (inPlace[s])
            {
                PutInto(step.m_FirstOutput, pitch->m_Pitched.m_Value, pitch->m_Pitched.m_Offset);
            }
        }
    }
}

void MemorySharing::SettleFar(ValueId v) const
{
    std::vector<ValueId> way; // path from the value to its root, without the root
    for (; m_Parent[v] != v; v = m_Parent[v])
    {
        way.push_back(v);
    }
    size_t offset = 0;
    for (size_t i = way.size(); i-- > 0;)
    {
        offset += m_Offset[way[i]];
        m_Parent[way[i]] = v;
        m_Offset[way[i]] = offset;
    }
}

bool MemorySharing::TakesAllMemory(ValueId v) const
{
    return Offset(v) == 0 && m_Infos[v].GetNumBytes() == m_Infos[Root(v)].GetNumBytes();
}

/// Lists the copies out of each device's memory: when one of them has run, all work that was submitted before has run,
/// too.
void MemorySharing::FindSyncSteps()
{
    m_SyncSteps.resize(m_Program.Memories().Size());
    for (uint32_t s = 0; s < m_NumSteps; ++s)
    {
        const Step& step = m_Program.Steps()[s];
        // A copy within a device does not wait for it.
        if (step.IsCopy() && MemoryOf(step.m_Inputs[0]) != HostMemory && MemoryOf(step.m_Inputs[0]) != step.m_Memory)
        {
            m_SyncSteps[MemoryOf(step.m_Inputs[0])].push_back(s);
        }
    }
}

/// Decides for the outputs of one step; steps come in order.
void MemorySharing::AddStep(uint32_t index, const Step& step, const PlannedStep& planned)
{
    const uint32_t firstStep =
        planned.m_ResidualAdd != ResidualAdd::None ? m_ResidualAdds[planned.m_ResidualAdd].m_Add : index;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        const ValueId output = step.m_FirstOutput + k;
        m_First[output] = firstStep;
        m_Last[output] = std::max(m_Last[output], index);
    }
    const OpSchema& schema = GetSchema(step.m_Type);
    if (step.m_NumOutputs == 0 || step.m_Inputs.empty() || step.m_Inputs[0] == NoValue)
    {
        return;
    }
    const bool isSameMemory = MemoryOf(step.m_Inputs[0]) == step.m_Memory;
    if (IsImport(m_Program, step))
    {
        Join(step.m_FirstOutput, step.m_Inputs[0]);
        m_IsImported[Root(step.m_Inputs[0])] = true;
    }
    else if ((schema.Has(OpFlags::View) || planned.m_IsCopy) && isSameMemory &&
             MayBeView(m_Infos[step.m_FirstOutput], m_Infos[step.m_Inputs[0]]))
    {
        Join(step.m_FirstOutput, step.m_Inputs[0]);
    }
    else if (schema.Has(OpFlags::InPlace))
    {
        const ValueId taken = FindOverwritable(index, step, planned);
        if (taken != NoValue)
        {
            Join(step.m_FirstOutput, taken);
        }
    }
}

void MemorySharing::ShareAliases(const Step& step, const TensorAliases& aliases)
{
    for (size_t i = 0; i < aliases.m_InputsInOutput.size(); ++i)
    {
        if (MayBeIn(step.m_Inputs[i], step.m_FirstOutput, aliases.m_InputsInOutput[i]))
        {
            PutInto(step.m_FirstOutput, Root(step.m_Inputs[i]), aliases.m_InputsInOutput[i]);
        }
    }
    for (size_t k = 0; k < aliases.m_OutputsInInput.size(); ++k)
    {
        const ValueId output = step.m_FirstOutput + static_cast<ValueId>(k);
        // A network output is written to the caller's memory, unless it is a part of another value.
        if (!m_IsOutput[output] && MayBeIn(output, step.m_Inputs[0], aliases.m_OutputsInInput[k]))
        {
            Join(output, step.m_Inputs[0], aliases.m_OutputsInInput[k]);
        }
    }
}

/// Whether a value that shares no memory yet may lie at this offset in the memory of the other.
bool MemorySharing::MayBeIn(ValueId part, ValueId whole, size_t offset) const
{
    const ValueId root = Root(part);
    // The alignment must equal that of tensors that share no memory.
    return offset != TensorAliases::None && offset % m_Program.HostAlignment() == 0 &&
           m_Infos[part].GetNumBytes() != 0 && root != Root(whole) && TakesAllMemory(part) && !m_IsOutput[root] &&
           MayBeWritten(root, HostMemory) && MemoryOf(whole) == HostMemory && MemoryOf(Root(whole)) == HostMemory;
}

/// Puts all values of a set into another value.
void MemorySharing::PutInto(ValueId whole, ValueId part, size_t offset)
{
    m_Parent[part] = whole;
    m_Offset[part] = offset;
    m_First[whole] = std::min(m_First[whole], m_First[part]);
    m_Last[whole] = std::max(m_Last[whole], m_Last[part]);
}

void MemorySharing::Join(ValueId output, ValueId input, size_t offset)
{
    const ValueId root = Root(input);
    m_Offset[output] = Offset(input) + offset;
    m_Parent[output] = root;
    m_IsOutput[root] = m_IsOutput[root] || m_IsOutput[output];
    uint32_t last = m_Last[output];
    if (MemoryOf(output) != MemoryOf(root))
    {
        // A device may read host memory that it imported until something waits for the device.
        const std::vector<uint32_t>& syncs = m_SyncSteps[MemoryOf(output)];
        const auto next = std::lower_bound(syncs.begin(), syncs.end(), last);
        last = next == syncs.end() ? m_NumSteps : *next;
    }
    m_Last[root] = std::max(m_Last[root], last);
}

/// An input that dies in this step and whose elements have the positions of the output's.
ValueId MemorySharing::FindOverwritable(uint32_t index, const Step& step, const PlannedStep& planned) const
{
    const TensorInfo& output = m_Infos[step.m_FirstOutput];
    for (ValueId input : step.m_Inputs)
    {
        if (input == NoValue || !MayBeWritten(Root(input), step.m_Memory) || m_Last[Root(input)] != index ||
            !IsSameLayout(m_Infos[input], output) || IsReadWithResidual(planned.m_ResidualAdd, Root(input)))
        {
            continue;
        }
        const bool clash =
            std::any_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                        [&](ValueId other) { return other != NoValue && Clashes(input, other, output); });
        if (!clash)
        {
            return input;
        }
    }
    return NoValue;
}

/// Whether the output, in the memory of `input`, would overwrite elements of another input that are still needed,
/// because they are not at the same position.
bool MemorySharing::Clashes(ValueId input, ValueId other, const TensorInfo& output) const
{
    const size_t begin = Offset(input);
    const size_t otherBegin = Offset(other);
    const bool isApart =
        otherBegin + m_Infos[other].GetNumBytes() <= begin || begin + m_Infos[input].GetNumBytes() <= otherBegin;
    return Root(other) == Root(input) && !isApart && (otherBegin != begin || !IsSameLayout(m_Infos[other], output));
}

/// Whether the layer that waits for this addition, if there is one, reads memory of the set.
bool MemorySharing::IsReadWithResidual(uint32_t residualAdd, ValueId root) const
{
    if (residualAdd >= m_ResidualAdds.size())
    {
        return false;
    }
    const auto& inputs = m_Program.Steps()[m_ResidualAdds[residualAdd].m_Layer].m_Inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ValueId input) { return input != NoValue && Root(input) == root; });
}

bool MemorySharing::MayBeWritten(ValueId root, MemoryId from) const
{
    return !m_External[root] && MemoryOf(root) == from && (m_IsImported.empty() || !m_IsImported[root]);
}

} // namespace tenon
