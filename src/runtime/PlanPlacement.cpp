// SPDX-License-Identifier: Apache-2.0
// Where a Plan puts each value: with whom it shares memory, and at which offset of which arena.
#include "runtime/MemoryPlanner.hpp"
#include "runtime/Plan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

/// Sets of values that share memory. A set is named by the value that came first.
class Plan::Sharing
{
public:
    Sharing(const Program& program, const std::vector<TensorInfo>& infos, const std::vector<PlannedStep>& steps)
        : m_Program(program), m_Infos(infos), m_NumSteps(static_cast<uint32_t>(steps.size())),
          m_Root(program.Values().size()), m_Last(program.Values().size()),
          m_IsImported(program.UsesDevices() ? program.Values().size() : 0, false)
    {
        m_External.reserve(m_Root.size());
        for (ValueId v = 0; v < m_Root.size(); ++v)
        {
            m_Root[v] = v;
            m_Last[v] = std::min(program.Values()[v].m_LastUse, m_NumSteps);
            m_External.push_back(program.Values()[v].m_Constant != nullptr);
        }
        for (const Binding& input : program.Inputs())
        {
            m_External[input.m_Value] = true;
        }
        for (const State& state : program.States())
        {
            if (state.m_Read != NoValue)
            {
                m_External[state.m_Read] = true;
            }
        }
        if (program.UsesDevices())
        {
            FindSyncSteps();
        }
        for (uint32_t s = 0; s < m_NumSteps; ++s)
        {
            AddStep(s, program.Steps()[s], steps[s].m_IsCopy);
        }
    }

    ValueId Root(ValueId v) const { return m_Root[v]; }
    bool IsExternal(ValueId root) const { return m_External[root]; }
    uint32_t Last(ValueId root) const { return m_Last[root]; }

private:
    MemoryId MemoryOf(ValueId v) const { return m_Program.Values()[v].m_Memory; }

    /// The copies out of each device's memory: when one of them has run, so has all that the device was given before.
    void FindSyncSteps()
    {
        m_SyncSteps.resize(m_Program.Memories().Size());
        for (uint32_t s = 0; s < m_NumSteps; ++s)
        {
            const Step& step = m_Program.Steps()[s];
            // A copy within a device does not wait for it.
            if (step.IsCopy() && MemoryOf(step.m_Inputs[0]) != HostMemory &&
                MemoryOf(step.m_Inputs[0]) != step.m_Memory)
            {
                m_SyncSteps[MemoryOf(step.m_Inputs[0])].push_back(s);
            }
        }
    }

    /// Decides for the outputs of one step; steps come in order. `isCopy`: see IShapedWorkload::IsCopy.
    void AddStep(uint32_t index, const Step& step, bool isCopy)
    {
        for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
        {
            m_Last[step.m_FirstOutput + k] = std::max(m_Last[step.m_FirstOutput + k], index);
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
            m_IsImported[m_Root[step.m_Inputs[0]]] = true;
        }
        else if ((schema.Has(OpFlags::View) || isCopy) && isSameMemory &&
                 MayBeView(m_Infos[step.m_FirstOutput], m_Infos[step.m_Inputs[0]]))
        {
            Join(step.m_FirstOutput, step.m_Inputs[0]);
        }
        else if (schema.Has(OpFlags::InPlace))
        {
            const ValueId taken = FindOverwritable(index, step);
            if (taken != NoValue)
            {
                Join(step.m_FirstOutput, taken);
            }
        }
    }

