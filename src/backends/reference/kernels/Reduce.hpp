// SPDX-License-Identifier: Apache-2.0
// What Reduce and Mean share: a mean is one of the reductions.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <vector>

namespace tenon::ref
{

/// The types that reductions take, in and out.
extern const backends::TypeRow ReduceTypes[1];

/// Which axes to reduce. An empty list of the API means all; one that a tensor gave means none.
std::vector<unsigned int> ResolveReduceAxes(const TensorShape& shape, const std::vector<unsigned int>& axes,
                                            bool fromTensor);

SupportResult CheckReduce(ReduceOperation operation, const LayerView& layer);
/// Throws LayerValidationException for axes that do not fit the input, InvalidArgumentException for quantization
/// parameters that make no sense.
backends::Prepared PrepareReduce(const ReshapeArgs& args, ReduceOperation operation,
                                 const std::vector<unsigned int>& axes);

} // namespace tenon::ref
