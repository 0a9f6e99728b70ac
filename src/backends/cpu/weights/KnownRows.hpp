// SPDX-License-Identifier: Apache-2.0
// How many rows a product will have, asked when its weights are packed.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>

#include <cstddef>
#include <limits>

namespace tenon::cpu
{

/// How many rows of `columns` elements output 0 has; the most that there are where that is not known yet.
inline size_t GetKnownRows(const LayerView& layer, size_t columns)
{
    const TensorShape& output = layer.GetOutput(0).GetShape();
    return output.AreAllDimensionsSpecified() && columns != 0 ? output.GetNumElements() / columns
                                                              : std::numeric_limits<size_t>::max();
}

} // namespace tenon::cpu
