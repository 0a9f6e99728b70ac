// SPDX-License-Identifier: Apache-2.0
// DeviceRun: the part of an ExecutionContext that concerns devices: where their tensors lie, and how bytes get there
// and back. Only contexts of programs that use a device have one.
#pragma once

#include "runtime/DeviceQueues.hpp"
#include "runtime/ImportedTensors.hpp"
#include "runtime/Plan.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <memory>
#include <vector>

namespace tenon
{

class DeviceRun
{
public:
    DeviceRun(const Program& program, DeviceQueues& queues);

    /// To be called before the context's arena moves.
    void ForgetHostArena() { m_HostArena = {}; }
    /// Makes the devices' arenas and places the tensors of the plan. No work may be under way.
    void UsePlan(const Plan& plan, const AlignedMemory& hostArena);
    /// Lets outputs be written into memory of the caller that their device imported; `imported` and `outputs` are by
    /// index of Program::Outputs(), `imported` may be empty.
    void BindOutputs(const Plan& plan, Span<const ImportedMemory* const> imported, const std::vector<void*>& outputs);

    const DeviceTensor& TensorOf(ValueId value) const { return m_Tensors[value]; }
    void SetTensor(ValueId value, const DeviceTensor& tensor) { m_Tensors[value] = tensor; }
    DeviceTensor InArena(MemoryId memory, size_t offset) const;

    /// Fills in what a device's workload needs.
    void Prepare(const Step& step, const Plan& plan, const DeviceTensor& scratch, ExecuteArgs& args);

    /// Lets the device use `bytes` of host memory as the output of a MemImport step; where it cannot, the bytes are
    /// copied into memory of the device. `imported` may be null. Throws MemoryValidationException where copies need
    /// more than `bytesLeft`.
    void Import(const Step& step, const void* host, size_t bytes, const ImportedMemory* imported, uint64_t bytesLeft);
    /// Runs a copy whose source or target, or both, are on devices; the host's side is at `source` or `target`.
    void Copy(size_t stepIndex, const void* source, void* target, size_t bytes);

    /// After a run, when no work is under way: gives back what it imported.
    void EndRun() { m_RunImports.clear(); }

private:
    /// The context's whole arena as one device sees it.
    struct HostArena
    {
        const std::byte* m_Data = nullptr;
        size_t m_Bytes = 0;
        std::vector<std::unique_ptr<IDeviceMemory>> m_Imports; ///< by MemoryId
        std::vector<bool> m_IsTried;
    };

    DeviceTensor FindImport(MemoryId memory, const void* host, size_t bytes, const ImportedMemory* imported);
    IDeviceMemory* ImportArena(MemoryId memory);

    const Program& m_Program;
    DeviceQueues& m_Queues;
    std::vector<std::unique_ptr<DeviceBlock>> m_Arenas; ///< by MemoryId; null for the host
    std::vector<DeviceTensor> m_Tensors;                ///< by value
    std::vector<DeviceTensor> m_StepInputs;
    std::vector<bool> m_IsDirect; ///< by step: the copy of a DirectOutput that lies in the caller's memory already
    HostArena m_HostArena;
    std::vector<std::unique_ptr<IDeviceMemory>> m_RunImports;
    std::vector<std::unique_ptr<DeviceBlock>> m_Copies; ///< by value: of what could not be imported
    uint64_t m_CopyBytes = 0;
    AlignedMemory m_Staging; ///< between two devices
};

} // namespace tenon
