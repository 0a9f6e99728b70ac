// SPDX-License-Identifier: Apache-2.0
// RunTensors: see RunTensors.hpp.
#include "runtime/RunTensors.hpp"

#include "common/ErrorContext.hpp"
#include "common/Populate.hpp"

namespace tenon
{

RunTensors::RunTensors(const Program& program, DeviceQueues* queues)
    : m_Program(program), m_Arena(0, GetHostAllocator(), program.HostAlignment()),
      m_Devices(program.UsesDevices() ? std::make_unique<DeviceRun>(program, *queues) : nullptr)
{
}

void RunTensors::UsePlan(const std::shared_ptr<const Plan>& plan)
{
    if (m_Plan != plan)
    {
        m_Plan = nullptr;
        ReserveArena(*plan);
        PlaceValues(*plan);
        if (m_Devices != nullptr)
        {
            m_Devices->UsePlan(*plan, m_Arena);
        }
        m_Plan = plan;
    }
    if (!plan->IsComplete())
    {
        ForgetDynamicValues(*plan);
    }
}

void RunTensors::ReserveArena(const Plan& plan)
{
    const size_t bytes = plan.Arenas()[HostMemory].m_Bytes;
    if (bytes <= m_Arena.Bytes())
    {
        return;
    }
    if (m_Devices != nullptr)
    {
        m_Devices->ForgetHostArena();
    }
    try
    {
        m_Arena.Reserve(bytes);
    }
    catch (...)
    {
        RethrowWithContext("taking memory for the tensors between layers");
    }
    if (GetHostAllocator() == nullptr) // an application chooses the pages of its memory itself
    {
        for (const ByteRange& range : plan.GetWritten())
        {
            UseHugePages(m_Arena.Data() + range.m_Begin, range.m_End - range.m_Begin);
            Populate(m_Arena.Data() + range.m_Begin, range.m_End - range.m_Begin);
        }
    }
}

void RunTensors::PlaceValues(const Plan& plan)
{
    m_Pointers.assign(m_Program.Values().size(), nullptr);
    for (ValueId v = 0; v < m_Pointers.size(); ++v)
    {
        const Location& location = plan.Locations()[v];
        if (location.m_Place == Place::Constant)
        {
            // Workloads get it as a pointer to const, but the table holds all kinds of memory.
            auto* const constant =
                static_cast<std::byte*>(const_cast<void*>(m_Program.Values()[location.m_Index].m_Constant));
            m_Pointers[v] = constant + location.m_Offset;
        }
        else if (location.m_Place == Place::Arena && m_Program.Values()[v].m_Memory == HostMemory)
        {
            m_Pointers[v] = m_Arena.Data() + location.m_Offset;
        }
    }
}

/// Resets values of an earlier run, whose memory was released.
void RunTensors::ForgetDynamicValues(const Plan& plan)
{
    m_DynamicInfos = plan.Infos();
    for (ValueId v = 0; v < m_Pointers.size(); ++v)
    {
        if (plan.Locations()[v].m_Place == Place::None)
        {
            m_Pointers[v] = nullptr;
            if (m_Devices != nullptr)
            {
                m_Devices->SetTensor(v, {});
            }
        }
    }
}

} // namespace tenon
