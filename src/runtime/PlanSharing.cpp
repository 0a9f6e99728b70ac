// SPDX-License-Identifier: Apache-2.0
// Which values of a plan share memory: views and copies of others, outputs in place of inputs that die, and the parts
// that layers join or cut out.
#include "runtime/PlanSharing.hpp"

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

Plan::Sharing::Sharing(const Program& program, const PageVector<TensorInfo>& infos,
                       const PageVector<PlannedStep>& steps, const std::vector<PlannedSum>& sums,
                       const std::vector<PlannedPitch>& pitches, const std::vector<bool>& sharesParts)
    : m_Program(program), m_Infos(infos), m_Sums(sums), m_NumSteps(static_cast<uint32_t>(steps.size())),
      m_Parent(program.Values().size()), m_Offset(m_Parent.size(), 0), m_First(m_Parent.size(), 0),
      m_Last(m_Parent.size()), m_IsOutput(m_Parent.size(), false),
      m_IsImported(program.UsesDevices() ? m_Parent.size() : 0, false)
{
    m_External.reserve(m_Parent.size());
    for (ValueId v = 0; v < m_Parent.size(); ++v)
    {
        m_Parent[v] = v;
        m_Last[v] = std::min(program.Values()[v].m_LastUse, m_NumSteps);
        m_External.push_back(program.Values()[v].m_Constant != nullptr);
    }
    for (const Binding& input : program.Inputs())
    {
        m_External[input.m_Value] = true;
    }
    for (const Binding& output : program.Outputs())
    {
        m_IsOutput[output.m_Value] = true;
    }
    for (const State& state : program.States())
    {
        if (state.m_Read != NoValue)
        {
            m_External[state.m_Read] = true;
        }
    }
    for (const PlannedSum& sum : sums)
    {
        for (const ValueId input : program.Steps()[sum.m_Layer].m_Inputs)
        {
            if (input != NoValue)
            {
                m_Last[input] = std::max(m_Last[input], sum.m_Sum);
            }
        }
    }
    if (program.UsesDevices())
    {
        FindSyncSteps();
    }
    auto pitch = pitches.begin(); // in the order of their joins
    for (uint32_t s = 0; s < m_NumSteps; ++s)
    {
        const Step& step = program.Steps()[s];
        AddStep(s, step, steps[s]);
        if (sharesParts[s])
        {
            ShareParts(step, *steps[s].m_Parts);
        }
        for (; pitch != pitches.end() && pitch->m_Join == s; ++pitch)
        {
            if (sharesParts[s])
            {
                PutInto(step.m_FirstOutput, pitch->m_Value, pitch->m_Place);
            }
        }
    }
}

void Plan::Sharing::SettleFar(ValueId v) const
{
    std::vector<ValueId> way; // from the value to its root, which is left out
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

bool Plan::Sharing::IsWhole(ValueId v) const
{
    return Offset(v) == 0 && m_Infos[v].GetNumBytes() == m_Infos[Root(v)].GetNumBytes();
}

/// The copies out of each device's memory: when one of them has run, so has all that the device was given before.
void Plan::Sharing::FindSyncSteps()
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
void Plan::Sharing::AddStep(uint32_t index, const Step& step, const PlannedStep& planned)
{
    const uint32_t turn = planned.m_Sum != PlannedSum::None ? m_Sums[planned.m_Sum].m_Sum : index;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        const ValueId output = step.m_FirstOutput + k;
        m_First[output] = turn;
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

void Plan::Sharing::ShareParts(const Step& step, const SharedParts& parts)
{
    for (size_t i = 0; i < parts.m_OfOutput.size(); ++i)
    {
        if (MayBeIn(step.m_Inputs[i], step.m_FirstOutput, parts.m_OfOutput[i]))
        {
            PutInto(step.m_FirstOutput, Root(step.m_Inputs[i]), parts.m_OfOutput[i]);
        }
    }
    for (size_t k = 0; k < parts.m_OfInput.size(); ++k)
    {
        const ValueId output = step.m_FirstOutput + static_cast<ValueId>(k);
        // What the network gives is written where the caller wants it, as long as it is not a part of something else.
        if (!m_IsOutput[output] && MayBeIn(output, step.m_Inputs[0], parts.m_OfInput[k]))
        {
            Join(output, step.m_Inputs[0], parts.m_OfInput[k]);
        }
    }
}

/// Whether a value of a set of its own may lie there in the memory of the other.
bool Plan::Sharing::MayBeIn(ValueId part, ValueId whole, size_t offset) const
{
    const ValueId root = Root(part);
    // As aligned as tensors that share nothing.
    return offset != SharedParts::None && offset % m_Program.HostAlignment() == 0 && m_Infos[part].GetNumBytes() != 0 &&
           root != Root(whole) && IsWhole(part) && !m_IsOutput[root] && MayBeWritten(root, HostMemory) &&
           MemoryOf(whole) == HostMemory && MemoryOf(Root(whole)) == HostMemory;
}

/// All values of a set.
void Plan::Sharing::PutInto(ValueId whole, ValueId part, size_t offset)
{
    m_Parent[part] = whole;
    m_Offset[part] = offset;
    m_First[whole] = std::min(m_First[whole], m_First[part]);
    m_Last[whole] = std::max(m_Last[whole], m_Last[part]);
}

void Plan::Sharing::Join(ValueId output, ValueId input, size_t offset)
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

/// An input that dies in this step and lies element by element where the output would.
ValueId Plan::Sharing::FindOverwritable(uint32_t index, const Step& step, const PlannedStep& planned) const
{
    const TensorInfo& output = m_Infos[step.m_FirstOutput];
    for (ValueId input : step.m_Inputs)
    {
        if (input == NoValue || !MayBeWritten(Root(input), step.m_Memory) || m_Last[Root(input)] != index ||
            !IsSameLayout(m_Infos[input], output) || IsReadBySum(planned.m_Sum, Root(input)))
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

/// Whether another input has elements where the output would, if it took the memory of `input`, that are not those of
/// the same place.
bool Plan::Sharing::Clashes(ValueId input, ValueId other, const TensorInfo& output) const
{
    const size_t begin = Offset(input);
    const size_t otherBegin = Offset(other);
    const bool isApart =
        otherBegin + m_Infos[other].GetNumBytes() <= begin || begin + m_Infos[input].GetNumBytes() <= otherBegin;
    return Root(other) == Root(input) && !isApart && (otherBegin != begin || !IsSameLayout(m_Infos[other], output));
}

/// Whether the layer that waits for this sum, if there is one, reads memory of the set.
bool Plan::Sharing::IsReadBySum(uint32_t sum, ValueId root) const
{
    if (sum >= m_Sums.size())
    {
        return false;
    }
    const auto& inputs = m_Program.Steps()[m_Sums[sum].m_Layer].m_Inputs;
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](ValueId input) { return input != NoValue && Root(input) == root; });
}

bool Plan::Sharing::MayBeWritten(ValueId root, MemoryId from) const
{
    return !m_External[root] && MemoryOf(root) == from && (m_IsImported.empty() || !m_IsImported[root]);
}

} // namespace tenon
