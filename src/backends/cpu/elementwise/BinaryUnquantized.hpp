// SPDX-License-Identifier: Apache-2.0
// Loops of binary operations and comparisons on two tensors of Float32, BFloat16, Signed32 or Booleans:
// out[i] = f(a[i], b[i]), where one of the inputs may be one element. Results are the reference kernels' in all cases,
// infinities, signed zeros and NaN included. Called by ElementwiseBinary.cpp, LogicalBinary.cpp and AddN.cpp.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The bounds of a fused activation, if there is one.
struct FloatBounds
{
    float m_Low = 0.0f;
    float m_High = 0.0f;
};

/// out[i] = f(a[i], b[i]); one of the inputs may be a single element. `out` may be a or b.
using BinaryLoop = void (*)(const void* a, const void* b, void* out, size_t count, FloatBounds bounds);

/// The loop of an operation on Float32, BFloat16 or Signed32; null if there is none. `clamps`: results are clamped to
/// the bounds.
BinaryLoop FindBinaryLoop(BinaryOperation operation, DataType type, OperandForms forms, bool clamps);

/// Prelu of floats: a * b if a is below 0 or NaN, else a.
BinaryLoop FindPrelu(OperandForms forms);

/// Comparisons of Float32 or Signed32. Results are bytes of 0 or 1; `out` is neither a nor b.
BinaryLoop FindComparison(ComparisonOperation operation, DataType type, OperandForms forms);

/// Logical operations on Booleans, which may hold any bytes. out[i] = f(a[i], b[i]), 0 or 1; one of the inputs may be a
/// single element. `out` may be a or b.
using LogicalLoop = void (*)(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count);

LogicalLoop FindLogical(LogicalBinaryOperation operation, OperandForms forms);

} // namespace tenon::cpu
