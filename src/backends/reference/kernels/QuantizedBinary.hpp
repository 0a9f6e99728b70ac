// SPDX-License-Identifier: Apache-2.0
// The quantized half of ElementwiseBinary, which is its only caller.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// Whether the operation is there for inputs of the quantized type `input` and outputs of type `output`.
SupportResult CheckQuantizedBinary(BinaryOperation operation, const LayerView& layer);

/// Throws InvalidArgumentException for quantization parameters that make no sense.
backends::Prepared PrepareQuantizedBinary(const ReshapeArgs& args, BinaryOperation operation);

} // namespace tenon::ref
