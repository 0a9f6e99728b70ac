// SPDX-License-Identifier: Apache-2.0
// ExecutionContext: see ExecutionContext.hpp. It has the sequence of a run.
#include "runtime/ExecutionContext.hpp"

#include "common/Profiler.hpp"

namespace tenon
{

/// Gives back the memory of a run at its end, also after an exception.
class ExecutionContext::RunEnd
{
public:
    explicit RunEnd(ExecutionContext& context) : m_Context(context) {}
    ~RunEnd()
    {
        if (DeviceRun* const devices = m_Context.m_Tensors.GetDevices(); devices != nullptr)
        {
            m_Context.m_Queues->Drain();
            devices->EndRun();
        }
        m_Context.m_DynamicSteps.EndRun();
    }
    RunEnd(const RunEnd&) = delete;
    RunEnd& operator=(const RunEnd&) = delete;

private:
    ExecutionContext& m_Context;
};

ExecutionContext::ExecutionContext(const Program& program, DeviceQueues* queues)
    : m_OwnedQueues(queues == nullptr && program.Memories().Size() > 1
                        ? std::make_unique<DeviceQueues>(program.Memories())
                        : nullptr),
      m_Queues(queues != nullptr ? queues : m_OwnedQueues.get()), m_Tensors(program, m_Queues),
      m_CallerMemory(m_Tensors), m_States(m_Tensors), m_DebugTensors(m_Tensors, m_Queues), m_FusedRunner(m_Tensors),
      m_Steps(m_Tensors, m_FusedRunner, m_States, m_DebugTensors),
      m_DynamicSteps(m_Tensors, m_Steps, m_States, m_DebugTensors, m_Queues)
{
}

void ExecutionContext::Run(const std::shared_ptr<const Plan>& plan, const RunArgs& args)
{
    const RunEnd end(*this);
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "PrepareInputs");
        m_Tensors.UsePlan(plan);
        m_DynamicSteps.BeginRun();
        m_States.Bind(args);
        m_CallerMemory.BindInputs(args);
    }
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "PrepareOutputs");
        m_CallerMemory.BindOutputs(args);
    }
    {
        const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "Execute");
        m_DebugTensors.ShowInputs(m_CallerMemory.GetInputs(), args);
        m_Steps.RunPlannedSteps(args);
        m_DynamicSteps.Run(args);
        if (m_Tensors.GetDevices() != nullptr)
        {
            m_Queues->WaitAll(); // results of a failed device must not become states
        }
    }
    const auto event = args.m_Profiler->Scope(ProfilingCategory::Inference, "WriteOutputs");
    m_CallerMemory.CopyOutputs(args);
    m_States.Write(args);
    m_CallerMemory.WriteStagedOutputs(); // they may overlap inputs, which may be values to keep
}

} // namespace tenon
