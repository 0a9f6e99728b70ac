// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: tensors in host memory.
#pragma once

#include <tenon/TensorHandle.hpp>

#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/backends/ITensorHandle.hpp>
#include <armnn/backends/TensorHandleFwd.hpp>
#include <armnn/utility/Assert.hpp>
#include <memory>
#include <utility>

namespace tenon
{

/// A tensor that may be written, too.
class TENON_API TensorHandle : public ConstTensorHandle
{
public:
    ~TensorHandle() override;

    /// The elements, as GetConstTensor gives them, for writing.
    template <typename T>
    T* GetTensor() const
    {
        return static_cast<T*>(CheckElementType<T>(m_MutableMemory));
    }
    /// Throws NullPointerException where there is no memory.
    void CopyInFrom(const void* memory) override;

protected:
    explicit TensorHandle(const TensorInfo& tensorInfo) : ConstTensorHandle(tensorInfo) {}
    void SetMemory(void* memory)
    {
        m_MutableMemory = memory;
        SetConstMemory(memory);
    }

private:
    void* m_MutableMemory = nullptr;
};

/// Owns its memory, which is aligned as that of operator new.
class TENON_API ScopedTensorHandle : public TensorHandle
{
public:
    /// The handle has no memory until Allocate.
    explicit ScopedTensorHandle(const TensorInfo& tensorInfo);
    /// A copy of a constant.
    explicit ScopedTensorHandle(const ConstTensor& tensor);
    explicit ScopedTensorHandle(const ConstTensorHandle& tensorHandle);
    ScopedTensorHandle(const ScopedTensorHandle& other);
    /// Throws InvalidArgumentException unless both have one number of bytes.
    ScopedTensorHandle& operator=(const ScopedTensorHandle& other);
    ~ScopedTensorHandle() override;

    /// Takes memory whose contents are 0. Throws InvalidArgumentException where it has some already.
    void Allocate() override;

private:
    void CopyFrom(const void* memory);

    std::unique_ptr<unsigned char[]> m_Owned;
};

/// Memory of somebody else's, which outlives the handle.
class TENON_API PassthroughTensorHandle : public TensorHandle
{
public:
    PassthroughTensorHandle(const TensorInfo& tensorInfo, void* memory) : TensorHandle(tensorInfo)
    {
        SetMemory(memory);
    }
    ~PassthroughTensorHandle() override;
    /// Throws InvalidArgumentException, as the handle has its memory.
    void Allocate() override;
};

/// Maps a handle, and unmaps it at its own end. The handle may be null until Map is called.
class ManagedConstTensorHandle
{
public:
    explicit ManagedConstTensorHandle(std::shared_ptr<ConstTensorHandle> handle) : m_Handle(std::move(handle)) {}
    ManagedConstTensorHandle(const ManagedConstTensorHandle& other) = delete;
    ManagedConstTensorHandle& operator=(const ManagedConstTensorHandle& other) = delete;
    ~ManagedConstTensorHandle() { Unmap(); }

    /// Throws NullPointerException where the handle is null.
    const void* Map(bool blocking = true)
    {
        const ConstTensorHandle& handle = Get();
        const void* const memory = handle.Map(blocking);
        m_IsMapped = true;
        return memory;
    }
    void Unmap()
    {
        if (m_IsMapped)
        {
            static_cast<const ConstTensorHandle&>(*m_Handle).Unmap();
            m_IsMapped = false;
        }
    }
    /// Throws NullPointerException where the handle is null.
    const TensorInfo& GetTensorInfo() const { return Get().GetTensorInfo(); }
    bool IsMapped() const { return m_IsMapped; }

private:
    const ConstTensorHandle& Get() const
    {
        if (m_Handle == nullptr)
        {
            throw NullPointerException("a ManagedConstTensorHandle of no tensor is used");
        }
        return *m_Handle;
    }

    std::shared_ptr<ConstTensorHandle> m_Handle;
    bool m_IsMapped = false;
};

} // namespace tenon
