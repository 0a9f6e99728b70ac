// SPDX-License-Identifier: Apache-2.0
// The quantized half of Activation, which is its only caller.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// For 8- and 16-bit quantized tensors. Throws InvalidArgumentException for quantization parameters that make no sense.
backends::Prepared PrepareQuantizedActivation(const ReshapeArgs& args);

} // namespace tenon::ref
