// SPDX-License-Identifier: Apache-2.0
// What the kernels of BasicLstm ask of their layers. What they refuse the reference kernel runs.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/kernels/GateWeights8.hpp"
#include "backends/reference/CpuRefBackend.hpp"

namespace tenon::cpu
{

/// What the reference kernel's check takes, with constant weights and bias.
inline SupportResult CheckBasicLstm(const LayerView& layer)
{
    const SupportResult result = ref::FindKernel(LayerType::BasicLstm)->m_Check(layer);
    if (!result)
    {
        return result;
    }
    const TensorShape& weights = layer.GetInput(2).GetShape();
    if (!IsKnownMatrix(weights) || !IsConstantOf(layer, 2, weights) ||
        !IsConstantOf(layer, 3, TensorShape({weights[0]})))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are not constant");
    }
    return CheckGateSize(layer, 2, 1);
}

} // namespace tenon::cpu
