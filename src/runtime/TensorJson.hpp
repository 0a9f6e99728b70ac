// SPDX-License-Identifier: Apache-2.0
// A tensor as a line of JSON. DebugRun prints it.
#pragma once

#include "graph/Layer.hpp"

#include <string>

namespace tenon
{

/// One line with layerGuid, layerName, outputSlot, type, shape, min, max and data, which is nested as the shape says.
/// Values are those that are stored, of quantized types the integers. What JSON has no number for is a string ("NaN",
/// "Infinity", "-Infinity"), a complex number a pair; min and max are null where no values are ordered.
std::string FormatTensorJson(const Layer& layer, unsigned int output, const TensorInfo& info, const void* memory);

} // namespace tenon
