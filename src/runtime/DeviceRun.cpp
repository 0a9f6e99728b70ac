// SPDX-License-Identifier: Apache-2.0
// DeviceRun: see DeviceRun.hpp.
#include "runtime/DeviceRun.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

DeviceRun::DeviceRun(const Program& program, DeviceQueues& queues)
    : m_Program(program), m_Queues(queues), m_Arenas(program.Memories().Size()), m_Tensors(program.Values().size()),
      m_IsDirect(program.Steps().size(), false), m_Copies(program.Values().size()),
      m_Staging(0, program.Memories()[HostMemory].m_Allocator.get())
{
}

DeviceTensor DeviceRun::InArena(MemoryId memory, size_t offset) const
{
    return m_Arenas[memory] == nullptr ? DeviceTensor() : DeviceTensor{&m_Arenas[memory]->Get(), offset};
}

void DeviceRun::UsePlan(const Plan& plan, const AlignedMemory& hostArena)
{
    for (MemoryId id = 1; id < m_Arenas.size(); ++id)
    {
        const size_t bytes = plan.Arenas()[id].m_Bytes;
        if (bytes > (m_Arenas[id] == nullptr ? 0 : m_Arenas[id]->Bytes()))
        {
            m_Arenas[id] = nullptr; // released before the new one is made, so that both never count at once
            m_Arenas[id] = std::make_unique<DeviceBlock>(m_Program.Memories()[id], bytes);
        }
    }
    m_IsDirect.assign(m_IsDirect.size(), false);
    for (ValueId v = 0; v < m_Tensors.size(); ++v)
    {
        const Location& location = plan.Locations()[v];
        const MemoryId memory = m_Program.Values()[v].m_Memory;
        const bool isHere =
            memory != HostMemory && location.m_Place == Place::Arena && plan.Infos()[v].GetNumBytes() != 0;
        m_Tensors[v] = isHere ? InArena(memory, location.m_Offset) : DeviceTensor();
    }
    if (m_HostArena.m_Data != hostArena.Data() || m_HostArena.m_IsTried.empty())
    {
        m_HostArena.m_Data = hostArena.Data();
        m_HostArena.m_Bytes = hostArena.Bytes();
        m_HostArena.m_Imports.clear();
        m_HostArena.m_Imports.resize(m_Arenas.size());
        m_HostArena.m_IsTried.assign(m_Arenas.size(), false);
    }
}

void DeviceRun::BindOutputs(const Plan& plan, Span<const ImportedMemory* const> imported,
                            const std::vector<void*>& outputs)
{
    for (const DirectOutput& direct : plan.DirectOutputs())
    {
        const ValueId first = direct.m_Values.front();
        const MemoryId memory = m_Program.Values()[first].m_Memory;
        if (plan.Infos()[first].GetNumBytes() == 0)
        {
            continue; // the value has no memory
        }
        const ImportedMemory* const source = imported.empty() ? nullptr : imported[direct.m_Output];
        IDeviceMemory* const callers =
            source == nullptr ? nullptr
                              : source->Find(memory, outputs[direct.m_Output], plan.Infos()[first].GetNumBytes());
        m_IsDirect[direct.m_Copy] = callers != nullptr;
        for (const ValueId v : direct.m_Values)
        {
            m_Tensors[v] =
                callers != nullptr ? DeviceTensor{callers, 0} : InArena(memory, plan.Locations()[v].m_Offset);
        }
    }
}

void DeviceRun::Prepare(const Step& step, const Plan& plan, const DeviceTensor& scratch, ExecuteArgs& args)
{
    m_StepInputs.clear();
    for (const ValueId value : step.m_Inputs)
    {
        m_StepInputs.push_back(value == NoValue ? DeviceTensor() : m_Tensors[value]);
    }
    for (ValueId v = step.m_FirstOutput; v < step.m_FirstOutput + step.m_NumOutputs; ++v)
    {
        if (plan.Locations()[v].m_Place == Place::Imported)
        {
            m_Tensors[v] = m_Tensors[plan.Locations()[v].m_Index];
        }
    }
    args.m_Queue = &m_Queues.Use(step.m_Memory);
    args.m_DeviceInputs = m_StepInputs;
    args.m_DeviceOutputs = Span<const DeviceTensor>(m_Tensors.data() + step.m_FirstOutput, step.m_NumOutputs);
    args.m_DeviceScratch = scratch;
}

