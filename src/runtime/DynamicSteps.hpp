// SPDX-License-Identifier: Apache-2.0
// DynamicSteps: runs the steps of a program that its plan lacks, since their shapes depend on data. A step is shaped
// when its inputs are known, gets memory of its own, and runs. Its inputs are released when no later step reads them.
#pragma once

#include "runtime/ControlFlow.hpp"
#include "runtime/DebugTensors.hpp"
#include "runtime/DynamicMemory.hpp"
#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"
#include "runtime/SessionStates.hpp"
#include "runtime/StepRunner.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon
{

class DynamicSteps
{
public:
    /// All arguments must outlive it. `queues`: see ControlFlow.
    DynamicSteps(RunTensors& tensors, StepRunner& steps, SessionStates& states, const DebugTensors& debugTensors,
                 DeviceQueues* queues);

    /// RunTensors::UsePlan() must be called before.
    void BeginRun();
    /// Runs the steps that follow the steps of the plan.
    void Run(const RunArgs& args);
    /// Gives back the memory of the run. No device may be at work.
    void EndRun();

private:
    void RunStep(size_t index, const RunArgs& args);
    void PlaceOutput(const Step& step, uint32_t output, const TensorShape& shape, const RunArgs& args);
    void Execute(const Step& step, const IShapedWorkload& workload, const RunArgs& args);

    RunTensors& m_Tensors;
    StepRunner& m_Steps;
    SessionStates& m_States;
    const DebugTensors& m_DebugTensors;
    DeviceQueues* m_Queues;
    DynamicMemory m_Memory;
    ControlFlow m_ControlFlow;
    std::vector<std::unique_ptr<IShapedWorkload>> m_DeviceWorkloads; ///< devices may run them until the run ends
};

} // namespace tenon
