// SPDX-License-Identifier: Apache-2.0
// DeviceQueues: see DeviceQueues.hpp.
#include "runtime/DeviceQueues.hpp"

#include "common/ErrorContext.hpp"

#include <fmt/format.h>

#include <exception>

namespace tenon
{

DeviceBlock::DeviceBlock(const MemorySpace& memory, size_t bytes) : m_Bytes(bytes)
{
    try
    {
        if (memory.m_Allocator == nullptr)
        {
            m_Memory = memory.m_Factory->Allocate(bytes);
            if (m_Memory == nullptr)
            {
                throw MemoryValidationException("the factory gives null");
            }
            return;
        }
        m_Source = AlignedMemory(bytes, memory.m_Allocator.get(), memory.m_Alignment);
        const MemorySource source = memory.m_Allocator->GetMemorySourceType();
        m_Memory = memory.m_Factory->Import(m_Source.Data(), bytes, source);
        if (m_Memory == nullptr)
        {
            throw MemoryImportException(fmt::format("the device cannot use the memory of source {} that the custom "
                                                    "allocator gave",
                                                    GetMemorySourceName(source)));
        }
    }
    catch (...)
    {
        RethrowWithContext(fmt::format("getting {} bytes of memory {}", bytes, memory.m_Name));
    }
}

IDeviceQueue& DeviceQueues::Use(MemoryId memory)
{
    Entry& entry = m_Entries[memory];
    if (entry.m_Queue == nullptr)
    {
        try
        {
            entry.m_Queue = m_Memories[memory].m_Factory->CreateQueue();
            if (entry.m_Queue == nullptr)
            {
                throw RuntimeException("the factory gives null");
            }
        }
        catch (...)
        {
            RethrowWithContext(fmt::format("making a queue of memory {}", m_Memories[memory].m_Name));
        }
    }
    entry.m_HasWork = true;
    return *entry.m_Queue;
}

void DeviceQueues::WaitAll()
{
    std::exception_ptr first;
    for (MemoryId id = 0; id < m_Entries.size(); ++id)
    {
        Entry& entry = m_Entries[id];
        if (!entry.m_HasWork)
        {
            continue;
        }
        entry.m_HasWork = false;
        try
        {
            try
            {
                entry.m_Queue->Wait(entry.m_Queue->Signal());
            }
            catch (...)
            {
                RethrowWithContext(
                    fmt::format("waiting for the work that was given to memory {}", m_Memories[id].m_Name));
            }
        }
        catch (...)
        {
            first = first == nullptr ? std::current_exception() : first;
        }
    }
    if (first != nullptr)
    {
        std::rethrow_exception(first);
    }
}

void DeviceQueues::Drain() noexcept
{
    try
    {
        WaitAll();
    }
    catch (...) // the run's own exception is on its way
    {
        return;
    }
}

} // namespace tenon
