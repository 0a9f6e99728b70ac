// SPDX-License-Identifier: Apache-2.0
// DeviceRun: the part of an ExecutionContext that concerns devices: the places of their tensors, and copies to and from
// devices. Only contexts of programs that use a device have one.
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

    /// The context must call it before its arena moves.
    void ForgetHostArena() { m_HostArena = {}; }
    /// Makes the devices' arenas and places the tensors of the plan. No device may be at work.
    void UsePlan(const Plan& plan, const AlignedMemory& hostArena);
    /// Lets outputs be written into memory of the caller that their device imported; `imported` and `outputs` are by
    /// index of Program::Outputs(), `imported` may be empty.
    void BindOutputs(const Plan& plan, Span<const ImportedMemory* const> imported, const std::vector<void*>& outputs);

    const DeviceTensor& TensorOf(ValueId value) const { return m_Tensors[value]; }
    void SetTensor(ValueId value, const DeviceTensor& tensor) { m_Tensors[value] = tensor; }
    DeviceTensor InArena(MemoryId memory, size_t offset) const;

    /// Fills in the arguments of a device's workload.
    void Prepare(const Step& step, const Plan& plan, const DeviceTensor& scratch, ExecuteArgs& args);

    /// Lets the device use `bytes` of host memory as the output of a MemImport step. If the device cannot import them,
    /// they are copied into its memory. `imported` may be null. Throws MemoryValidationException if copies need more
    /// than `bytesLeft`.
    void Import(const Step& step, const void* host, size_t bytes, const ImportedMemory* imported, uint64_t bytesLeft);
    /// Runs a copy whose source or target, or both, are on devices; the host's side is at `source` or `target`.
    void Copy(size_t stepIndex, const void* source, void* target, size_t bytes);

    /// Gives back the imports of a run that has ended. No device may be at work.
    void EndRun() { m_RunImports.clear(); }

private:
    /// The context's whole arena, imported by one device.
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
    std::vector<std::unique_ptr<DeviceBlock>> m_Copies; ///< by value: copies of values that could not be imported
    uint64_t m_CopyBytes = 0;
    AlignedMemory m_Staging; ///< host memory for copies between two devices
};

} // namespace tenon
