// SPDX-License-Identifier: Apache-2.0
// Folds y * s[c] + t[c] into the convolution or product that makes y: weights' = weights * s[c], bias' = bias * s[c] +
// t[c], for each output channel c. Computed in double, stored as Float32. Used by FoldBatchNormalization and
// FoldScaleShift.
#pragma once

#include "optimizer/rewriting/Patterns.hpp"

#include <optional>
#include <vector>

namespace tenon
{

/// How many channels the layer gives, its last dimension or that of the layout, if it is a Convolution2d,
/// DepthwiseConvolution2d or FullyConnected of Float32 whose weights, and bias if it has one, are constant, and whose
/// output has one reader.
std::optional<unsigned int> GetFoldableChannels(const Layer& layer);

/// Changes the layer so that channel c of its output becomes y * scales[c] + shifts[c]. `layer` is one of
/// GetFoldableChannels. Gives the layer that then computes the output: `layer`, or where that has no slot for a bias a
/// new one in its place, `layer` being left for the caller to remove. Null, and the graph unchanged, where the new
/// constants exceed the budget, would not be finite, or would lose digits as subnormal numbers; the budget is taken by
/// then in the last two cases.
Layer* ScaleOutput(Graph& graph, Layer& layer, const std::vector<double>& scales, const std::vector<double>& shifts,
                   ConstantBudget& budget);

} // namespace tenon
