// SPDX-License-Identifier: Apache-2.0
// How an ExecutionContext runs steps whose shapes only the run knows: each is shaped, given memory of its own, run, and
// its inputs are let go when nothing further reads them.
#include "common/KernelName.hpp"
#include "common/PlannedThreads.hpp"
#include "runtime/ExecutionContext.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

/// Gives memory to a step whose execution decides its output shapes.
class ExecutionContext::LateOutputs final : public ILateOutputs
{
public:
    LateOutputs(ExecutionContext& context, const Step& step, const Limits& limits)
        : m_Context(context), m_Step(step), m_Limits(limits)
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
        return m_Context.m_Devices->TensorOf(m_Step.m_FirstOutput + static_cast<ValueId>(output));
    }

    /// Throws unless all outputs have memory.
    void CheckAll() const
    {
        for (uint32_t k = 0; k < m_Step.m_NumOutputs; ++k)
        {
            if (m_Context.m_LateMemory[m_Step.m_FirstOutput + k] == nullptr)
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
                                               m_Context.m_Program.Memories()[m_Step.m_Memory].m_Name));
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
        if (m_Context.m_LateMemory[value] != nullptr)
        {
            throw RuntimeException(fmt::format("the workload asks for memory of output {} twice", output));
        }
        if (!shape.AreAllDimensionsSpecified())
        {
            throw RuntimeException(fmt::format("the workload gives output {} the shape {}, which is not fully known",
                                               output, shape.ToString()));
        }
        return m_Context.AllocateLate(value, m_Step, shape, m_Limits);
    }

    ExecutionContext& m_Context;
    const Step& m_Step;
    const Limits& m_Limits;
};

void* ExecutionContext::AllocateLate(ValueId value, const Step& step, const TensorShape& shape, const Limits& limits)
{
    TensorInfo& info = m_LateInfos[value];
    info.SetShape(shape);
    const size_t bytes = CheckTensorBytes(step, info, limits);
    ChargeLate(bytes, step, limits);
    auto block = std::make_shared<LateBlock>();
    const MemoryId memory = m_Program.Values()[value].m_Memory;
    if (memory == HostMemory)
    {
        block->m_Host = TakeLate(step, std::max<size_t>(bytes, 1), m_Program.HostAlignment());
        m_Pointers[value] = block->m_Host.Data();
    }
    else if (bytes != 0)
    {
        block->m_Device = std::make_unique<DeviceBlock>(m_Program.Memories()[memory], bytes);
        m_Devices->SetTensor(value, {&block->m_Device->Get(), 0});
    }
    m_LateMemory[value] = std::move(block);
    return m_Pointers[value];
}

void ExecutionContext::ChargeLate(size_t bytes, const Step& step, const Limits& limits)
{
    if (bytes > limits.m_MaxTotalBytes || m_LateBytes > limits.m_MaxTotalBytes - bytes)
    {
        throw LimitExceededException(fmt::format("this run needs more than {} bytes of memory at {}; raise "
                                                 "Limits::m_MaxTotalBytes",
                                                 limits.m_MaxTotalBytes, step.m_Layer->Describe()));
    }
    m_LateBytes += bytes;
}

bool ExecutionContext::ShareView(const Step& step, const TensorShape& shape)
{
    if (!step.m_Layer->GetSchema().Has(OpFlags::View) || step.m_Inputs.empty() || step.m_Inputs[0] == NoValue)
    {
        return false;
    }
    const ValueId input = step.m_Inputs[0];
    TensorInfo info = m_LateInfos[step.m_FirstOutput];
    info.SetShape(shape);
    if (m_Program.Values()[input].m_Memory != step.m_Memory || info.GetNumBytes() == 0 ||
        info.GetNumBytes() != m_LateInfos[input].GetNumBytes() || !MayBeView(info, m_LateInfos[input]))
    {
        return false;
    }
    m_LateInfos[step.m_FirstOutput] = info;
    m_LateMemory[step.m_FirstOutput] = m_LateMemory[input]; // null where the input was placed before the run
    m_Pointers[step.m_FirstOutput] = m_Pointers[input];
    if (step.m_Memory != HostMemory)
    {
        m_Devices->SetTensor(step.m_FirstOutput, DeviceTensor(m_Devices->TensorOf(input)));
    }
    return true;
}

