// SPDX-License-Identifier: Apache-2.0
// DynamicSteps: see DynamicSteps.hpp.
#include "runtime/DynamicSteps.hpp"

#include "common/KernelName.hpp"
#include "runtime/StepShapes.hpp"

#include <fmt/format.h>

#include <utility>

namespace tenon
{

namespace
{

/// Gives memory to a step whose execution decides its output shapes.
class DynamicOutputs final : public ILateOutputs
{
public:
    DynamicOutputs(const RunTensors& tensors, DynamicMemory& memory, const Step& step, const Limits& limits)
        : m_Tensors(tensors), m_Memory(memory), m_Step(step), m_Limits(limits)
    {
    }
    void* Allocate(size_t output, const TensorShape& shape) override
    {
        CheckMemory(true);
        return AllocateAnywhere(output, shape);
    }
    DeviceTensor AllocateOnDevice(size_t output, const TensorShape& shape) override
    {
        CheckMemory(false);
        AllocateAnywhere(output, shape);
        return m_Tensors.GetDevices()->TensorOf(m_Step.m_FirstOutput + static_cast<ValueId>(output));
    }

    /// Throws unless all outputs have memory.
    void CheckAll() const
    {
        for (uint32_t k = 0; k < m_Step.m_NumOutputs; ++k)
        {
            if (!m_Memory.HasMemory(m_Step.m_FirstOutput + k))
            {
                throw RuntimeException(fmt::format("running {} on {}: the workload gave output {} no shape",
                                                   m_Step.m_Layer->Describe(), m_Step.m_Layer->GetBackendId().Get(),
                                                   k));
            }
        }
    }

private:
    void CheckMemory(bool wantsHost) const
    {
        if (wantsHost != (m_Step.m_Memory == HostMemory))
        {
            throw RuntimeException(fmt::format("the workload asks for {} memory, but works in memory {}",
                                               wantsHost ? "host" : "device",
                                               m_Tensors.GetProgram().Memories()[m_Step.m_Memory].m_Name));
        }
    }

    void* AllocateAnywhere(size_t output, const TensorShape& shape)
    {
        if (output >= m_Step.m_NumOutputs)
        {
            throw RuntimeException(fmt::format("the workload asks for memory of output {}, but there are {}", output,
                                               m_Step.m_NumOutputs));
        }
        const ValueId value = m_Step.m_FirstOutput + static_cast<ValueId>(output);
        if (m_Memory.HasMemory(value))
        {
            throw RuntimeException(fmt::format("the workload asks for memory of output {} twice", output));
        }
        if (!shape.AreAllDimensionsSpecified())
        {
            throw RuntimeException(fmt::format("the workload gives output {} the shape {}, which is not fully known",
                                               output, shape.ToString()));
        }
        return m_Memory.Allocate(value, m_Step, shape, m_Limits);
    }

