// SPDX-License-Identifier: Apache-2.0
// ConstTensorHandle: see TensorHandle.hpp.
#include <tenon/Exceptions.hpp>
#include <tenon/TensorHandle.hpp>

#include <climits>

#include <array>
#include <cstdint>
#include <cstring>

namespace tenon
{

ITensorHandle::~ITensorHandle() = default;
ConstTensorHandle::~ConstTensorHandle() = default;
ConstPassthroughTensorHandle::~ConstPassthroughTensorHandle() = default;

TensorShape GetUnpaddedTensorStrides(const TensorInfo& tensorInfo)
{
    const TensorShape& shape = tensorInfo.GetShape();
    if (!shape.AreAllDimensionsSpecified() || tensorInfo.GetDataType() == DataType::QSymmS4)
    {
        throw InvalidArgumentException("the strides of a tensor are not whole, known numbers of bytes: its shape is "
                                       "not known, or its elements are less than a byte");
    }
    std::array<unsigned int, MaxNumOfTensorDimensions> strides{};
    uint64_t stride = GetDataTypeSize(tensorInfo.GetDataType());
    for (unsigned int i = shape.GetNumDimensions(); i-- > 0;)
    {
        if (stride > UINT_MAX)
        {
            throw InvalidArgumentException("the strides of a tensor of shape " + shape.ToString() +
                                           " are above what an unsigned int holds");
        }
        strides[i] = static_cast<unsigned int>(stride);
        stride *= shape[i];
    }
    return TensorShape(shape.GetNumDimensions(), strides.data());
}

const void* ConstTensorHandle::Map(bool) const
{
    return m_Memory;
}

void ConstTensorHandle::CopyOutTo(void* memory) const
{
    if (m_Memory == nullptr)
    {
        throw NullPointerException("a tensor handle without memory is read");
    }
    std::memcpy(memory, m_Memory, m_TensorInfo.GetNumBytes());
}

void ConstTensorHandle::CopyInFrom(const void*)
{
    throw UnimplementedException("a tensor handle that is only read is written");
}

void ConstTensorHandle::ThrowElementType() const
{
    throw InvalidArgumentException("the elements of a tensor handle are not of the C++ type that they are asked for");
}

void ConstPassthroughTensorHandle::Allocate()
{
    throw InvalidArgumentException("a tensor handle of memory that is there takes no other");
}

} // namespace tenon
