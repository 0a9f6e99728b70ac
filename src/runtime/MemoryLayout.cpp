// SPDX-License-Identifier: Apache-2.0
// See MemoryLayout.hpp.
#include "runtime/MemoryLayout.hpp"

#include "runtime/MemoryPlanner.hpp"
#include "runtime/MemorySharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tenon
{

namespace
{

/// The contents of an arena: first values, then scratch memory.
struct ArenaContents
{
    PageVector<PlannedBuffer> m_Buffers;
    PageVector<ValueId> m_Values;
    std::vector<uint32_t> m_ScratchSteps;
};

/// The locations of values in memory that exists before the run, by value: memory of constants, the caller and the
/// session.
PageVector<Location> LocateBound(const PlanDraft& draft, const MemorySharing& sharing)
{
    const Program& program = draft.m_Program;
    PageVector<Location> locations(program.Values().size());
    for (ValueId v = 0; v < program.Values().size(); ++v)
    {
        if (program.Values()[v].m_Constant != nullptr)
        {
            locations[v] = {Place::Constant, v, 0};
        }
    }
    for (uint32_t i = 0; i < program.Inputs().size(); ++i)
    {
        locations[program.Inputs()[i].m_Value] = {Place::Input, i, 0};
    }
    // Values are numbered in the order of the steps.
    const ValueId numPlanned = draft.m_Plan.m_IsComplete ? static_cast<ValueId>(program.Values().size())
                                                         : program.Steps()[draft.NumSteps()].m_FirstOutput;
    for (uint32_t i = 0; i < program.States().size(); ++i)
    {
        const ValueId read = program.States()[i].m_Read;
        if (read < numPlanned)
        {
            locations[read] = {Place::State, i, 0};
        }
    }
    // A network output is written in the caller's memory from the start, unless it shares memory with a value that has
    // another location already, or is a range of another value; then the context copies it at the end.
    for (uint32_t i = 0; i < program.Outputs().size(); ++i)
    {
        const ValueId value = program.Outputs()[i].m_Value;
        const ValueId root = sharing.Root(value);
        if (value < numPlanned && !sharing.IsExternal(root) && sharing.TakesAllMemory(value) &&
            locations[root].m_Place == Place::None)
        {
            locations[root] = {Place::Output, i, 0};
        }
    }
    return locations;
}

/// The contents of each arena, by MemoryId.
std::vector<ArenaContents> ListContents(const PlanDraft& draft, const MemorySharing& sharing,
                                        const PageVector<Location>& locations)
{
    std::vector<ArenaContents> memories(draft.m_Program.Memories().Size());
    for (uint32_t s = 0; s < draft.NumSteps(); ++s)
    {
        const Step& step = draft.GetStep(s);
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (sharing.Root(v) == v && locations[v].m_Place == Place::None)
            {
                ArenaContents& contents = memories[step.m_Memory];
                // Steps of a fused run run at the same time.
                contents.m_Buffers.push_back({draft.InfoOf(v).GetNumBytes(), draft.RunsWith(sharing.First(v)).first,
                                              draft.RunsWith(sharing.Last(v)).second, 0});
                contents.m_Values.push_back(v);
            }
        }
        if (draft.Planned(s).m_ScratchBytes != 0)
        {
            memories[step.m_Memory].m_ScratchSteps.push_back(s);
        }
    }
    for (ArenaContents& contents : memories)
    {
        for (const uint32_t s : contents.m_ScratchSteps)
        {
            const auto [first, last] = draft.RunsWith(s);
            contents.m_Buffers.push_back({draft.Planned(s).m_ScratchBytes, first, last, 0});
        }
    }
    return memories;
}

/// The layout of a draft whose sharing is decided.
class Layout
{
public:
    Layout(PlanDraft& draft, const MemorySharing& sharing)
        : m_Draft(draft), m_Program(draft.m_Program), m_Plan(draft.m_Plan), m_Sharing(sharing)
    {
    }

    void Make(const Limits& limits);

private:
    void SettleRuns();
    WhyNot SettleRun(FusedRun& run) const;
    void PlaceInArenas();
    void FindWritten(const ArenaContents& host);
    void CheckTotal(const Limits& limits) const;
    bool IsInPlace(uint32_t index) const;
    void LocateImports();
    void FindDirectOutputs();

    PlanDraft& m_Draft;
    const Program& m_Program;
    Plan::Contents& m_Plan;
    const MemorySharing& m_Sharing;
};

void Layout::Make(const Limits& limits)
{
    SettleRuns();
    m_Plan.m_Locations = LocateBound(m_Draft, m_Sharing);
    PlaceInArenas();
    CheckTotal(limits);
    for (ValueId v = 0; v < m_Program.Values().size(); ++v)
    {
        m_Plan.m_Locations[v] = m_Plan.m_Locations[m_Sharing.Root(v)];
        m_Plan.m_Locations[v].m_Offset += m_Sharing.Offset(v);
    }
    for (uint32_t s = 0; s < m_Draft.NumSteps(); ++s)
    {
        if (m_Draft.m_InPlace[s] && IsInPlace(s))
        {
            PlannedStep& planned = m_Draft.Planned(s);
            m_Plan.m_Labels.push_back(
                std::make_unique<const std::string>(std::string(planned.m_KernelName) + "+InPlace"));
            planned.m_KernelName = m_Plan.m_Labels.back()->c_str();
        }
    }
    if (m_Program.UsesDevices())
    {
        LocateImports();
    }
    for (ValueId v = 0; v < m_Program.Values().size(); ++v)
    {
        const Place place = m_Plan.m_Locations[v].m_Place;
        if (place == Place::Input || place == Place::Output || place == Place::State)
        {
            m_Plan.m_Bound.push_back(v);
        }
    }
    if (m_Program.UsesDevices())
    {
        FindDirectOutputs();
    }
}

/// Drops the runs that would overwrite a tensor, and gives the others scratch memory.
void Layout::SettleRuns()
{
    const auto isDropped = [&](const std::unique_ptr<FusedRun>& run)
    {
        const WhyNot whyNot = SettleRun(*run);
        if (whyNot != nullptr)
        {
            m_Draft.NoteDropped(run->m_Kind, run->m_First, whyNot);
        }
        return whyNot != nullptr;
    };
    m_Plan.m_FusedRuns.erase(std::remove_if(m_Plan.m_FusedRuns.begin(), m_Plan.m_FusedRuns.end(), isDropped),
                             m_Plan.m_FusedRuns.end());
    for (const auto& run : m_Plan.m_FusedRuns)
    {
        for (size_t i = 0; i < run->m_Steps.size(); ++i)
        {
            PlannedStep& inner = m_Draft.Planned(run->m_First + static_cast<uint32_t>(i));
            inner.m_ScratchBytes = std::max(inner.m_ScratchBytes, run->m_Steps[i].m_ScratchBytes * run->m_MaxThreads);
        }
        if (run->m_Fused.m_Shared != nullptr)
        {
            PlannedStep& last = m_Draft.Planned(run->Last());
            last.m_ScratchBytes = std::max(last.m_ScratchBytes, run->m_Fused.m_Shared->GetScratchBytes());
        }
    }
}

/// Decides which tensors of a run are kept as a whole, and labels the run; or returns the reason why it must not run.
WhyNot Layout::SettleRun(FusedRun& run) const
{
    const auto isInner = [&](ValueId value) {
        return m_Draft.IsMadeBy(run.m_First, run.Last() + 1, value) &&
               m_Program.Values()[value].m_LastUse <= run.Last();
    };
    // A set exists tile by tile if all of its values are inner ones; other sets keep all tiles.
    std::vector<ValueId> kept;
    std::vector<ValueId> written;
    for (uint32_t s = run.m_First; s <= run.Last(); ++s)
    {
        const Step& step = m_Draft.GetStep(s);
        for (const ValueId value : step.m_Inputs)
        {
            if (value != NoValue && !isInner(value))
            {
                kept.push_back(m_Sharing.Root(value));
            }
        }
        written.push_back(m_Sharing.Root(step.m_FirstOutput));
        if (!isInner(step.m_FirstOutput))
        {
            kept.push_back(written.back());
        }
    }
    const auto contains = [](const std::vector<ValueId>& values, ValueId value)
    { return std::find(values.begin(), values.end(), value) != values.end(); };
    const IShapedWorkload* const fused = run.m_Fused.m_Workload.get();
    const char* const kernel = fused != nullptr ? fused->GetFusion().m_KernelName : nullptr;
    run.m_Label = kernel != nullptr ? std::string(kernel) + " of " : fused != nullptr ? "Fused: " : "Tiles of ";
    for (size_t i = 0; i < run.m_Steps.size(); ++i)
    {
        const uint32_t index = run.m_First + static_cast<uint32_t>(i);
        const Step& step = m_Draft.GetStep(index);
        TiledStep& tiled = run.m_Steps[i];
        const ValueId output = step.m_FirstOutput;
        for (size_t k = 0; k < step.m_Inputs.size() && k < TiledStep::MaxInputs; ++k)
        {
            const ValueId root = step.m_Inputs[k] == NoValue ? NoValue : m_Sharing.Root(step.m_Inputs[k]);
            // A tensor that the run overwrites must be read tile by tile, at the offset of the output's tile.
            if (root != NoValue && contains(written, root) &&
                (!tiled.m_Inputs[k].m_Offsets.empty() ||
                 tiled.m_Inputs[k].m_Bytes * run.m_Tiles != m_Draft.InfoOf(root).GetNumBytes()))
            {
                return "it would overwrite a tensor that a later tile reads";
            }
            tiled.m_Inputs[k].m_IsKept = root == NoValue || contains(kept, root);
        }
        const bool isView = tiled.m_Workload == nullptr && fused == nullptr;
        if (isView && m_Sharing.Root(output) != m_Sharing.Root(step.m_Inputs[0]))
        {
            return "the output of a view in it lies elsewhere than its input";
        }
        tiled.m_Output.m_IsKept = contains(kept, m_Sharing.Root(output));
        if (!isView)
        {
            run.m_Label += std::string(i == 0 ? "" : ", ") + m_Draft.Planned(index).m_KernelName;
        }
    }
    return nullptr;
}

void Layout::PlaceInArenas()
{
    std::vector<ArenaContents> memories = ListContents(m_Draft, m_Sharing, m_Plan.m_Locations);
    m_Plan.m_Arenas.resize(memories.size());
    for (MemoryId id = 0; id < memories.size(); ++id)
    {
        ArenaContents& contents = memories[id];
        const MemorySpace& memory = m_Program.Memories()[id];
        const size_t alignment = id == HostMemory ? m_Program.HostAlignment() : memory.m_Alignment;
        PlannedArena& arena = m_Plan.m_Arenas[id];
        arena.m_Bytes = PlanMemory(contents.m_Buffers, alignment, memory.m_Strategy.get());
        arena.m_LowerBoundBytes = MemoryLowerBound(contents.m_Buffers);
        arena.m_IsSmallest = arena.m_Bytes <= MemoryLowerBound(contents.m_Buffers, alignment);
        const size_t numValues = contents.m_Values.size();
        for (size_t i = 0; i < numValues; ++i)
        {
            m_Plan.m_Locations[contents.m_Values[i]] = {Place::Arena, 0, contents.m_Buffers[i].m_Offset};
        }
        for (size_t i = 0; i < contents.m_ScratchSteps.size(); ++i)
        {
            m_Draft.Planned(contents.m_ScratchSteps[i]).m_ScratchOffset = contents.m_Buffers[numValues + i].m_Offset;
        }
    }
    FindWritten(memories[HostMemory]);
}

/// The ranges of the host's arena that a run writes: the whole arena except tensors that exist in one tile per thread.
void Layout::FindWritten(const ArenaContents& host)
{
    if (m_Plan.m_FusedRuns.empty())
    {
        m_Plan.m_Written.push_back({0, m_Plan.m_Arenas[HostMemory].m_Bytes});
        return;
    }
    std::vector<ValueId> inner;
    for (const auto& run : m_Plan.m_FusedRuns)
    {
        for (size_t i = 0; i < run->m_Steps.size(); ++i)
        {
            if (!run->m_Steps[i].m_Output.m_IsKept)
            {
                const Step& step = m_Draft.GetStep(run->m_First + static_cast<uint32_t>(i));
                inner.push_back(m_Sharing.Root(step.m_FirstOutput));
            }
        }
    }
    std::sort(inner.begin(), inner.end());
    std::vector<ByteRange> ranges;
    for (size_t i = 0; i < host.m_Buffers.size(); ++i)
    {
        const bool isValue = i < host.m_Values.size(); // scratch memory follows them
        if (!isValue || !std::binary_search(inner.begin(), inner.end(), host.m_Values[i]))
        {
            ranges.push_back({host.m_Buffers[i].m_Offset, host.m_Buffers[i].m_Offset + host.m_Buffers[i].m_Bytes});
        }
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const ByteRange& a, const ByteRange& b) { return a.m_Begin < b.m_Begin; });
    for (const ByteRange& range : ranges)
    {
        if (m_Plan.m_Written.empty() || range.m_Begin > m_Plan.m_Written.back().m_End)
        {
            m_Plan.m_Written.push_back(range);
        }
        m_Plan.m_Written.back().m_End = std::max(m_Plan.m_Written.back().m_End, range.m_End);
    }
}