void ExecutionContext::ReleaseLate(size_t index, const Step& step)
{
    auto release = [&](ValueId value)
    {
        LateMemory& memory = m_LateMemory[value];
        if (memory != nullptr && m_Program.Values()[value].m_LastUse <= index)
        {
            if (memory.use_count() == 1)
            {
                if (m_Devices != nullptr)
                {
                    m_Queues->WaitAll(); // a device may still work on it
                }
                m_LateBytes -= m_LateInfos[value].GetNumBytes();
            }
            memory = nullptr;
        }
    };
    for (ValueId value : step.m_Inputs)
    {
        if (value != NoValue)
        {
            release(value);
        }
    }
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        release(step.m_FirstOutput + k);
    }
}

void ExecutionContext::RunLateStep(size_t index, const RunArgs& args)
{
    const Step& step = m_Program.Steps()[index];
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> values;
    std::vector<const void*> constants;
    std::vector<TensorInfo> overrides(step.m_Overrides.size());
    for (ValueId value : step.m_Inputs)
    {
        const size_t i = inputs.size();
        inputs.push_back(value == NoValue ? nullptr : &m_LateInfos[value]);
        values.push_back(value == NoValue ? nullptr : m_Pointers[value]);
        constants.push_back(value == NoValue ? nullptr : m_Program.Values()[value].m_Constant);
        if (!overrides.empty() && step.m_Overrides[i] != nullptr)
        {
            overrides[i] = OverriddenInfo(m_Program, step, i, m_LateInfos[value]);
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
    if (!step.m_Bodies.empty())
    {
        RunControlStep(step, inputs, args);
        ShowOutputs(step, args);
        ReleaseLate(index, step);
        return;
    }
    const bool late = step.m_Layer->HasLateOutputs();
    std::vector<const TensorInfo*> outputs;
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        if (!late)
        {
            PlaceLateOutput(step, k, shapes[k], args);
        }
        outputs.push_back(&m_LateInfos[step.m_FirstOutput + k]);
    }
    if (step.m_Workload != nullptr)
    {
        const PlannedThreads planned(args.m_Parallel->GetNumThreads());
        auto workload = ReshapeStep(step, resolved.get(), inputs, outputs, constants);
        const IShapedWorkload& shaped = *workload;
        if (step.m_Memory != HostMemory)
        {
            m_LateWorkloads.push_back(std::move(workload)); // a device may run it until the end of the run
        }
        ExecuteLate(step, shaped, args);
    }
    else if (step.m_State == NoState)
    {
        RunCopyStep(index, args);
    }
    ShowOutputs(step, args);
    ReleaseLate(index, step);
}

void ExecutionContext::PlaceLateOutput(const Step& step, uint32_t output, const TensorShape& shape, const RunArgs& args)
{
    const ValueId value = step.m_FirstOutput + output;
    if (!shape.AreAllDimensionsSpecified())
    {
        throw RuntimeException(
            fmt::format("{}: nothing tells the shape of output {}; declare it", step.m_Layer->Describe(), output));
    }
    if (step.m_State != NoState)
    {
        StateMemory& memory = args.m_Session->States()[step.m_State];
        m_LateInfos[value].SetShape(shape);
        CheckTensorBytes(step, m_LateInfos[value], *args.m_Limits);
        memory.Fit(m_LateInfos[value]);
        m_Pointers[value] = memory.Data();
        RunStateStep(step, m_LateInfos[value], memory);
    }
    else if (IsImport(m_Program, step))
    {
        m_LateInfos[value].SetShape(shape);
        m_LateMemory[value] = m_LateMemory[step.m_Inputs[0]]; // null where the input was placed before the run
    }
    else if (output != 0 || !ShareView(step, shape))
    {
        AllocateLate(value, step, shape, *args.m_Limits);
    }
}

void ExecutionContext::ExecuteLate(const Step& step, const IShapedWorkload& workload, const RunArgs& args)
{
    const size_t bytes = workload.GetScratchBytes();
    ChargeLate(bytes, step, *args.m_Limits);
    std::unique_ptr<DeviceBlock> deviceScratch;
    AlignedMemory hostScratch;
    Scratch scratch;
    if (step.m_Memory == HostMemory)
    {
        hostScratch = TakeLate(step, bytes, ArenaAlignment);
        scratch.m_Host = hostScratch.Data();
    }
    else if (bytes != 0)
    {
        deviceScratch = std::make_unique<DeviceBlock>(m_Program.Memories()[step.m_Memory], bytes);
        scratch.m_Device = {&deviceScratch->Get(), 0};
    }
    const bool late = step.m_Layer->HasLateOutputs();
    LateOutputs lateOutputs(*this, step, *args.m_Limits);
    try
    {
        Execute(step, workload, GetKernelName(*step.m_Workload, workload), scratch, late ? &lateOutputs : nullptr,
                args);
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
    if (late)
    {
        lateOutputs.CheckAll();
    }
    m_LateBytes -= bytes;
}

} // namespace tenon
