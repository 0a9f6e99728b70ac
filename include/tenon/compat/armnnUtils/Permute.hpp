// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: shapes and values in another order of dimensions. Dimension i of the source becomes
// dimension mappings[i].
#pragma once

#include <armnn/Tensor.hpp>
#include <armnn/Types.hpp>
#include <armnnUtils/Transpose.hpp>
#include <cstddef>

namespace armnnUtils
{

/// Each throws InvalidArgumentException where there are not as many mappings as dimensions.
inline armnn::TensorShape Permuted(const armnn::TensorShape& srcShape, const armnn::PermutationVector& mappings)
{
    return TransposeTensorShape(srcShape, mappings.Inverse());
}
/// The quantization dimension moves along.
inline armnn::TensorInfo Permuted(const armnn::TensorInfo& info, const armnn::PermutationVector& mappings)
{
    armnn::TensorInfo permuted(info);
    permuted.SetShape(Permuted(info.GetShape(), mappings));
    if (info.GetQuantizationDim().has_value())
    {
        detail::CheckMapping(info.GetQuantizationDim().value(), mappings);
        permuted.SetQuantizationDim(mappings[info.GetQuantizationDim().value()]);
    }
    return permuted;
}
/// Copies elements of dataTypeSize bytes to a tensor of dstShape. The memories must not overlap.
inline void Permute(const armnn::TensorShape& dstShape, const armnn::PermutationVector& mappings, const void* src,
                    void* dst, size_t dataTypeSize)
{
    Transpose(TransposeTensorShape(dstShape, mappings), mappings.Inverse(), src, dst, dataTypeSize);
}

} // namespace armnnUtils
