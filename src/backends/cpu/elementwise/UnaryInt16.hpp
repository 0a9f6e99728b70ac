// SPDX-License-Identifier: Apache-2.0
// Layers of 16-bit quantized tensors that compute each element from its own: activations, unary operations and changes
// of the scale. Zero points are 0.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::cpu
{

/// Declines scales that the vectors have no table for.
backends::Prepared MakeShortActivation(const ReshapeArgs& args);

/// Any but Sqrt and Rsqrt.
backends::Prepared MakeShortUnary(const ReshapeArgs& args);

} // namespace tenon::cpu
