// SPDX-License-Identifier: Apache-2.0
// DeviceQueues: the queues of one execution context and of those nested in it, and blocks of device memory.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/MemorySpaces.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace tenon
{

/// A block of a device's memory: the factory's own, or what a custom allocator gave, imported. Not to be destroyed
/// while a queue still works on it.
class DeviceBlock
{
public:
    /// Throws MemoryValidationException where there is not so much memory, MemoryImportException where the device
    /// cannot use what the custom allocator gave.
    DeviceBlock(const MemorySpace& memory, size_t bytes);

    IDeviceMemory& Get() const { return *m_Memory; }
    size_t Bytes() const { return m_Bytes; }

private:
    size_t m_Bytes;
    AlignedMemory m_Source; ///< of the custom allocator
    std::unique_ptr<IDeviceMemory> m_Memory;
};

/// Each queue is made when it is first used.
class DeviceQueues
{
public:
    explicit DeviceQueues(const MemorySpaces& memories) : m_Memories(memories), m_Entries(memories.Size()) {}

    /// The queue of a device, to submit work to.
    IDeviceQueue& Use(MemoryId memory);
    /// Returns when all that was submitted has run. Waits for every queue even if one of them throws; then the first
    /// exception goes on.
    void WaitAll();
    /// The same for a run that failed already: what is thrown now is a consequence.
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
