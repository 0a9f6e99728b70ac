// SPDX-License-Identifier: Apache-2.0
// SessionStates: see SessionStates.hpp.
#include "runtime/SessionStates.hpp"

#include <fmt/format.h>

namespace tenon
{

void SessionStates::Bind(const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    for (const ValueId v : plan.Bound())
    {
        const Location& location = plan.Locations()[v];
        if (location.m_Place == Place::State)
        {
            StateMemory& memory = args.m_Session->States()[location.m_Index];
            memory.Fit(plan.Infos()[m_Tensors.GetProgram().States()[location.m_Index].m_Read]);
            m_Tensors.SetPointer(v, memory.Data() + location.m_Offset);
        }
    }
}

void SessionStates::BindDynamic(const Step& step, const RunArgs& args)
{
    StateMemory& memory = args.m_Session->States()[step.m_State];
    memory.Fit(m_Tensors.GetInfo(step.m_FirstOutput));
    m_Tensors.SetPointer(step.m_FirstOutput, memory.Data());
    Initialize(step, args);
}

void SessionStates::Initialize(const Step& step, const RunArgs& args) const
{
    StateMemory& memory = args.m_Session->States()[step.m_State];
    if (!memory.IsSet())
    {
        const ValueId initial = step.m_Inputs[0];
        memory.Initialize(m_Tensors.GetInfo(step.m_FirstOutput),
                          initial == NoValue ? nullptr : m_Tensors.GetPointer(initial));
    }
}

void SessionStates::Write(const RunArgs& args)
{
    if (args.m_Session == nullptr)
    {
        return;
    }
    std::vector<StateMemory>& memory = args.m_Session->States();
    const std::vector<State>& states = m_Tensors.GetProgram().States();
    for (size_t s = 0; s < states.size(); ++s)
    {
        if (states[s].m_Written == NoValue)
        {
            continue;
        }
        const TensorInfo& info = m_Tensors.GetInfo(states[s].m_Written);
        if (states[s].m_Read != NoValue && info.GetShape() != m_Tensors.GetInfo(states[s].m_Read).GetShape())
        {
            throw RuntimeException(fmt::format("state '{}' is of shape {}, but the value to keep is of shape {}; a "
                                               "state keeps its shape while input shapes stay",
                                               states[s].m_Name,
                                               m_Tensors.GetInfo(states[s].m_Read).GetShape().ToString(),
                                               info.GetShape().ToString()));
        }
        memory[s].Prepare(info, m_Tensors.GetPointer(states[s].m_Written));
    }
    // States are committed only now, because values to keep may lie in the memory of other states.
    for (size_t s = 0; s < states.size(); ++s)
    {
        if (states[s].m_Written != NoValue)
        {
            memory[s].Commit();
        }
    }
}

} // namespace tenon
