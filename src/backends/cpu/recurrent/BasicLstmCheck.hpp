// SPDX-License-Identifier: Apache-2.0
// What the kernels of BasicLstm ask of their layers. What they refuse the reference kernel runs.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/recurrent/GateWeights.hpp"

namespace tenon::cpu
{

/// Of what the reference kernel's check takes: whether weights and bias are constant.
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
