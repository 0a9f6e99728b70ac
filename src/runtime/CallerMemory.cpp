// SPDX-License-Identifier: Apache-2.0
// How an ExecutionContext binds memory of the caller: in place where it is aligned and apart from the inputs, else by
// way of a copy.
#include "common/CopyBlock.hpp"
#include "runtime/ExecutionContext.hpp"

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

void ExecutionContext::BindInputs(const RunArgs& args)
{
    while (m_InputStaging.size() < m_Program.Inputs().size())
    {
        m_InputStaging.emplace_back(0, HostAllocator());
    }
    m_BoundInputs.resize(m_Program.Inputs().size());
    m_InputRanges.clear();
    for (size_t i = 0; i < m_BoundInputs.size(); ++i)
    {
        const TensorInfo& info = m_Plan->Infos()[m_Program.Inputs()[i].m_Value];
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
        m_BoundInputs[i] = const_cast<void*>(memory);
    }
    std::sort(m_InputRanges.begin(), m_InputRanges.end());
    for (size_t i = 1; i < m_InputRanges.size(); ++i)
    {
        m_InputRanges[i].second = std::max(m_InputRanges[i].second, m_InputRanges[i - 1].second);
    }
    for (const ValueId v : m_Plan->Bound())
    {
        const Location& location = m_Plan->Locations()[v];
        if (location.m_Place == Place::Input)
        {
            m_Pointers[v] = static_cast<std::byte*>(m_BoundInputs[location.m_Index]) + location.m_Offset;
        }
    }
}

bool ExecutionContext::OverlapsInput(const void* memory, size_t bytes) const
{
    // Of the inputs that begin before the end of the memory, does one end behind its beginning?
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const auto next = std::partition_point(m_InputRanges.begin(), m_InputRanges.end(),
                                           [&](const auto& range) { return range.first < begin + bytes; });
    return next != m_InputRanges.begin() && std::prev(next)->second > begin;
}

void ExecutionContext::AskForOutput(size_t index, const RunArgs& args)
{
    const TensorInfo& info = InfoOf(m_Program.Outputs()[index].m_Value);
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

void ExecutionContext::BindOutputs(const RunArgs& args)
{
    m_Outputs.assign(m_Program.Outputs().size(), nullptr);
    m_CallerOutputs.assign(m_Program.Outputs().size(), nullptr);
    while (m_OutputStaging.size() < m_Program.Outputs().size())
    {
        m_OutputStaging.emplace_back(0, HostAllocator());
    }
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (m_Plan->Locations()[m_Program.Outputs()[i].m_Value].m_Place != Place::None)
        {
            AskForOutput(i, args);
        }
    }
    for (const ValueId v : m_Plan->Bound())
    {
        const Location& location = m_Plan->Locations()[v];
        if (location.m_Place == Place::Output)
        {
            m_Pointers[v] = static_cast<std::byte*>(m_Outputs[location.m_Index]) + location.m_Offset;
        }
    }
    if (m_Devices != nullptr)
    {
        m_Devices->BindOutputs(*m_Plan, args.m_ImportedOutputs, m_Outputs);
    }
}

void ExecutionContext::CopyOutputs(const RunArgs& args)
{
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        const ValueId value = m_Program.Outputs()[i].m_Value;
        if (m_Plan->Locations()[value].m_Place == Place::None)
        {
            AskForOutput(i, args);
        }
        const size_t bytes = InfoOf(value).GetNumBytes();
        if (bytes != 0 && m_Outputs[i] != m_Pointers[value])
        {
            CopyBlock(m_Outputs[i], m_Pointers[value], bytes);
        }
    }
}

void ExecutionContext::WriteStagedOutputs()
{
    for (size_t i = 0; i < m_Outputs.size(); ++i)
    {
        if (m_Outputs[i] != m_CallerOutputs[i])
        {
            CopyBlock(m_CallerOutputs[i], m_Outputs[i], InfoOf(m_Program.Outputs()[i].m_Value).GetNumBytes());
        }
    }
}

} // namespace tenon
