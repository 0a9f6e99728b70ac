// SPDX-License-Identifier: Apache-2.0
// StepRunner: runs steps whose shapes are known. Each has its event in the profile, and its errors name its layer.
#pragma once

#include "runtime/DebugTensors.hpp"
#include "runtime/FusedRunner.hpp"
#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"
#include "runtime/SessionStates.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon
{

/// Memory that one step has while it runs.
struct StepScratch
{
    void* m_Host = nullptr;
    DeviceTensor m_Device;
};

class StepRunner
{
public:
    /// All arguments must outlive it.
    StepRunner(const RunTensors& tensors, const FusedRunner& fused, const SessionStates& states,
               const DebugTensors& debugTensors)
        : m_Tensors(tensors), m_Fused(fused), m_States(states), m_DebugTensors(debugTensors)
    {
    }

    /// Runs all steps of the plan in use: by themselves, in fused runs, or with the residual add after them.
    void RunPlannedSteps(const RunArgs& args);

    /// Runs the workload of a step. `outputs` is null if the shapes of the outputs are known.
    void Execute(const Step& step, const IShapedWorkload& workload, const char* kernelName, const StepScratch& scratch,
                 ILateOutputs* outputs, const RunArgs& args);
    /// Runs a step that copies its input, maybe to or from a device. `bytesUsed`: the bytes that
    /// count towards Limits::m_MaxTotalBytes so far.
    void RunCopyStep(size_t index, uint64_t bytesUsed, const RunArgs& args);

private:
    void RunPlannedStep(size_t index, const RunArgs& args);
    void ExecutePlanned(const Step& step, const PlannedStep& planned, const RunArgs& args);
    void RunResidualAdd(const ResidualAdd& add, const RunArgs& args);
    void ListInputs(const Step& step);
    const ImportedMemory* FindImported(ValueId value, const RunArgs& args) const;

    const RunTensors& m_Tensors;
    const FusedRunner& m_Fused;
    const SessionStates& m_States;
    const DebugTensors& m_DebugTensors;
    std::vector<const void*> m_Inputs; ///< inputs of the step that runs
};

} // namespace tenon
