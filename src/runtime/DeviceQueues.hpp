// SPDX-License-Identifier: Apache-2.0
// DeviceQueues: the queues of one execution context and of the contexts nested in it, and blocks of device memory.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/MemorySpaces.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon
{

/// A block of a device's memory: the factory's own memory, or memory of a custom allocator that the device imported. It
/// must not be destroyed while a queue still works on it.
class DeviceBlock
{
public:
    /// Throws MemoryValidationException if memory is exhausted, and MemoryImportException if the device cannot use the
    /// custom allocator's memory.
    DeviceBlock(const MemorySpace& memory, size_t bytes);

    IDeviceMemory& Get() const { return *m_Memory; }
    size_t Bytes() const { return m_Bytes; }

private:
    size_t m_Bytes;
    AlignedMemory m_Source; ///< memory of the custom allocator
    std::unique_ptr<IDeviceMemory> m_Memory;
};

/// The queues by device. Each queue is made when it is first used.
class DeviceQueues
{
public:
    explicit DeviceQueues(const MemorySpaces& memories) : m_Memories(memories), m_Entries(memories.Size()) {}

    /// The queue of a device. Work is submitted to it.
    IDeviceQueue& Use(MemoryId memory);
    /// Returns when all submitted work has run. Waits for every queue even if one of them throws, and then rethrows the
    /// first exception.
    void WaitAll();
    /// The same for a run that has failed: exceptions of queues are consequences of that, and are ignored.
    void Drain() noexcept;

private:
    struct Entry
    {
        std::unique_ptr<IDeviceQueue> m_Queue;
        bool m_HasWork = false;
    };

    const MemorySpaces& m_Memories;
    std::vector<Entry> m_Entries; ///< by MemoryId
};

} // namespace tenon
