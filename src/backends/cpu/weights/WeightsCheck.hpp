// SPDX-License-Identifier: Apache-2.0
// Requirements of all kernels with weights, and the number of rows that they know when they pack them.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
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

/// Refuses layers whose packed weights take more than four times the weights plus 4 MiB; the reference kernels run
/// them. Packing pads columns to whole vectors and depths to whole groups, so a matrix of one column or one row can
/// take 64 times its own memory.
inline SupportResult CheckPackedSize(uint64_t packedBytes, uint64_t weightBytes)
{
    constexpr uint64_t MaxRatio = 4;
    constexpr uint64_t AlwaysAllowed = uint64_t{4} << 20;
    const bool fits =
        packedBytes <= MaxRatio * weightBytes + AlwaysAllowed && packedBytes <= std::numeric_limits<size_t>::max() / 2;
    return fits ? SupportResult::Yes()
                : SupportResult::No(SupportCode::UnsupportedParameters,
                                    "its packed weights would take many times the memory of the weights");
}

/// The number of GEMM rows as far as it is known when weights are packed: rows of `columns` elements in output 0;
/// SIZE_MAX where the shape is not known yet.
inline size_t GetKnownRows(const LayerView& layer, size_t columns)
{
    const TensorShape& output = layer.GetOutput(0).GetShape();
    return output.AreAllDimensionsSpecified() && columns != 0 ? output.GetNumElements() / columns
                                                              : std::numeric_limits<size_t>::max();
}

} // namespace tenon::cpu
