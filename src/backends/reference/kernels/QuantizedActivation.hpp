// SPDX-License-Identifier: Apache-2.0
// The quantized half of Activation, which is its only caller.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// Checks the parameters against the scales and zero points of input and output, which must have them.
SupportResult CheckQuantizedActivation(const LayerView& layer);

/// Prepares layers with 8- and 16-bit quantized tensors.
backends::Prepared PrepareQuantizedActivation(const ReshapeArgs& args);

} // namespace tenon::ref
