// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: shapes and values in another order of dimensions. Dimension i of the result is
// dimension mappings[i] of the source.
#pragma once

#include <armnn/Exceptions.hpp>
#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace armnnUtils
{

namespace detail
{
inline void CheckMappings(const armnn::TensorShape& shape, const armnn::PermutationVector& mappings)
{
    if (shape.GetNumDimensions() != mappings.GetSize())
    {
        throw armnn::InvalidArgumentException("the order of dimensions has " + std::to_string(mappings.GetSize()) +
                                              " entries for shape " + shape.ToString() + "; give one for each");
    }
}
inline void CheckMapping(unsigned int dimension, const armnn::PermutationVector& mappings)
{
    if (dimension >= mappings.GetSize())
    {
        throw armnn::InvalidArgumentException("the quantization dimension is " + std::to_string(dimension) +
                                              ", beyond the order of " + std::to_string(mappings.GetSize()) +
                                              " dimensions");
    }
}
} // namespace detail

/// Each throws InvalidArgumentException where there are not as many mappings as dimensions.
inline armnn::TensorShape TransposeTensorShape(const armnn::TensorShape& srcShape,
                                               const armnn::PermutationVector& mappings)
{
    detail::CheckMappings(srcShape, mappings);
    std::vector<unsigned int> sizes;
    for (const unsigned int dimension : mappings)
    {
        sizes.push_back(srcShape[dimension]);
    }
    return armnn::TensorShape(mappings.GetSize(), sizes.data());
}
/// The quantization dimension moves along.
inline armnn::TensorInfo TransposeTensorShape(const armnn::TensorInfo& info, const armnn::PermutationVector& mappings)
{
    armnn::TensorInfo transposed(info);
    transposed.SetShape(TransposeTensorShape(info.GetShape(), mappings));
    if (info.GetQuantizationDim().has_value())
    {
        detail::CheckMapping(info.GetQuantizationDim().value(), mappings);
        transposed.SetQuantizationDim(mappings.Inverse()[info.GetQuantizationDim().value()]);
    }
    return transposed;
}
/// Copies elements of dataTypeSize bytes of a tensor of srcShape. The memories must not overlap.
inline void Transpose(const armnn::TensorShape& srcShape, const armnn::PermutationVector& mappings, const void* src,
                      void* dst, size_t dataTypeSize)
{
    detail::CheckMappings(srcShape, mappings);
    const unsigned int rank = srcShape.GetNumDimensions();
    std::vector<size_t> strides(rank + 1, dataTypeSize); // bytes, by source dimension
    for (unsigned int i = rank; i > 0; --i)
    {
        strides[i - 1] = i == rank ? dataTypeSize : strides[i] * srcShape[i];
    }
    const auto* from = static_cast<const unsigned char*>(src);
    auto* to = static_cast<unsigned char*>(dst);
    std::vector<unsigned int> place(rank, 0); // by dimension of the result
    for (unsigned int count = srcShape.GetNumElements(); count > 0; --count)
    {
        std::memcpy(to, from, dataTypeSize);
        to += dataTypeSize;
        for (unsigned int i = rank; i > 0; --i)
        {
            const unsigned int dimension = mappings[i - 1];
            if (++place[i - 1] < srcShape[dimension])
            {
                from += strides[dimension];
                break;
            }
            from -= strides[dimension] * (srcShape[dimension] - 1);
            place[i - 1] = 0;
        }
    }
}

} // namespace armnnUtils
