// SPDX-License-Identifier: Apache-2.0
// Requirements of all kernels with weights.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <string>

namespace tenon::cpu
{

/// Weights have `rank` known dimensions and are not empty.
inline SupportResult CheckWeightsShape(const LayerView& layer, unsigned int rank)
{
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (!weights.AreAllDimensionsSpecified() || weights.GetNumDimensions() != rank || weights.GetNumElements64() == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the weights are " + weights.ToString() +
                                                                         "; they must have " + std::to_string(rank) +
                                                                         " dimensions with elements");
    }
    return SupportResult::Yes();
}

} // namespace tenon::cpu
