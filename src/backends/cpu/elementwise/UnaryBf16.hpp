// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one bfloat16, whose neighbours differ by 2^-8 of their value. Sigmoid and both Gelu use
// polynomials of few terms, with an error of 2^-12: they give the nearest bfloat16 or, if the result is within that
// error of the middle between two, the other one. Gelu of -infinity is next to 0, its limit, and not NaN. All other
// functions are computed as for floats.
#pragma once

#include "backends/cpu/elementwise/UnaryF32.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[i] = f(in[i]); `out` may be `in`.
using UnaryLoopBf16 = void (*)(const uint16_t* in, uint16_t* out, size_t count, float a, float b);

UnaryLoopBf16 FindUnaryLoopBf16(FloatFunction function);

} // namespace tenon::cpu