    void Join(ValueId output, ValueId input)
    {
        const ValueId root = m_Root[input];
        m_Root[output] = root;
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
    ValueId FindOverwritable(uint32_t index, const Step& step) const
    {
        const TensorInfo& output = m_Infos[step.m_FirstOutput];
        for (ValueId input : step.m_Inputs)
        {
            if (input == NoValue || !MayBeWritten(m_Root[input], step.m_Memory) || m_Last[m_Root[input]] != index ||
                !IsSameLayout(m_Infos[input], output))
            {
                continue;
            }
            const bool clash = std::any_of(step.m_Inputs.begin(), step.m_Inputs.end(),
                                           [&](ValueId other) {
                                               return other != NoValue && m_Root[other] == m_Root[input] &&
                                                      !IsSameLayout(m_Infos[other], output);
                                           });
            if (!clash)
            {
                return input;
            }
        }
        return NoValue;
    }

    bool MayBeWritten(ValueId root, MemoryId from) const
    {
        return !m_External[root] && MemoryOf(root) == from && (m_IsImported.empty() || !m_IsImported[root]);
    }

    static bool IsSameLayout(const TensorInfo& a, const TensorInfo& b)
    {
        return a.GetShape() == b.GetShape() && GetDataTypeBits(a.GetDataType()) == GetDataTypeBits(b.GetDataType());
    }

    const Program& m_Program;
    const std::vector<TensorInfo>& m_Infos;
    const uint32_t m_NumSteps;
    std::vector<ValueId> m_Root;
    std::vector<uint32_t> m_Last;
    std::vector<bool> m_External;   ///< by root: memory that no step may write
    std::vector<bool> m_IsImported; ///< by root: a device reads it at a time of its own; empty: no device
    std::vector<std::vector<uint32_t>> m_SyncSteps; ///< by memory
};

bool IsImport(const Program& program, const Step& step)
{
    return step.m_Type == LayerType::MemImport && step.m_Memory != HostMemory &&
           program.Values()[step.m_Inputs[0]].m_Memory == HostMemory;
}

void Plan::PlaceValues(const Program& program, const Limits& limits)
{
    const Sharing sharing(program, m_Infos, m_Steps);
    m_Locations.resize(program.Values().size());
    PlaceBound(program, sharing);
    PlaceInArenas(program, sharing);
    CheckTotal(program, limits);
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        m_Locations[v] = m_Locations[sharing.Root(v)];
    }
    if (program.UsesDevices())
    {
        LocateImports(program, sharing);
    }
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        const Place place = m_Locations[v].m_Place;
        if (place == Place::Input || place == Place::Output || place == Place::State)
        {
            m_Bound.push_back(v);
        }
    }
    if (program.UsesDevices())
    {
        FindDirectOutputs(program, sharing);
    }
}

void Plan::LocateImports(const Program& program, const Sharing& sharing)
{
    for (size_t s = 0; s < m_Steps.size(); ++s)
    {
        const Step& step = program.Steps()[s];
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (program.Values()[sharing.Root(v)].m_Memory != program.Values()[v].m_Memory)
            {
                m_Locations[v] = {Place::Imported, step.IsCopy() ? v : m_Locations[step.m_Inputs[0]].m_Index, 0};
            }
        }
    }
}

void Plan::PlaceBound(const Program& program, const Sharing& sharing)
{
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        if (program.Values()[v].m_Constant != nullptr)
        {
            m_Locations[v] = {Place::Constant, v, 0};
        }
    }
    for (uint32_t i = 0; i < program.Inputs().size(); ++i)
    {
        m_Locations[program.Inputs()[i].m_Value] = {Place::Input, i, 0};
    }
    // Values are numbered in the order of the steps.
    const ValueId numPlanned =
        m_Complete ? static_cast<ValueId>(program.Values().size()) : program.Steps()[m_Steps.size()].m_FirstOutput;
    for (uint32_t i = 0; i < program.States().size(); ++i)
    {
        const ValueId read = program.States()[i].m_Read;
        if (read < numPlanned)
        {
            m_Locations[read] = {Place::State, i, 0};
        }
    }
    // A network output is written in the caller's memory from the start, unless it shares memory with something that
    // is elsewhere already; then the context copies it at the end.
    for (uint32_t i = 0; i < program.Outputs().size(); ++i)
    {
        const ValueId value = program.Outputs()[i].m_Value;
        const ValueId root = sharing.Root(value);
        if (value < numPlanned && !sharing.IsExternal(root) && m_Locations[root].m_Place == Place::None)
        {
            m_Locations[root] = {Place::Output, i, 0};
        }
    }
}

