// SPDX-License-Identifier: Apache-2.0
// What Reduce and Mean share: a mean is one of the reductions.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <vector>

namespace tenon::ref
{

/// The types that reductions take, in and out.
extern const backends::TypeRow ReduceTypes[2];

SupportResult CheckReduce(ReduceOperation operation, const LayerView& layer);
/// Shape inference has written the axes out, so that an empty list means none.
/// Throws LayerValidationException for axes that do not fit the input.
backends::Prepared PrepareReduce(const ReshapeArgs& args, ReduceOperation operation,
                                 const std::vector<unsigned int>& axes);

} // namespace tenon::ref
