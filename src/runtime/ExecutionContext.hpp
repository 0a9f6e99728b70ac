// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: the memory of one run at a time. A loaded network keeps a pool of them; each concurrent caller has
// its own, the program and the plans are shared.
#pragma once

#include "common/AlignedMemory.hpp"
#include "common/FunctionRef.hpp"
#include "runtime/DebugRun.hpp"
#include "runtime/DeviceRun.hpp"
#include "runtime/PlanCache.hpp"
#include "runtime/Session.hpp"

#include <tenon/IRuntime.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tenon
{

/// What one run is given beside the plan.
struct RunArgs
{
    /// Memory of the caller for output i, whose info is known by then.
    using GetOutput = FunctionRef<void*(size_t index, const TensorInfo& info)>;

    explicit RunArgs(GetOutput getOutput) : m_GetOutput(getOutput) {}

    Span<const void* const> m_Inputs; ///< by index of Program::Inputs()
    GetOutput m_GetOutput;            ///< called once an output, before or during the run
    IParallelFor* m_Parallel = nullptr;
    Profiler* m_Profiler = nullptr;
    DebugRun* m_Debug = nullptr; ///< null: none
    const Limits* m_Limits = nullptr;
    uint64_t* m_Turns = nullptr;  ///< of all loops of the run so far
    Session* m_Session = nullptr; ///< null where the program has no states
    /// Memory that was imported beforehand, by index of Program::Inputs() and Outputs(); null where it was not, and
    /// empty where none was.
    Span<const ImportedMemory* const> m_ImportedInputs;
    Span<const ImportedMemory* const> m_ImportedOutputs;
};

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
    /// `queues` are those of the context that this one is nested in; null: it makes its own where it needs any.
    explicit ExecutionContext(const Program& program, DeviceQueues* queues = nullptr);

    /// Runs the program once. Memory that the caller gives may be aligned anyhow, and outputs may overlap inputs: what
    /// no workload may use directly is copied. After an exception the context may be used again.
    void Run(const std::shared_ptr<const Plan>& plan, const RunArgs& args);

    CallBuffers& Buffers() { return m_Buffers; }

private:
    /// Of a value that was shaped during the run; views of it share it.
    struct LateBlock
    {
        AlignedMemory m_Host;
        std::unique_ptr<DeviceBlock> m_Device; ///< in place of m_Host
    };
    using LateMemory = std::shared_ptr<LateBlock>;
    /// What one step has beside its inputs and outputs.
    struct Scratch
    {
        void* m_Host = nullptr;
        DeviceTensor m_Device;
    };
    class LateOutputs;

    void UsePlan(const std::shared_ptr<const Plan>& plan);
    const TensorInfo& InfoOf(ValueId value) const;
    void Execute(const Step& step, const IShapedWorkload& workload, const char* kernelName, const Scratch& scratch,
                 ILateOutputs* late, const RunArgs& args);
    void RunCopyStep(size_t index, const RunArgs& args);
    const ImportedMemory* FindImported(ValueId value, const RunArgs& args) const;
    /// Memory for one step alone, whose layer is named where there is none.
    AlignedMemory TakeLate(const Step& step, size_t bytes, size_t alignment) const;
    ICustomAllocator* HostAllocator() const { return m_Program.Memories()[HostMemory].m_Allocator.get(); }

    // CallerMemory.cpp
    void BindInputs(const RunArgs& args);
    void BindOutputs(const RunArgs& args);
    void AskForOutput(size_t index, const RunArgs& args);
    bool OverlapsInput(const void* memory, size_t bytes) const;
    void CopyOutputs(const RunArgs& args);
    void WriteStagedOutputs();

    // States.cpp
    void BindStates(const RunArgs& args);
    void RunStateStep(const Step& step, const TensorInfo& info, StateMemory& memory) const;
    void WriteStates(const RunArgs& args);

    // PlannedSteps.cpp
    void RunPlannedSteps(const RunArgs& args);
    void RunSum(const PlannedSum& sum, const RunArgs& args);

    // StripRun.cpp
    void RunStrips(const Strips& strips, const RunArgs& args) const;
    struct StripPart;
    void RunParts(const Strips& strips, size_t thread, size_t threads, IParallelFor& parallel) const;
    void RunPart(const Strips& strips, const StripPart& part) const;
    const void* FindStripInput(const Strips& strips, size_t step, size_t input, const StripPart& part) const;
    void RunStripStep(const Strips& strips, size_t step, const IShapedWorkload& workload,
                      Span<const void* const> inputs, const StripPart& part) const;

    // ControlFlow.cpp
    struct BodyValue;
    using Infos = Span<const TensorInfo* const>;
    void RunControlStep(const Step& step, Infos inputs, const RunArgs& args);
    void RunIf(const Step& step, Infos inputs, const RunArgs& args);
    void RunWhile(const Step& step, Infos inputs, const RunArgs& args);
    void RunBody(const NestedProgram& body, Span<const BodyValue> values, RunArgs::GetOutput getOutput,
                 const RunArgs& args);

    // LateSteps.cpp
    void RunLateStep(size_t index, const RunArgs& args);
    void ExecuteLate(const Step& step, const IShapedWorkload& workload, const RunArgs& args);
    void PlaceLateOutput(const Step& step, uint32_t output, const TensorShape& shape, const RunArgs& args);
    /// In memory of a device it returns null and sets the value's tensor.
    void* AllocateLate(ValueId value, const Step& step, const TensorShape& shape, const Limits& limits);
    bool ShareView(const Step& step, const TensorShape& shape);
    void ChargeLate(size_t bytes, const Step& step, const Limits& limits);
    void ReleaseLate(size_t index, const Step& step);

    // ShownTensors.cpp
    void ShowInputs(const RunArgs& args) const;
    void ShowOutputs(const Step& step, const RunArgs& args);

    const Program& m_Program;
    std::shared_ptr<const Plan> m_Plan;
    AlignedMemory m_Arena;
    std::vector<void*> m_Pointers; ///< by value
    CallBuffers m_Buffers;
    std::vector<AlignedMemory> m_InputStaging;  ///< by input: a copy where the caller's memory is not aligned
    std::vector<AlignedMemory> m_OutputStaging; ///< by output: where no workload may write the caller's memory
    std::vector<void*> m_BoundInputs;           ///< by input: the caller's memory or the copy
    std::vector<void*> m_CallerOutputs;         ///< by output
    std::vector<void*> m_Outputs;               ///< by output: the caller's memory or what is copied there at the end
    /// The caller's inputs by address: where each begins, and where the last of it and those before it ends.
    std::vector<std::pair<uintptr_t, uintptr_t>> m_InputRanges;
    std::vector<const void*> m_StepInputs;

    // Of steps that are shaped during the run.
    PageVector<TensorInfo> m_LateInfos;                            ///< by value; empty while the plan is complete
    std::vector<LateMemory> m_LateMemory;                          ///< by value
    std::vector<std::unique_ptr<IShapedWorkload>> m_LateWorkloads; ///< of devices
    uint64_t m_LateBytes = 0;

    /// Of nested networks, which run one at a time.
    std::map<const NestedProgram*, std::unique_ptr<ExecutionContext>> m_Nested;

    std::unique_ptr<DeviceQueues> m_OwnedQueues;
    DeviceQueues* m_Queues = nullptr;     ///< null until a context, this one or one nested in it, may use a device
    std::unique_ptr<DeviceRun> m_Devices; ///< null where the program uses none
};

} // namespace tenon
