// SPDX-License-Identifier: Apache-2.0
// The number of GEMM rows as far as it is known when weights are packed, before the input shapes of a run are known.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <limits>

namespace tenon::cpu
{

/// Rows of `columns` elements in output 0; SIZE_MAX where the shape is not known yet.
inline size_t GetKnownRows(const LayerView& layer, size_t columns)
{
    const TensorShape& output = layer.GetOutput(0).GetShape();
    return output.AreAllDimensionsSpecified() && columns != 0 ? output.GetNumElements() / columns
                                                              : std::numeric_limits<size_t>::max();
}

} // namespace tenon::cpu