void Plan::PlaceInArenas(const Program& program, const Sharing& sharing)
{
    struct Contents
    {
        std::vector<PlannedBuffer> m_Buffers; ///< first of the values, then scratch
        std::vector<ValueId> m_Values;
        std::vector<uint32_t> m_ScratchSteps;
    };
    std::vector<Contents> memories(program.Memories().Size());
    for (uint32_t s = 0; s < m_Steps.size(); ++s)
    {
        const Step& step = program.Steps()[s];
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (sharing.Root(v) == v && m_Locations[v].m_Place == Place::None)
            {
                Contents& contents = memories[step.m_Memory];
                contents.m_Buffers.push_back({m_Infos[v].GetNumBytes(), s, sharing.Last(v), 0});
                contents.m_Values.push_back(v);
            }
        }
        if (m_Steps[s].m_ScratchBytes != 0)
        {
            memories[step.m_Memory].m_ScratchSteps.push_back(s);
        }
    }
    m_Arenas.resize(memories.size());
    for (MemoryId id = 0; id < memories.size(); ++id)
    {
        Contents& contents = memories[id];
        for (const uint32_t s : contents.m_ScratchSteps)
        {
            contents.m_Buffers.push_back({m_Steps[s].m_ScratchBytes, s, s, 0});
        }
        const MemorySpace& memory = program.Memories()[id];
        const size_t alignment = id == HostMemory ? program.HostAlignment() : memory.m_Alignment;
        PlannedArena& arena = m_Arenas[id];
        arena.m_Bytes = PlanMemory(contents.m_Buffers, alignment, memory.m_Strategy.get());
        arena.m_LowerBoundBytes = MemoryLowerBound(contents.m_Buffers);
        arena.m_IsSmallest = arena.m_Bytes <= MemoryLowerBound(contents.m_Buffers, alignment);
        const size_t numValues = contents.m_Values.size();
        for (size_t i = 0; i < numValues; ++i)
        {
            m_Locations[contents.m_Values[i]] = {Place::Arena, 0, contents.m_Buffers[i].m_Offset};
        }
        for (size_t i = 0; i < contents.m_ScratchSteps.size(); ++i)
        {
            m_Steps[contents.m_ScratchSteps[i]].m_ScratchOffset = contents.m_Buffers[numValues + i].m_Offset;
        }
    }
}

uint64_t Plan::TotalBytes() const
{
    uint64_t sum = 0;
    for (const PlannedArena& arena : m_Arenas)
    {
        sum += std::min(uint64_t{arena.m_Bytes}, UINT64_MAX - sum);
    }
    return sum;
}

void Plan::CheckTotal(const Program& program, const Limits& limits) const
{
    // A session holds each state twice: what it is, and what it is to be next.
    const uint64_t arenaBytes = TotalBytes();
    uint64_t bytesLeft = limits.m_MaxTotalBytes;
    bool isTooMuch = arenaBytes > bytesLeft;
    bytesLeft -= isTooMuch ? bytesLeft : arenaBytes;
    for (size_t s = 0; s < m_Steps.size() && !isTooMuch && !program.States().empty(); ++s)
    {
        const Step& step = program.Steps()[s];
        const uint64_t bytes = step.m_State != NoState ? m_Infos[step.m_FirstOutput].GetNumBytes() : 0;
        isTooMuch = bytes > bytesLeft / 2;
        bytesLeft -= isTooMuch ? bytesLeft : bytes * 2;
    }
    if (isTooMuch)
    {
        throw LimitExceededException(fmt::format("one run needs {} bytes of memory, and more for its states, above "
                                                 "the limit of {}; raise Limits::m_MaxTotalBytes",
                                                 arenaBytes, limits.m_MaxTotalBytes));
    }
}

void Plan::FindDirectOutputs(const Program& program, const Sharing& sharing)
{
    constexpr auto none = static_cast<size_t>(-1);
    std::vector<size_t> entryOf(program.Values().size(), none); // by root: index into m_DirectOutputs
    for (uint32_t s = 0; s < m_Steps.size(); ++s)
    {
        const Step& step = program.Steps()[s];
        if (!step.IsCopy() || step.m_Memory != HostMemory)
        {
            continue;
        }
        const ValueId source = step.m_Inputs[0];
        const ValueId root = sharing.Root(source);
        const Location& target = m_Locations[step.m_FirstOutput];
        const bool isOutput =
            target.m_Place == Place::Output && program.Outputs()[target.m_Index].m_Value == step.m_FirstOutput;
        const bool isDevices = program.Values()[root].m_Memory != HostMemory &&
                               m_Infos[root].GetNumBytes() == m_Infos[step.m_FirstOutput].GetNumBytes();
        if (isOutput && isDevices && entryOf[root] == none)
        {
            entryOf[root] = m_DirectOutputs.size();
            m_DirectOutputs.push_back({target.m_Index, s, {}});
        }
    }
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        const size_t entry = entryOf[sharing.Root(v)];
        if (entry != none)
        {
            m_DirectOutputs[entry].m_Values.push_back(v);
        }
    }
}

} // namespace tenon
