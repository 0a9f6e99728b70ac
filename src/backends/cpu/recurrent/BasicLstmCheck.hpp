// SPDX-License-Identifier: Apache-2.0
// The check of the kernels of BasicLstm. Layers that it refuses run on the reference kernel.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/recurrent/GateWeights.hpp"

namespace tenon::cpu
{

/// Whether weights and bias are constant. Precondition: the reference kernel's check accepts the layer.
inline SupportResult CheckBasicLstm(const LayerView& layer)
{
    const TensorShape& weights = layer.GetInput(2).GetShape();
    if (!IsKnownMatrix(weights) || !IsConstantOf(layer, 2, weights) ||
        !IsConstantOf(layer, 3, TensorShape({weights[0]})))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not constant");
    }
    return CheckGateSize(layer, 2, 1);
}

} // namespace tenon::cpu
