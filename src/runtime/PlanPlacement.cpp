// SPDX-License-Identifier: Apache-2.0
// Where a Plan puts each value: with whom it shares memory, and at which offset of which arena.
#include "runtime/PlanSharing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

bool IsImport(const Program& program, const Step& step)
{
    return step.m_Type == LayerType::MemImport && step.m_Memory != HostMemory &&
           program.Values()[step.m_Inputs[0]].m_Memory == HostMemory;
}

void Plan::PlaceValues(const Program& program, const Limits& limits)
{
    const std::vector<bool> sharesParts = ChooseParts(program);
    ApplyPitches(program, sharesParts);
    const Sharing sharing(program, m_Infos, m_Steps, m_Sums, m_Pitches, sharesParts);
    SettleStrips(program, sharing);
    PlaceBound(program, sharing);
    PlaceInArenas(program, sharing);
    CheckTotal(program, limits);
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        m_Locations[v] = m_Locations[sharing.Root(v)];
        m_Locations[v].m_Offset += sharing.Offset(v);
    }
    for (size_t s = 0; s < m_Steps.size(); ++s)
    {
        if (sharesParts[s] && IsInPlace(program.Steps()[s], *m_Steps[s].m_Parts))
        {
            NameStep(s, "+InPlace");
        }
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

void Plan::NameStep(size_t index, const char* addition)
{
    m_Labels.push_back(std::make_unique<const std::string>(std::string(m_Steps[index].m_KernelName) + addition));
    m_Steps[index].m_KernelName = m_Labels.back()->c_str();
}

/// The steps whose parts may lie in place without making the host's arena larger: memory for parts that come late is
/// taken when the first one comes.
std::vector<bool> Plan::ChooseParts(const Program& program)
{
    std::vector<bool> chosen(m_Steps.size(), false);
    std::vector<bool> all(m_Steps.size(), false);
    size_t candidates = 0;
    for (size_t s = 0; s < m_Steps.size(); ++s)
    {
        const SharedParts* const parts = m_Steps[s].m_Parts;
        all[s] = parts != nullptr && (parts->m_OfPixels.empty() || HasPitches(static_cast<uint32_t>(s)));
        candidates += all[s] ? 1 : 0;
    }
    if (candidates == 0)
    {
        return chosen;
    }
    size_t least = CountHostBytes(program, chosen);
    if (CountHostBytes(program, all) <= least)
    {
        return all;
    }
    constexpr size_t MostWork = 1'000'000; // steps to look at: some 100 ms
    for (size_t s = 0; s < m_Steps.size() && candidates <= MostWork / m_Steps.size(); ++s)
    {
        if (all[s])
        {
            chosen[s] = true;
            const size_t bytes = CountHostBytes(program, chosen);
            chosen[s] = bytes <= least;
            least = std::min(least, bytes);
        }
    }
    return chosen;
}

/// The largest sum of bytes that are in use at once, see MemoryLowerBound.
size_t Plan::CountHostBytes(const Program& program, const std::vector<bool>& sharesParts)
{
    const Sharing sharing(program, m_Infos, m_Steps, m_Sums, m_Pitches, sharesParts);
    PlaceBound(program, sharing);
    return MemoryLowerBound(ListBuffers(program, sharing)[HostMemory].m_Buffers);
}

/// Whether all parts lie where they belong, so that the step has nothing to do.
bool Plan::IsInPlace(const Step& step, const SharedParts& parts) const
{
    const auto isAt = [this](ValueId part, ValueId whole, size_t offset)
    {
        const Location& at = m_Locations[part];
        const Location& base = m_Locations[whole];
        return m_Infos[part].GetNumBytes() == 0 ||
               (offset != SharedParts::None && at.m_Place == base.m_Place && at.m_Index == base.m_Index &&
                at.m_Offset == base.m_Offset + offset);
    };
    bool is = true;
    for (size_t i = 0; is && i < parts.m_OfOutput.size(); ++i)
    {
        is = isAt(step.m_Inputs[i], step.m_FirstOutput, parts.m_OfOutput[i]);
    }
    for (size_t i = 0; is && i < parts.m_OfPixels.size(); ++i)
    {
        is = isAt(step.m_Inputs[i], step.m_FirstOutput, parts.m_OfPixels[i]);
    }
    for (size_t k = 0; is && k < parts.m_OfInput.size(); ++k)
    {
        is = isAt(step.m_FirstOutput + static_cast<ValueId>(k), step.m_Inputs[0], parts.m_OfInput[k]);
    }
    return is;
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
    m_Locations.assign(program.Values().size(), Location());
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
    // is elsewhere already, or a part of something else; then the context copies it at the end.
    for (uint32_t i = 0; i < program.Outputs().size(); ++i)
    {
        const ValueId value = program.Outputs()[i].m_Value;
        const ValueId root = sharing.Root(value);
        if (value < numPlanned && !sharing.IsExternal(root) && sharing.IsWhole(value) &&
            m_Locations[root].m_Place == Place::None)
        {
            m_Locations[root] = {Place::Output, i, 0};
        }
    }
}

/// By MemoryId.
std::vector<Plan::Contents> Plan::ListBuffers(const Program& program, const Sharing& sharing) const
{
    std::vector<Contents> memories(program.Memories().Size());
    for (uint32_t s = 0; s < m_Steps.size(); ++s)
    {
        const Step& step = program.Steps()[s];
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (sharing.Root(v) == v && m_Locations[v].m_Place == Place::None)
            {
                Contents& contents = memories[step.m_Memory];
                // Layers of strips run at the same time.
                const uint32_t last = sharing.Last(v);
                contents.m_Buffers.push_back(
                    {m_Infos[v].GetNumBytes(), RunsWith(sharing.First(v)).first, RunsWith(last).second, 0});
                contents.m_Values.push_back(v);
            }
        }
        if (m_Steps[s].m_ScratchBytes != 0)
        {
            memories[step.m_Memory].m_ScratchSteps.push_back(s);
        }
    }
    for (Contents& contents : memories)
    {
        for (const uint32_t s : contents.m_ScratchSteps)
        {
            const auto [first, last] = RunsWith(s);
            contents.m_Buffers.push_back({m_Steps[s].m_ScratchBytes, first, last, 0});
        }
    }
    return memories;
}

void Plan::PlaceInArenas(const Program& program, const Sharing& sharing)
{
    std::vector<Contents> memories = ListBuffers(program, sharing);
    m_Arenas.resize(memories.size());
    for (MemoryId id = 0; id < memories.size(); ++id)
    {
        Contents& contents = memories[id];
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
    FindWritten(program, sharing, memories[HostMemory]);
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
    PageVector<size_t> entryOf(program.Values().size(), none); // by root: index into m_DirectOutputs
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