IDeviceMemory* DeviceRun::ImportArena(MemoryId memory)
{
    if (!m_HostArena.m_IsTried[memory])
    {
        m_HostArena.m_IsTried[memory] = true;
        m_HostArena.m_Imports[memory] = m_Program.Memories()[memory].m_Factory->Import(
            const_cast<std::byte*>(m_HostArena.m_Data), m_HostArena.m_Bytes, MemorySource::Malloc);
    }
    return m_HostArena.m_Imports[memory].get();
}

DeviceTensor DeviceRun::FindImport(MemoryId memory, const void* host, size_t bytes, const ImportedMemory* imported)
{
    if (imported != nullptr)
    {
        if (IDeviceMemory* const kept = imported->Find(memory, host, bytes))
        {
            return {kept, 0};
        }
    }
    const auto begin = reinterpret_cast<uintptr_t>(m_HostArena.m_Data);
    const auto address = reinterpret_cast<uintptr_t>(host);
    if (address >= begin && address - begin < m_HostArena.m_Bytes)
    {
        IDeviceMemory* const arena = ImportArena(memory);
        return arena == nullptr ? DeviceTensor() : DeviceTensor{arena, address - begin};
    }
    // The device only reads it: no value that shares memory with an imported value is written.
    auto made = m_Program.Memories()[memory].m_Factory->Import(const_cast<void*>(host), bytes, MemorySource::Malloc);
    if (made == nullptr)
    {
        return {};
    }
    m_RunImports.push_back(std::move(made));
    return {m_RunImports.back().get(), 0};
}

void DeviceRun::Import(const Step& step, const void* host, size_t bytes, const ImportedMemory* imported,
                       uint64_t bytesLeft)
{
    DeviceTensor& tensor = m_Tensors[step.m_FirstOutput];
    tensor = {};
    if (bytes == 0)
    {
        return;
    }
    tensor = FindImport(step.m_Memory, host, bytes, imported);
    if (tensor.m_Memory != nullptr)
    {
        return;
    }
    std::unique_ptr<DeviceBlock>& block = m_Copies[step.m_FirstOutput];
    if (block == nullptr || block->Bytes() < bytes)
    {
        m_CopyBytes -= block == nullptr ? 0 : block->Bytes();
        block = nullptr;
        if (m_CopyBytes > bytesLeft || bytes > bytesLeft - m_CopyBytes)
        {
            throw LimitExceededException(fmt::format("memory {} cannot import {} bytes, and a copy of them is "
                                                     "above the limit; raise Limits::m_MaxTotalBytes",
                                                     m_Program.Memories()[step.m_Memory].m_Name, bytes));
        }
        block = std::make_unique<DeviceBlock>(m_Program.Memories()[step.m_Memory], bytes);
        m_CopyBytes += bytes;
    }
    tensor = {&block->Get(), 0};
    m_Queues.Use(step.m_Memory).Write(*tensor.m_Memory, 0, host, bytes);
}

void DeviceRun::Copy(size_t stepIndex, const void* source, void* target, size_t bytes)
{
    const Step& step = m_Program.Steps()[stepIndex];
    const MemoryId from = m_Program.Values()[step.m_Inputs[0]].m_Memory;
    if (bytes == 0)
    {
        if (from != HostMemory) // the plan treats each copy out of a memory as a wait
        {
            IDeviceQueue& queue = m_Queues.Use(from);
            queue.Wait(queue.Signal());
        }
        return;
    }
    const DeviceTensor& in = m_Tensors[step.m_Inputs[0]];
    const DeviceTensor& out = m_Tensors[step.m_FirstOutput];
    if (from == HostMemory)
    {
        m_Queues.Use(step.m_Memory).Write(*out.m_Memory, out.m_Offset, source, bytes);
        return;
    }
    IDeviceQueue& queue = m_Queues.Use(from);
    if (step.m_Memory == from)
    {
        queue.Copy(*out.m_Memory, out.m_Offset, *in.m_Memory, in.m_Offset, bytes);
    }
    else if (m_IsDirect[stepIndex])
    {
        queue.Wait(queue.Signal());
    }
    else if (step.m_Memory == HostMemory)
    {
        queue.Read(target, *in.m_Memory, in.m_Offset, bytes);
    }
    else
    {
        m_Staging.Reserve(bytes);
        queue.Read(m_Staging.Data(), *in.m_Memory, in.m_Offset, bytes);
        m_Queues.Use(step.m_Memory).Write(*out.m_Memory, out.m_Offset, m_Staging.Data(), bytes);
    }
}

} // namespace tenon
