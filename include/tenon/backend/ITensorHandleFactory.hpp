// SPDX-License-Identifier: Apache-2.0
// ITensorHandleFactory: the memory and the execution queues of a backend whose tensors do not live in ordinary host
// memory: GPUs, NPUs. A backend on the host has none.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon
{

/// A block of a device's memory. The runtime makes one arena of it for each concurrent run and places tensors in it.
class TENON_API IDeviceMemory
{
public:
    virtual ~IDeviceMemory();
    virtual size_t GetBytes() const = 0;
};

/// Where a tensor, or scratch memory, lies in a device's memory.
struct DeviceTensor
{
    IDeviceMemory* m_Memory = nullptr; ///< null where there is none: not connected, a constant, or no bytes
    size_t m_Offset = 0;               ///< bytes; a multiple of ITensorHandleFactory::GetAlignment()
};

enum class MapAccess
{
    Read,
    Write ///< the former content of the range is lost
};

/// Runs the submitted work in the order of submission, later than the call that submits it if the device wants so.
/// One execution context uses a queue from one thread at a time. The next Read, Map or Wait throws a RuntimeException
/// for work that failed after its submission.
class TENON_API IDeviceQueue
{
public:
    /// A point in the order of submission.
    using Fence = uint64_t;

    virtual ~IDeviceQueue();

    /// Runs after all that was submitted before. `source` is host memory and may be reused when the call returns.
    virtual void Write(IDeviceMemory& target, size_t offset, const void* source, size_t bytes) = 0;
    /// Runs after all that was submitted before; the bytes are in host memory `target` when the call returns.
    virtual void Read(void* target, IDeviceMemory& source, size_t offset, size_t bytes) = 0;
    /// Copies within the device.
    virtual void Copy(IDeviceMemory& target, size_t targetOffset, IDeviceMemory& source, size_t sourceOffset,
                      size_t bytes) = 0;

    /// Shows a range to the host until Unmap, once all that was submitted before has run. Only where
    /// ITensorHandleFactory::SupportsMapUnmap(); nothing else may be submitted meanwhile.
    virtual void* Map(IDeviceMemory& memory, size_t offset, size_t bytes, MapAccess access) = 0;
    virtual void Unmap(IDeviceMemory& memory, void* mapped) = 0;

    /// A fence that is reached when all that was submitted before has run. Fences of one queue grow.
    virtual Fence Signal() = 0;
    /// Returns when the fence is reached.
    virtual void Wait(Fence fence) = 0;
};

namespace backend
{

/// Thread-safe; lives as long as its backend. Takes the place of Arm NN's interface of the same name.
class TENON_API ITensorHandleFactory
{
public:
    virtual ~ITensorHandleFactory();

    /// Names the memory. Backends whose factories have one id share memory: nothing is copied between them, and they
    /// share a queue, which the factory of the one that is registered first makes.
    virtual const char* GetId() const = 0;
    /// Bytes to whose multiples tensors are placed; a power of two.
    virtual size_t GetAlignment() const { return 64; }
    virtual bool SupportsMapUnmap() const { return false; }
    /// The kinds of host memory that Import takes.
    virtual MemorySourceFlags GetImportFlags() const { return static_cast<MemorySourceFlags>(MemorySource::Undefined); }

    /// Throws MemoryValidationException where there is not so much memory.
    virtual std::unique_ptr<IDeviceMemory> Allocate(size_t bytes) const = 0;
    /// Lets the device use host memory directly as long as the object lives; only where GetImportFlags() has `source`.
    /// Null where this block cannot be used (its alignment, say): the runtime then copies.
    virtual std::unique_ptr<IDeviceMemory> Import(void* memory, size_t bytes, MemorySource source) const;

    virtual std::unique_ptr<IDeviceQueue> CreateQueue() const = 0;
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::ITensorHandleFactory;
#endif

} // namespace tenon
