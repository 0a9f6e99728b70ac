// SPDX-License-Identifier: Apache-2.0
// ICustomAllocator: memory of the application's own for the arenas of a backend.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon
{

/// Thread-safe; given through IRuntime::CreationOptions::m_CustomAllocatorMap. The runtime takes arenas and scratch
/// memory from it with allocate, and gives each block back with free, at the latest when the runtime ends.
class TENON_API ICustomAllocator
{
public:
    virtual ~ICustomAllocator();
    /// `size` and `alignment` are in bytes, the alignment is a power of two. Returns null where there is no memory; the
    /// run then fails with a MemoryValidationException.
    virtual void* allocate(size_t size, size_t alignment) = 0;
    /// Takes back `ptr`, which allocate returned.
    virtual void free(void* ptr) = 0;
    /// The kind of the allocator's memory. Backends on the host need a kind that the host can address: Malloc.
    virtual MemorySource GetMemorySourceType() = 0;
    /// The address of a part of `buffer`, `offset` bytes from its beginning, for memory that is addressed by handles.
    /// Throws UnimplementedException by default. The runtime does not call this method: it addresses Malloc memory by
    /// pointers, and devices import whole blocks. Backends written for Arm NN may call it.
    virtual void* GetMemoryRegionAtOffset(void* buffer, size_t offset, size_t alignment = 0);
};

} // namespace tenon
