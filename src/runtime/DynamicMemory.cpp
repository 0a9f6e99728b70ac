// SPDX-License-Identifier: Apache-2.0
// DynamicMemory: see DynamicMemory.hpp.
#include "runtime/DynamicMemory.hpp"

#include "common/ErrorContext.hpp"
#include "runtime/StepShapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tenon
{

void DynamicMemory::BeginRun()
{
    m_Blocks.assign(m_Tensors.GetProgram().Values().size(), nullptr);
    m_UsedBytes = m_Tensors.GetPlan().TotalBytes();
}

void* DynamicMemory::Allocate(ValueId value, const Step& step, const TensorShape& shape, const Limits& limits)
{
    const Program& program = m_Tensors.GetProgram();
    TensorInfo& info = m_Tensors.GetDynamicInfo(value);
    info.SetShape(shape);
    const size_t bytes = CheckTensorBytes(step, info, limits);
    Charge(bytes, step, limits);
    auto block = std::make_shared<Block>();
    const MemoryId memory = program.Values()[value].m_Memory;
    if (memory == HostMemory)
    {
        block->m_Host = TakeHostMemory(step, std::max<size_t>(bytes, 1), program.HostAlignment());
        m_Tensors.SetPointer(value, block->m_Host.Data());
    }
    else if (bytes != 0)
    {
        block->m_Device = std::make_unique<DeviceBlock>(program.Memories()[memory], bytes);
        m_Tensors.GetDevices()->SetTensor(value, {&block->m_Device->Get(), 0});
    }
    m_Blocks[value] = std::move(block);
    return m_Tensors.GetPointer(value);
}

bool DynamicMemory::ShareView(const Step& step, const TensorShape& shape)
{
    if (!step.m_Layer->GetSchema().Has(OpFlags::View) || step.m_Inputs.empty() || step.m_Inputs[0] == NoValue)
    {
        return false;
    }
    const ValueId input = step.m_Inputs[0];
    const ValueId output = step.m_FirstOutput;
    const TensorInfo& inputInfo = m_Tensors.GetDynamicInfo(input);
    TensorInfo info = m_Tensors.GetDynamicInfo(output);
    info.SetShape(shape);
    if (m_Tensors.GetProgram().Values()[input].m_Memory != step.m_Memory || info.GetNumBytes() == 0 ||
        info.GetNumBytes() != inputInfo.GetNumBytes() || !MayBeView(info, inputInfo))
    {
        return false;
    }
    m_Tensors.GetDynamicInfo(output) = info;
    m_Blocks[output] = m_Blocks[input];
    m_Tensors.SetPointer(output, m_Tensors.GetPointer(input));
    if (step.m_Memory != HostMemory)
    {
        DeviceRun& devices = *m_Tensors.GetDevices();
        devices.SetTensor(output, DeviceTensor(devices.TensorOf(input)));
    }
    return true;
}

void DynamicMemory::Release(size_t stepIndex)
{
    const Step& step = m_Tensors.GetProgram().Steps()[stepIndex];
    for (const ValueId value : step.m_Inputs)
    {
        if (value != NoValue)
        {
            Release(stepIndex, value);
        }
    }
    for (uint32_t k = 0; k < step.m_NumOutputs; ++k)
    {
        Release(stepIndex, step.m_FirstOutput + k);
    }
}

void DynamicMemory::Release(size_t stepIndex, ValueId value)
{
    std::shared_ptr<Block>& block = m_Blocks[value];
    if (block == nullptr || m_Tensors.GetProgram().Values()[value].m_LastUse > stepIndex)
    {
        return;
    }
    if (block.use_count() == 1)
    {
        if (m_Tensors.GetDevices() != nullptr)
        {
            m_Queues->WaitAll(); // a device may still work on it
        }
        m_UsedBytes -= m_Tensors.GetDynamicInfo(value).GetNumBytes();
    }
    block = nullptr;
}

AlignedMemory DynamicMemory::TakeHostMemory(const Step& step, size_t bytes, size_t alignment) const
{
    try
    {
        return AlignedMemory(bytes, m_Tensors.GetHostAllocator(), alignment);
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("taking memory for {}", step.m_Layer->Describe()));
    }
}

void DynamicMemory::Charge(size_t bytes, const Step& step, const Limits& limits)
{
    if (bytes > limits.m_MaxTotalBytes || m_UsedBytes > limits.m_MaxTotalBytes - bytes)
    {
        throw LimitExceededException(fmt::format("this run needs more than {} bytes of memory at {}; raise "
                                                 "Limits::m_MaxTotalBytes",
                                                 limits.m_MaxTotalBytes, step.m_Layer->Describe()));
    }
    m_UsedBytes += bytes;
}

} // namespace tenon
