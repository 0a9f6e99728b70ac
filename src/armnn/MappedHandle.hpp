// SPDX-License-Identifier: Apache-2.0
// MappedHandle: the memory of a tensor handle of a backend while it is mapped.
#pragma once

#include "armnn/CallWithoutThrowing.hpp"
#include "armnn/CopyTensor.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>

namespace tenon
{

/// Maps a handle, which outlives it. The destructor unmaps it where Unmap was not called, as after an exception.
class MappedHandle
{
public:
    /// Throws MemoryValidationException where there is no memory.
    MappedHandle(ITensorHandle& handle, const TensorInfo& info) : m_Handle(handle), m_Memory(handle.Map(true))
    {
        if (m_Memory == nullptr)
        {
            throw MemoryValidationException("the backend's tensor handle of " + info.ToString() +
                                            " has no memory to map");
        }
    }
    ~MappedHandle()
    {
        if (m_IsMapped)
        {
            CallWithoutThrowing("Unmap of a tensor handle", [this] { m_Handle.Unmap(); });
        }
    }
    MappedHandle(const MappedHandle&) = delete;
    MappedHandle& operator=(const MappedHandle&) = delete;

    StridedTensor<std::byte> Get() const { return {static_cast<std::byte*>(m_Memory), m_Handle.GetStrides()}; }
    StridedTensor<const std::byte> GetConst() const
    {
        return {static_cast<const std::byte*>(m_Memory), m_Handle.GetStrides()};
    }
    /// Throws the backend's exceptions.
    void Unmap()
    {
        m_IsMapped = false;
        m_Handle.Unmap();
    }

private:
    ITensorHandle& m_Handle;
    void* m_Memory;
    bool m_IsMapped = true;
};

} // namespace tenon
