// SPDX-License-Identifier: Apache-2.0
// Activations, unary operations and requantization of 16-bit quantized tensors with zero points of 0: scaled and
// clamped by fixed-point multipliers, or interpolated in TFLite's tables of 513 entries. Called by Activation.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::cpu
{

/// Declines scales for which the vector loops have no table.
backends::Prepared MakeActivationInt16(const ReshapeArgs& args);

/// All operations except Sqrt and Rsqrt.
backends::Prepared MakeUnaryInt16(const ReshapeArgs& args);

} // namespace tenon::cpu
