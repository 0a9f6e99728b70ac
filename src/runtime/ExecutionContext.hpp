// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: the memory of one run at a time. A loaded network has a pool of contexts. Each concurrent caller
// has its own; the program and the plans are shared. Each part of a context uses only parts below it:
//
//   DynamicSteps        steps of data-dependent shapes; owns DynamicMemory and ControlFlow, which makes nested contexts
//   StepRunner          steps of known shapes
//   FusedRunner, DebugTensors, SessionStates, CallerMemory
//   RunTensors          infos and pointers of all values, the arena
#pragma once

#include "runtime/CallerMemory.hpp"
#include "runtime/DebugTensors.hpp"
#include "runtime/DynamicSteps.hpp"
#include "runtime/FusedRunner.hpp"
#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"
#include "runtime/SessionStates.hpp"
#include "runtime/StepRunner.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace tenon
{

/// Lists of one call, kept with a context so that runs of known shapes need not allocate them.
struct CallBuffers
{
    std::vector<const void*> m_Inputs; ///< this and the next two by index of Program::Inputs()
    std::vector<TensorShape> m_Shapes;
    std::vector<uint8_t> m_IsGiven;
    std::vector<const Tensor*> m_Outputs;                ///< by index of Program::Outputs()
    std::vector<const ImportedMemory*> m_ImportedInputs; ///< see RunArgs
    std::vector<const ImportedMemory*> m_ImportedOutputs;
};

class ExecutionContext
{
public:
    /// `queues` belong to the context that this one is nested in; if null, it makes its own when it needs any.
    explicit ExecutionContext(const Program& program, DeviceQueues* queues = nullptr);
    ExecutionContext(const ExecutionContext&) = delete;
    ExecutionContext& operator=(const ExecutionContext&) = delete;

    /// Runs the program once. The caller's memory may have any alignment, and outputs may overlap inputs: memory that
    /// no workload may use directly is copied. After an exception the context may be used again.
    void Run(const std::shared_ptr<const Plan>& plan, const RunArgs& args);

    CallBuffers& Buffers() { return m_Buffers; }

private:
    class RunEnd;

    CallBuffers m_Buffers;
    std::unique_ptr<DeviceQueues> m_OwnedQueues;
    DeviceQueues* m_Queues; ///< null where no context, this one or one nested in it, may use a device
    RunTensors m_Tensors;
    CallerMemory m_CallerMemory;
    SessionStates m_States;
    DebugTensors m_DebugTensors;
    FusedRunner m_FusedRunner;
    StepRunner m_Steps;
    DynamicSteps m_DynamicSteps;
};

} // namespace tenon
