// SPDX-License-Identifier: Apache-2.0
// Tensor handles that may be written: see armnn/backends/TensorHandle.hpp.
#include <tenon/Exceptions.hpp>

#include <armnn/backends/TensorHandle.hpp>
#include <cstring>

namespace tenon
{

TensorHandle::~TensorHandle() = default;

void TensorHandle::CopyInFrom(const void* memory)
{
    if (m_MutableMemory == nullptr)
    {
        throw NullPointerException("a tensor handle without memory is written: " + GetTensorInfo().ToString());
    }
    std::memcpy(m_MutableMemory, memory, GetTensorInfo().GetNumBytes());
}

ScopedTensorHandle::ScopedTensorHandle(const TensorInfo& tensorInfo) : TensorHandle(tensorInfo) {}

ScopedTensorHandle::ScopedTensorHandle(const ConstTensor& tensor) : ScopedTensorHandle(tensor.GetInfo())
{
    CopyFrom(tensor.GetMemoryArea());
}

ScopedTensorHandle::ScopedTensorHandle(const ConstTensorHandle& tensorHandle)
    : ScopedTensorHandle(tensorHandle.GetTensorInfo())
{
    CopyFrom(tensorHandle.Map());
}

ScopedTensorHandle::ScopedTensorHandle(const ScopedTensorHandle& other)
    : ScopedTensorHandle(static_cast<const ConstTensorHandle&>(other))
{
}

ScopedTensorHandle& ScopedTensorHandle::operator=(const ScopedTensorHandle& other)
{
    if (GetTensorInfo().GetNumBytes() != other.GetTensorInfo().GetNumBytes())
    {
        throw InvalidArgumentException("a tensor handle of " + GetTensorInfo().ToString() + " cannot take over " +
                                       other.GetTensorInfo().ToString() + ", which has another number of bytes");
    }
    if (this != &other)
    {
        m_Owned.reset();
        SetMemory(nullptr);
        CopyFrom(other.Map());
    }
    return *this;
}

ScopedTensorHandle::~ScopedTensorHandle() = default;

void ScopedTensorHandle::Allocate()
{
    if (m_Owned != nullptr)
    {
        throw InvalidArgumentException("a tensor handle that has memory is allocated: " + GetTensorInfo().ToString());
    }
    m_Owned.reset(new unsigned char[GetTensorInfo().GetNumBytes()]());
    SetMemory(m_Owned.get());
}

/// Copies nothing where there is no memory.
void ScopedTensorHandle::CopyFrom(const void* memory)
{
    if (memory != nullptr)
    {
        Allocate();
        std::memcpy(m_Owned.get(), memory, GetTensorInfo().GetNumBytes());
    }
}

PassthroughTensorHandle::~PassthroughTensorHandle() = default;

void PassthroughTensorHandle::Allocate()
{
    throw InvalidArgumentException("a tensor handle of memory that is there takes no other");
}

} // namespace tenon
