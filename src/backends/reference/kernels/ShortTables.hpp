// SPDX-License-Identifier: Apache-2.0
// The interpolated tables of functions on 16-bit quantized tensors, for CpuAcc, which looks many elements up at once.
#pragma once

#include "backends/reference/LookupTable.hpp"

#include <tenon/backend/IWorkload.hpp>

namespace tenon::ref
{

/// Of an Activation that is computed through real numbers: neither a clamp or a LeakyReLu, nor in SigmoidTable.
InterpolatedTable MakeShortActivationTable(const ReshapeArgs& args);

/// Of any ElementwiseUnary but Abs, Neg and Sqrt.
InterpolatedTable MakeShortUnaryTable(const ReshapeArgs& args);

} // namespace tenon::ref
