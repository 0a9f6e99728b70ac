// SPDX-License-Identifier: Apache-2.0
// What the float kernels of sums of products ask of their layers. What they refuse other kernels run.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <string>

namespace tenon::cpu
{

/// data, weights, bias -> output
constexpr backends::TypeRow FloatTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

/// Constant weights of `rank` known dimensions.
inline SupportResult CheckFloatWeights(const LayerView& layer, unsigned int rank)
{
    if (!layer.HasInput(1) || !layer.IsConstant(1))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the weights are not constant");
    }
    const TensorShape& weights = layer.GetInput(1).GetShape();
    if (!weights.AreAllDimensionsSpecified() || weights.GetNumDimensions() != rank || weights.GetNumElements64() == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the weights are " + weights.ToString() +
                                                                         "; they must have " + std::to_string(rank) +
                                                                         " dimensions with elements");
    }
    return SupportResult::Yes();
}

/// How many rows of `columns` elements output 0 has; `unknown` where that is not known yet.
inline size_t GetKnownRows(const LayerView& layer, size_t columns, size_t unknown)
{
    const TensorShape& output = layer.GetOutput(0).GetShape();
    return output.AreAllDimensionsSpecified() && columns != 0 ? output.GetNumElements() / columns : unknown;
}

} // namespace tenon::cpu
