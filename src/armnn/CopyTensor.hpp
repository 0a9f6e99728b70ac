// SPDX-License-Identifier: Apache-2.0
// CopyTensor: copies the elements of tensors between memories with different strides.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstddef>

namespace tenon
{

/// A tensor in memory, and the bytes from one index to the next of each dimension.
template <typename Memory>
struct StridedTensor
{
    Memory* m_Memory = nullptr;
    TensorShape m_Strides;
};

/// Copies a tensor of `shape`, whose elements have `elementBytes`. Both strides have its rank; a scalar has none.
void CopyTensor(const StridedTensor<const std::byte>& source, const StridedTensor<std::byte>& target,
                const TensorShape& shape, size_t elementBytes);

} // namespace tenon
