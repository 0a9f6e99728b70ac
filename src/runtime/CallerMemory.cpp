// SPDX-License-Identifier: Apache-2.0
// CallerMemory: see CallerMemory.hpp.
#include "runtime/CallerMemory.hpp"

#include "common/CopyBlock.hpp"
#include "runtime/StepShapes.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace tenon
{

namespace
{

bool IsAligned(const void* memory, DataType type)
{
    return reinterpret_cast<uintptr_t>(memory) % GetAlignment(type) == 0;
}

} // namespace

void CallerMemory::BindInputs(const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    const std::vector<Binding>& inputs = m_Tensors.GetProgram().Inputs();
    while (m_InputStaging.size() < inputs.size())
    {
        m_InputStaging.emplace_back(0, m_Tensors.GetHostAllocator());
    }
    m_Inputs.resize(inputs.size());
    m_InputRanges.clear();
    for (size_t i = 0; i < m_Inputs.size(); ++i)
    {
        const TensorInfo& info = plan.Infos()[inputs[i].m_Value];
        const void* memory = args.m_Inputs[i];
        const size_t bytes = info.GetNumBytes();
        if (bytes != 0)
        {
            const auto begin = reinterpret_cast<uintptr_t>(memory);
            m_InputRanges.emplace_back(begin, begin + bytes);
        }
        if (bytes != 0 && !IsAligned(memory, info.GetDataType()))
        {
            m_InputStaging[i].Reserve(bytes);
            CopyBlock(m_InputStaging[i].Data(), memory, bytes);
            memory = m_InputStaging[i].Data();
        }
        m_Inputs[i] = const_cast<void*>(memory);
    }
    std::sort(m_InputRanges.begin(), m_InputRanges.end());
    for (size_t i = 1; i < m_InputRanges.size(); ++i)
    {
        m_InputRanges[i].second = std::max(m_InputRanges[i].second, m_InputRanges[i - 1].second);
    }
    for (const ValueId v : plan.Bound())
    {
        const Location& location = plan.Locations()[v];
        if (location.m_Place == Place::Input)
        {
            m_Tensors.SetPointer(v, static_cast<std::byte*>(m_Inputs[location.m_Index]) + location.m_Offset);
        }
    }
}

bool CallerMemory::OverlapsInput(const void* memory, size_t bytes) const
{
    // An overlap exists if one of the inputs that begin before the end of the memory ends after its beginning.
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const auto next = std::partition_point(m_InputRanges.begin(), m_InputRanges.end(),
                                           [&](const auto& range) { return range.first < begin + bytes; });
    return next != m_InputRanges.begin() && std::prev(next)->second > begin;
}

void CallerMemory::AskForOutput(size_t index, const RunArgs& args)
{
    const TensorInfo& info = m_Tensors.GetInfo(m_Tensors.GetProgram().Outputs()[index].m_Value);
    const size_t bytes = info.GetNumBytes();
    void* memory = args.m_GetOutput(index, info);
    m_CallerOutputs[index] = memory;
    const bool aligned = reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t) == 0;
    if (bytes != 0 && (!aligned || OverlapsInput(memory, bytes)))
    {
        m_OutputStaging[index].Reserve(bytes);
        memory = m_OutputStaging[index].Data();
    }
    m_Outputs[index] = memory;
}

void CallerMemory::BindOutputs(const RunArgs& args)
{
    const Plan& plan = m_Tensors.GetPlan();
    const std::vector<Binding>& outputs = m_Tensors.GetProgram().Outputs();
    m_Outputs.assign(outputs.size(), nullptr);
    m_CallerOutputs.assign(outputs.size(), nullptr);
    while (m_OutputStaging.size() < outputs.size())
    {
        m_OutputStaging.emplace_back(0, m_Tensors.GetHostAllocator());
    }
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (plan.Locations()[outputs[i].m_Value].m_Place != Place::None)
        {
            AskForOutput(i, args);
        }
    }
    for (const ValueId v : plan.Bound())
    {
        const Location& location = plan.Locations()[v];
        if (location.m_Place == Place::Output)
        {
            m_Tensors.SetPointer(v, static_cast<std::byte*>(m_Outputs[location.m_Index]) + location.m_Offset);
        }
    }
    if (DeviceRun* const devices = m_Tensors.GetDevices(); devices != nullptr)
    {
        devices->BindOutputs(plan, args.m_ImportedOutputs, m_Outputs);
    }
}

void CallerMemory::CopyOutputs(const RunArgs& args)
{
    const std::vector<Binding>& outputs = m_Tensors.GetProgram().Outputs();
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        const ValueId value = outputs[i].m_Value;
        if (m_Tensors.GetPlan().Locations()[value].m_Place == Place::None)
        {
            AskForOutput(i, args);
        }
        const size_t bytes = m_Tensors.GetInfo(value).GetNumBytes();
        if (bytes != 0 && m_Outputs[i] != m_Tensors.GetPointer(value))
        {
            CopyBlock(m_Outputs[i], m_Tensors.GetPointer(value), bytes);
        }
    }
}

void CallerMemory::WriteStagedOutputs()
{
    const std::vector<Binding>& outputs = m_Tensors.GetProgram().Outputs();
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (m_Outputs[i] != m_CallerOutputs[i])
        {
            CopyBlock(m_CallerOutputs[i], m_Outputs[i], m_Tensors.GetInfo(outputs[i].m_Value).GetNumBytes());
        }
    }
}

} // namespace tenon
