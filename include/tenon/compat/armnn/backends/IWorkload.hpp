// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: a layer as a backend runs it.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Types.hpp>

#include <armnn/Optional.hpp>
#include <armnn/Types.hpp>
#include <armnn/backends/ITensorHandle.hpp>
#include <armnn/backends/OwnNames.hpp>
#include <armnn/backends/WorkloadInfo.hpp>
#include <string>
#include <vector>

namespace tenon
{

namespace experimental
{

/// Tensors of one call of IWorkload::ExecuteAsync.
struct WorkingMemDescriptor
{
    std::vector<ITensorHandle*> m_Inputs;
    std::vector<ITensorHandle*> m_Outputs;
};

/// m_Data is a WorkingMemDescriptor.
struct ExecutionData
{
    ExecutionData() = default;
    explicit ExecutionData(void* data) : m_Data(data) {}
    void* m_Data = nullptr;
};

} // namespace experimental

using namespace experimental; // NOLINT: as Arm NN does

/// One layer for known shapes. Its tensors are fixed when it is made, so one thread at a time executes it.
class IWorkload
{
public:
    virtual ~IWorkload() = default;

    /// The runtime calls it once, when all tensors of the workload have memory, and constants their values.
    virtual void PostAllocationConfigure() = 0;
    virtual void Execute() const = 0;
    /// Arm NN's asynchronous runs call it. Tenon does not: it runs networks in any number of threads without it.
    virtual void ExecuteAsync(ExecutionData& executionData) = 0;
    virtual arm::pipe::ProfilingGuid GetGuid() const = 0;

    /// Tenon keeps a workload's tensors and replaces none.
    virtual bool SupportsTensorHandleReplacement() const = 0;
    virtual void ReplaceInputTensorHandle(ITensorHandle* input, unsigned int slot) = 0;
    /// The kernel's name for profiles.
    virtual const std::string& GetName() const = 0;
    virtual void ReplaceOutputTensorHandle(ITensorHandle* output, unsigned int slot) = 0;

    /// Debug callbacks are called by Tenon's runtime, not by workloads.
    virtual void RegisterDebugCallback(const DebugCallbackFunction& /*func*/) {}
    /// Not asked for: a workload takes the memory that it wants itself.
    virtual Optional<MemoryRequirements> GetMemoryRequirements() { return EmptyOptional(); }
};

} // namespace tenon
