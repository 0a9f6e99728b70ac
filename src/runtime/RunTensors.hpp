// SPDX-License-Identifier: Apache-2.0
// RunTensors: the info and the memory of each value in a run. It owns the arena, which has the layout of the plan in
// use; CallerMemory, SessionStates and DynamicMemory set the pointers of the values whose memory they provide.
#pragma once

#include "common/AlignedMemory.hpp"
#include "common/Pages.hpp"
#include "runtime/DeviceRun.hpp"
#include "runtime/Plan.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon
{

class RunTensors
{
public:
    /// Program and queues must outlive it. `queues` may be null if the program uses no devices.
    RunTensors(const Program& program, DeviceQueues* queues);

    /// Allocates the plan's arenas before a run and places its values in them, unless the previous run used the same
    /// plan. Values that the plan does not place have no memory afterwards. No device may be at work.
    void UsePlan(const std::shared_ptr<const Plan>& plan);

    const Program& GetProgram() const { return m_Program; }
    const Plan& GetPlan() const { return *m_Plan; }
    /// The info of a value. The shape of a value that is shaped during the run may be unknown.
    const TensorInfo& GetInfo(ValueId value) const
    {
        return m_Plan->IsComplete() ? m_Plan->Infos()[value] : m_DynamicInfos[value];
    }
    /// The same for writing. Precondition: the plan is not complete.
    TensorInfo& GetDynamicInfo(ValueId value) { return m_DynamicInfos[value]; }

    /// Host memory of a value; null if it has none, or lies on a device.
    void* GetPointer(ValueId value) const { return m_Pointers[value]; }
    void SetPointer(ValueId value, void* memory) { m_Pointers[value] = memory; }
    /// GetPointer() of consecutive values.
    Span<void* const> GetPointers(ValueId first, size_t count) const { return {m_Pointers.data() + first, count}; }
    std::byte* GetArena() const { return m_Arena.Data(); }
    /// The tensors in memory of devices; null if the program uses no devices.
    DeviceRun* GetDevices() const { return m_Devices.get(); }
    /// The allocator of the host; null: the free store.
    ICustomAllocator* GetHostAllocator() const { return m_Program.Memories()[HostMemory].m_Allocator.get(); }

private:
    void ReserveArena(const Plan& plan);
    void PlaceValues(const Plan& plan);
    void ForgetDynamicValues(const Plan& plan);

    const Program& m_Program;
    std::shared_ptr<const Plan> m_Plan; ///< null before the first run, and after a failed allocation of its memory
    AlignedMemory m_Arena;
    std::vector<void*> m_Pointers; ///< by value
    /// Infos by value: the plan's, with the shapes found so far. It is not used for complete plans.
    PageVector<TensorInfo> m_DynamicInfos;
    std::unique_ptr<DeviceRun> m_Devices; ///< after m_Arena, which devices may have imported
};

} // namespace tenon
