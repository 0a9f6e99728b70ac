// SPDX-License-Identifier: Apache-2.0
// Loops of operations on two tensors of floats, BFloat16 or 32-bit integers, which give what the reference kernels give
// in every case: infinities, signed zeros and NaN too.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <tenon/Types.hpp>

#include <cstddef>

namespace tenon::cpu
{

/// The bounds of a fused activation, where there is one.
struct FloatBounds
{
    float m_Low = 0.0f;
    float m_High = 0.0f;
};

/// out[i] of a[i] and b[i]; one of them may be a single element. `out` may be a or b.
using NumberBinaryLoop = void (*)(const void* a, const void* b, void* out, size_t count, FloatBounds bounds);

/// The loop of an operation on Float32, BFloat16 or Signed32; null where there is none. `clamps`: results are clamped
/// to bounds.
NumberBinaryLoop FindNumberBinary(BinaryOperation operation, DataType type, Motion motion, bool clamps);

/// Prelu of floats: a, or a * b where a is below 0 or NaN.
NumberBinaryLoop FindPrelu(Motion motion);

/// Comparisons of Float32 or Signed32, whose results are bytes of 0 or 1; `out` is neither a nor b.
NumberBinaryLoop FindComparison(ComparisonOperation operation, DataType type, Motion motion);

} // namespace tenon::cpu