void Layout::CheckTotal(const Limits& limits) const
{
    // A session holds each state twice: its value, and its next value.
    const uint64_t arenaBytes = CountArenaBytes(m_Plan.m_Arenas);
    uint64_t bytesLeft = limits.m_MaxTotalBytes;
    bool isTooMuch = arenaBytes > bytesLeft;
    bytesLeft -= isTooMuch ? bytesLeft : arenaBytes;
    for (uint32_t s = 0; s < m_Draft.NumSteps() && !isTooMuch && !m_Program.States().empty(); ++s)
    {
        const uint64_t bytes = m_Draft.GetStep(s).m_State != NoState ? m_Draft.OutputOf(s).GetNumBytes() : 0;
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

/// Whether all aliases and pitched values lie in place, so that the step has nothing to do.
bool Layout::IsInPlace(uint32_t index) const
{
    const Step& step = m_Draft.GetStep(index);
    const TensorAliases& aliases = *m_Draft.Planned(index).m_Aliases;
    const auto isAt = [this](ValueId part, ValueId whole, size_t offset)
    {
        const Location& at = m_Plan.m_Locations[part];
        const Location& base = m_Plan.m_Locations[whole];
        return m_Draft.InfoOf(part).GetNumBytes() == 0 ||
               (offset != TensorAliases::None && at.m_Place == base.m_Place && at.m_Index == base.m_Index &&
                at.m_Offset == base.m_Offset + offset);
    };
    bool is = true;
    for (size_t i = 0; is && i < aliases.m_InputsInOutput.size(); ++i)
    {
        is = isAt(step.m_Inputs[i], step.m_FirstOutput, aliases.m_InputsInOutput[i]);
    }
    for (size_t i = 0; is && i < aliases.m_InputsInPixels.size(); ++i)
    {
        is = isAt(step.m_Inputs[i], step.m_FirstOutput, aliases.m_InputsInPixels[i]);
    }
    for (size_t k = 0; is && k < aliases.m_OutputsInInput.size(); ++k)
    {
        is = isAt(step.m_FirstOutput + static_cast<ValueId>(k), step.m_Inputs[0], aliases.m_OutputsInInput[k]);
    }
    return is;
}

void Layout::LocateImports()
{
    for (uint32_t s = 0; s < m_Draft.NumSteps(); ++s)
    {
        const Step& step = m_Draft.GetStep(s);
        for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
        {
            if (m_Program.Values()[m_Sharing.Root(v)].m_Memory != m_Program.Values()[v].m_Memory)
            {
                m_Plan.m_Locations[v] = {Place::Imported,
                                         step.IsCopy() ? v : m_Plan.m_Locations[step.m_Inputs[0]].m_Index, 0};
            }
        }
    }
}

void Layout::FindDirectOutputs()
{
    constexpr auto none = static_cast<size_t>(-1);
    PageVector<size_t> entryOf(m_Program.Values().size(), none); // by root: index into m_DirectOutputs
    for (uint32_t s = 0; s < m_Draft.NumSteps(); ++s)
    {
        const Step& step = m_Draft.GetStep(s);
        if (!step.IsCopy() || step.m_Memory != HostMemory)
        {
            continue;
        }
        const ValueId root = m_Sharing.Root(step.m_Inputs[0]);
        const Location& target = m_Plan.m_Locations[step.m_FirstOutput];
        const bool isOutput =
            target.m_Place == Place::Output && m_Program.Outputs()[target.m_Index].m_Value == step.m_FirstOutput;
        const bool isDevices = m_Program.Values()[root].m_Memory != HostMemory &&
                               m_Draft.InfoOf(root).GetNumBytes() == m_Draft.OutputOf(s).GetNumBytes();
        if (isOutput && isDevices && entryOf[root] == none)
        {
            entryOf[root] = m_Plan.m_DirectOutputs.size();
            m_Plan.m_DirectOutputs.push_back({target.m_Index, s, {}});
        }
    }
    for (ValueId v = 0; v < m_Program.Values().size(); ++v)
    {
        const size_t entry = entryOf[m_Sharing.Root(v)];
        if (entry != none)
        {
            m_Plan.m_DirectOutputs[entry].m_Values.push_back(v);
        }
    }
}

} // namespace

size_t CountHostBytes(const PlanDraft& draft, const std::vector<bool>& inPlace)
{
    const MemorySharing sharing(draft, inPlace);
    const PageVector<Location> locations = LocateBound(draft, sharing);
    return MemoryLowerBound(ListContents(draft, sharing, locations)[HostMemory].m_Buffers);
}

void PlaceValues(PlanDraft& draft, const Limits& limits)
{
    const MemorySharing sharing(draft, draft.m_InPlace);
    Layout(draft, sharing).Make(limits);
}

} // namespace tenon
