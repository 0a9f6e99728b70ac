// SPDX-License-Identifier: Apache-2.0
// The quantized half of Activation, which is its only caller.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// Parameters that go with the scales and zero points of input and output, which are known to be there.
SupportResult CheckQuantizedActivation(const LayerView& layer);

/// For 8- and 16-bit quantized tensors.
backends::Prepared PrepareQuantizedActivation(const ReshapeArgs& args);

} // namespace tenon::ref
