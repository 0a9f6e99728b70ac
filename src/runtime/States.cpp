// SPDX-License-Identifier: Apache-2.0
// How an ExecutionContext reads the states of its session at the start of a run and writes them at the end.
#include "runtime/ExecutionContext.hpp"

#include <fmt/format.h>

namespace tenon
{

void ExecutionContext::BindStates(const RunArgs& args)
{
    for (const ValueId v : m_Plan->Bound())
    {
        const Location& location = m_Plan->Locations()[v];
        if (location.m_Place == Place::State)
        {
            StateMemory& memory = args.m_Session->States()[location.m_Index];
            memory.Fit(m_Plan->Infos()[m_Program.States()[location.m_Index].m_Read]);
            m_Pointers[v] = memory.Data() + location.m_Offset;
        }
    }
}

void ExecutionContext::RunStateStep(const Step& step, const TensorInfo& info, StateMemory& memory) const
{
    if (!memory.IsSet())
    {
        const ValueId initial = step.m_Inputs[0];
        memory.Initialize(info, initial == NoValue ? nullptr : m_Pointers[initial]);
    }
}

void ExecutionContext::WriteStates(const RunArgs& args)
{
    if (args.m_Session == nullptr)
    {
        return;
    }
    std::vector<StateMemory>& memory = args.m_Session->States();
    const std::vector<State>& states = m_Program.States();
    for (size_t s = 0; s < states.size(); ++s)
    {
        if (states[s].m_Written == NoValue)
        {
            continue;
        }
        const TensorInfo& info = InfoOf(states[s].m_Written);
        if (states[s].m_Read != NoValue && info.GetShape() != InfoOf(states[s].m_Read).GetShape())
        {
            throw RuntimeException(fmt::format("state '{}' is of shape {}, but the value to keep is of shape {}; a "
                                               "state keeps its shape while input shapes stay",
                                               states[s].m_Name, InfoOf(states[s].m_Read).GetShape().ToString(),
                                               info.GetShape().ToString()));
        }
        memory[s].Prepare(info, m_Pointers[states[s].m_Written]);
    }
    // Only now: values to keep may lie in the memory of other states.
    for (size_t s = 0; s < states.size(); ++s)
    {
        if (states[s].m_Written != NoValue)
        {
            memory[s].Commit();
        }
    }
}

} // namespace tenon
