// SPDX-License-Identifier: Apache-2.0
// Loops of logical operations on two tensors of Booleans, which may hold any bytes. Called by LogicalBinary.
#pragma once

#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[i] = f(a[i], b[i]), 0 or 1; one of the inputs may be a single element. `out` may be a or b.
using LogicalLoop = void (*)(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count);

LogicalLoop FindLogical(LogicalBinaryOperation operation, OperandForms forms);

} // namespace tenon::cpu
