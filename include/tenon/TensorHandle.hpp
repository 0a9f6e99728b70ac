// SPDX-License-Identifier: Apache-2.0
// ConstTensorHandle: a tensor in host memory that is only read. Debug callbacks and
// IConnectableLayer::GetConstantTensorsByRef() give it.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Export.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace tenon
{

namespace detail
{

/// Whether elements of `type` may be read as those of a C++ type with these properties. 16-bit floats are read as
/// integers of 16 bits, or as a class of 16 bits.
inline bool IsElementType(DataType type, size_t bytes, bool isFloat, bool isInteger, bool isSigned)
{
    switch (type)
    {
    case DataType::Float32: return isFloat && bytes == 4;
    case DataType::Float64: return isFloat && bytes == 8;
    case DataType::Float16:
    case DataType::BFloat16: return !isFloat && bytes == 2;
    case DataType::Boolean: return isInteger && bytes == 1;
    case DataType::QAsymmU8:
    case DataType::Unsigned8: return isInteger && !isSigned && bytes == 1;
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return isInteger && isSigned && bytes == 1;
    case DataType::QSymmS16:
    case DataType::Signed16: return isInteger && isSigned && bytes == 2;
    case DataType::Unsigned16: return isInteger && !isSigned && bytes == 2;
    case DataType::Signed32: return isInteger && isSigned && bytes == 4;
    case DataType::Unsigned32: return isInteger && !isSigned && bytes == 4;
    case DataType::Signed64: return isInteger && isSigned && bytes == 8;
    case DataType::Unsigned64: return isInteger && !isSigned && bytes == 8;
    case DataType::Complex64: return !isFloat && !isInteger && bytes == 8;
    case DataType::Complex128: return !isFloat && !isInteger && bytes == 16;
    case DataType::QSymmS4: break; // two in a byte
    }
    return false;
}

template <typename T>
bool IsElementType(DataType type)
{
    return IsElementType(type, sizeof(T), std::is_floating_point<T>::value, std::is_integral<T>::value,
                         std::is_signed<T>::value);
}

} // namespace detail

/// Bytes from one index to the next of each dimension of a tensor without gaps. Throws InvalidArgumentException where
/// its shape is not fully known, or its elements are less than a byte.
TENON_API TensorShape GetUnpaddedTensorStrides(const TensorInfo& tensorInfo);

/// A tensor that may be read.
class TENON_API ConstTensorHandle : public ITensorHandle
{
public:
    ~ConstTensorHandle() override;
    ConstTensorHandle(const ConstTensorHandle& other) = delete;
    ConstTensorHandle& operator=(const ConstTensorHandle& other) = delete;

    /// The elements; T is as wide as one and of its kind, or void. Throws InvalidArgumentException for another T.
    template <typename T>
    const T* GetConstTensor() const
    {
        return static_cast<const T*>(CheckElementType<T>(m_Memory));
    }

    const TensorInfo& GetTensorInfo() const { return m_TensorInfo; }

    void Manage() override {}
    ITensorHandle* GetParent() const override { return nullptr; }
    using ITensorHandle::Map;
    using ITensorHandle::Unmap;
    const void* Map(bool blocking = true) const override;
    void Unmap() const override {}
    TensorShape GetStrides() const override { return GetUnpaddedTensorStrides(m_TensorInfo); }
    TensorShape GetShape() const override { return m_TensorInfo.GetShape(); }
    /// Throws NullPointerException where there is no memory.
    void CopyOutTo(void* memory) const override;
    /// Throws UnimplementedException: it is only read.
    void CopyInFrom(const void* memory) override;

protected:
    explicit ConstTensorHandle(const TensorInfo& tensorInfo) : m_TensorInfo(tensorInfo) {}
    void SetConstMemory(const void* memory) { m_Memory = memory; }

    template <typename T, typename Memory>
    Memory* CheckElementType(Memory* memory) const
    {
        if (!std::is_void<T>::value && !IsElement<T>(std::is_void<T>()))
        {
            ThrowElementType();
        }
        return memory;
    }

private:
    template <typename T>
    bool IsElement(std::true_type) const
    {
        return true;
    }
    template <typename T>
    bool IsElement(std::false_type) const
    {
        return detail::IsElementType<T>(m_TensorInfo.GetDataType());
    }
    [[noreturn]] void ThrowElementType() const;

    TensorInfo m_TensorInfo;
    const void* m_Memory = nullptr;
};

/// Memory of somebody else's that is only read, and outlives the handle.
class TENON_API ConstPassthroughTensorHandle : public ConstTensorHandle
{
public:
    ConstPassthroughTensorHandle(const TensorInfo& tensorInfo, const void* memory) : ConstTensorHandle(tensorInfo)
    {
        SetConstMemory(memory);
    }
    ~ConstPassthroughTensorHandle() override;
    /// Throws InvalidArgumentException: it has its memory.
    void Allocate() override;
};

} // namespace tenon