    const RunTensors& m_Tensors;
    DynamicMemory& m_Memory;
    const Step& m_Step;
    const Limits& m_Limits;
};

} // namespace

DynamicSteps::DynamicSteps(RunTensors& tensors, StepRunner& steps, SessionStates& states,
                           const DebugTensors& debugTensors, DeviceQueues* queues)
    : m_Tensors(tensors), m_Steps(steps), m_States(states), m_DebugTensors(debugTensors), m_Queues(queues),
      m_Memory(tensors, queues), m_ControlFlow(tensors, m_Memory, queues)
{
}

void DynamicSteps::BeginRun()
{
    if (!m_Tensors.GetPlan().IsComplete())
    {
        m_Memory.BeginRun();
    }
}

void DynamicSteps::Run(const RunArgs& args)
{
    const size_t numSteps = m_Tensors.GetProgram().Steps().size();
    for (size_t s = m_Tensors.GetPlan().Steps().size(); s < numSteps; ++s)
    {
        args.ThrowIfCancelled();
        RunStep(s, args);
    }
}

void DynamicSteps::EndRun()
{
    m_DeviceWorkloads.clear();
    m_Memory.EndRun();
}

void DynamicSteps::RunStep(size_t index, const RunArgs& args)
{
    const Program& program = m_Tensors.GetProgram();
    const Step& step = program.Steps()[index];
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> values;
    std::vector<const void*> constants;
    std::vector<TensorInfo> overrides(step.m_Overrides.size());
    for (const ValueId value : step.m_Inputs)
    {
        const size_t i = inputs.size();
        inputs.push_back(value == NoValue ? nullptr : &m_Tensors.GetInfo(value));
        values.push_back(value == NoValue ? nullptr : m_Tensors.GetPointer(value));
        constants.push_back(value == NoValue ? nullptr : program.Values()[value].m_Constant);
        if (!overrides.empty() && step.m_Overrides[i] != nullptr)
        {
            overrides[i] = OverriddenInfo(program, step, i, m_Tensors.GetInfo(value));
            inputs[i] = &overrides[i];
        }
    }
    if (!CanInferShapes(*step.m_Layer, inputs, values))
    {
        throw RuntimeException(
            fmt::format("{} cannot be shaped: an input is still of unknown shape", step.m_Layer->Describe()));
    }
    std::vector<TensorShape> shapes(step.m_NumOutputs);
    const auto resolved = InferShapes(*step.m_Layer, inputs, values, shapes);
    const bool isControlFlow = !step.m_Bodies.empty();
    std::vector<const TensorInfo*> outputs;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        if (!isControlFlow && !step.m_Layer->HasDataDependentShapes())
        {
            PlaceOutput(step, k, shapes[k], args);
        }
        outputs.push_back(&m_Tensors.GetInfo(step.m_FirstOutput + k));
    }
    if (isControlFlow)
    {
        m_ControlFlow.Run(step, inputs, args);
    }
    else if (step.m_Workload != nullptr)
    {
        auto workload = ReshapeStep(step, resolved.get(), inputs, outputs, constants, args.m_Parallel->GetNumThreads());
        const IShapedWorkload& shaped = *workload;
        if (step.m_Memory != HostMemory)
        {
            m_DeviceWorkloads.push_back(std::move(workload));
        }
        Execute(step, shaped, args);
    }
    else if (step.m_State == NoState)
    {
        m_Steps.RunCopyStep(index, m_Memory.GetUsedBytes(), args);
    }
    m_DebugTensors.ShowOutputs(step, args);
    m_Memory.Release(index);
}

void DynamicSteps::PlaceOutput(const Step& step, uint32_t output, const TensorShape& shape, const RunArgs& args)
{
    const ValueId value = step.m_FirstOutput + output;
    if (!shape.AreAllDimensionsSpecified())
    {
        throw RuntimeException(
            fmt::format("{}: nothing tells the shape of output {}; declare it", step.m_Layer->Describe(), output));
    }
    if (step.m_State != NoState)
    {
        TensorInfo& info = m_Tensors.GetDynamicInfo(value);
        info.SetShape(shape);
        CheckTensorBytes(step, info, *args.m_Limits);
        m_States.BindDynamic(step, args);
    }
    else if (IsImport(m_Tensors.GetProgram(), step))
    {
        m_Tensors.GetDynamicInfo(value).SetShape(shape);
        m_Memory.ShareImport(step);
    }
    else if (output != 0 || !m_Memory.ShareView(step, shape))
    {
        m_Memory.Allocate(value, step, shape, *args.m_Limits);
    }
}

void DynamicSteps::Execute(const Step& step, const IShapedWorkload& workload, const RunArgs& args)
{
    const size_t bytes = workload.GetScratchBytes();
    m_Memory.Charge(bytes, step, *args.m_Limits);
    std::unique_ptr<DeviceBlock> deviceScratch;
    AlignedMemory hostScratch;
    StepScratch scratch;
    if (step.m_Memory == HostMemory)
    {
        hostScratch = m_Memory.TakeHostMemory(step, bytes, ArenaAlignment);
        scratch.m_Host = hostScratch.Data();
    }
    else if (bytes != 0)
    {
        deviceScratch = std::make_unique<DeviceBlock>(m_Tensors.GetProgram().Memories()[step.m_Memory], bytes);
        scratch.m_Device = {&deviceScratch->Get(), 0};
    }
    const bool hasDataDependentShapes = step.m_Layer->HasDataDependentShapes();
    DynamicOutputs outputs(m_Tensors, m_Memory, step, *args.m_Limits);
    try
    {
        m_Steps.Execute(step, workload, GetKernelName(*step.m_Workload, workload), scratch,
                        hasDataDependentShapes ? &outputs : nullptr, args);
        if (deviceScratch != nullptr)
        {
            m_Queues->WaitAll();
        }
    }
    catch (...)
    {
        if (deviceScratch != nullptr)
        {
            m_Queues->Drain();
        }
        throw;
    }
    if (hasDataDependentShapes)
    {
        outputs.CheckAll();
    }
    m_Memory.Discharge(bytes);
}

} // namespace tenon
