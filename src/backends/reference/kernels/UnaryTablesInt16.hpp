// SPDX-License-Identifier: Apache-2.0
// The interpolated tables of functions on 16-bit quantized tensors, for CpuAcc, which looks up many elements at once.
#pragma once

#include "backends/reference/LookupTable.hpp"

#include <tenon/backend/IWorkload.hpp>

namespace tenon::ref
{

/// The table of the Activation Gelu.
InterpolatedTable MakeGeluTableInt16(const ReshapeArgs& args);

/// The table of the ElementwiseUnary Exp, Log or Rsqrt.
InterpolatedTable MakeUnaryTableInt16(const ReshapeArgs& args);

} // namespace tenon::ref
