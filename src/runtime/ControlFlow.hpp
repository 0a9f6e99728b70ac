// SPDX-License-Identifier: Apache-2.0
// ControlFlow: runs If and While. Each nested network has a context and plans of its own. Its inputs are passed by
// address, and its outputs are written to memory of the outer run.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/DynamicMemory.hpp"
#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"

#include <map>
#include <memory>
#include <vector>

namespace tenon
{

class ExecutionContext;

class ControlFlow
{
public:
    /// All arguments must outlive it. `queues` may be null if neither the program nor networks nested in it use
    /// devices.
    ControlFlow(const RunTensors& tensors, DynamicMemory& memory, DeviceQueues* queues);
    ~ControlFlow();
    ControlFlow(const ControlFlow&) = delete;
    ControlFlow& operator=(const ControlFlow&) = delete;

    /// Runs an If or While step, and gives memory to its outputs. `inputs` are the infos of the step's inputs.
    void Run(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args);

private:
    /// A value that a nested network takes as input.
    struct BodyValue
    {
        const TensorInfo* m_Info;
        const void* m_Memory;
    };
    /// Loop variables between two iterations.
    struct LoopValues
    {
        std::vector<TensorInfo> m_Infos;
        std::vector<AlignedMemory> m_Memory;
    };

    void RunIf(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args);
    void RunWhile(const Step& step, Span<const TensorInfo* const> inputs, const RunArgs& args);
    /// Runs the condition of a While and returns whether an iteration follows. `memory` is for its output.
    bool RunCondition(const Step& step, Span<const BodyValue> values, AlignedMemory& memory, const RunArgs& args);
    /// Runs the body of a While, whose outputs are `next`.
    void RunIteration(const Step& step, Span<const BodyValue> values, LoopValues& next, const RunArgs& args);
    /// The inputs of a step from `first` on.
    std::vector<BodyValue> ListValues(const Step& step, Span<const TensorInfo* const> inputs, size_t first) const;
    /// Runs a nested network. `values` are by the ids of its inputs, and `getOutput` is asked by the ids of its
    /// outputs.
    void RunBody(const NestedProgram& body, Span<const BodyValue> values, RunArgs::GetOutput getOutput,
                 const RunArgs& args);

    const RunTensors& m_Tensors;
    DynamicMemory& m_Memory;
    DeviceQueues* m_Queues;
    std::map<const NestedProgram*, std::unique_ptr<ExecutionContext>> m_Contexts; ///< they run one at a time
};

} // namespace tenon
