// SPDX-License-Identifier: Apache-2.0
// What all kernels of sums of products ask of the weights of their layers.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <string>

namespace tenon::cpu
{

/// Weights of `rank` known dimensions, with elements.
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
