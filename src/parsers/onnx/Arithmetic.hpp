// SPDX-License-Identifier: Apache-2.0
// Arithmetic with the elements of small tensors that are known while a model is read. GraphBuilder computes them in
// place of adding a layer. An element that depends on an unknown element is unknown. Results equal the layers' results:
// integers wrap around, floats are rounded to their type.
#pragma once

#include "parsers/onnx/Value.hpp"

#include <tenon/Types.hpp>

#include <optional>
#include <vector>

namespace tenon::onnx
{

/// Nothing for an operation that is not computed here, but by a layer.
std::optional<Numbers> ComputeUnary(UnaryOperation operation, DataType type, const Numbers& x);
std::optional<Number> ComputeBinary(BinaryOperation operation, DataType type, const Number& a, const Number& b);
Number ComputeComparison(ComparisonOperation operation, DataType type, const Number& a, const Number& b);

/// The index of each element of a tensor of `sizes` in a memory whose element at 0 has index `first`; elements of a
/// dimension are `strides` apart.
std::vector<size_t> StridedIndices(const std::vector<int64_t>& sizes, int64_t first,
                                   const std::vector<int64_t>& strides);

/// For each element of a tensor of `shape`, the index of the element of a tensor of `from` that is broadcast to it.
/// Both are fully known.
std::vector<size_t> BroadcastIndices(const TensorShape& from, const TensorShape& shape);

/// The distances of neighbours along each dimension of a shape that is fully known, in elements.
std::vector<int64_t> Strides(const TensorShape& shape);

/// Reduces the elements along `axes`; the result keeps the order of the other dimensions.
std::optional<Numbers> ComputeReduction(ReduceOperation operation, DataType type, const TensorShape& shape,
                                        const Numbers& x, const std::vector<unsigned int>& axes);

} // namespace tenon::onnx
