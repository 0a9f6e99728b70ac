// SPDX-License-Identifier: Apache-2.0
// A tensor as a line of JSON. DebugRun prints it.
#pragma once

#include "graph/Layer.hpp"

#include <string>

namespace tenon
{

/// One line with layerGuid, layerName, outputSlot, type, shape, min, max and data, which is nested as the shape says.
/// Values are the stored ones, for quantized types the integers. Values without a JSON number are strings ("NaN",
/// "Infinity", "-Infinity"); a complex number is a pair. min and max are null if no values are ordered.
std::string FormatTensorJson(const Layer& layer, unsigned int output, const TensorInfo& info, const void* memory);

} // namespace tenon
