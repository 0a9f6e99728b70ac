// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one bfloat16. Between two of them lies 2^-8 of the number: for Sigmoid and both Gelu
// polynomials of few terms, which are off by 2^-12, give the nearest one or, where the result lies between two within
// that, the other; of -infinity Gelu is next to 0, its limit, and not NaN. All else is computed as floats are.
#pragma once

#include "backends/cpu/elementwise/UnaryF32.hpp"

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// out[i] = f(in[i]); `out` may be `in`.
using Bf16Loop = void (*)(const uint16_t* in, uint16_t* out, size_t count, float a, float b);

Bf16Loop FindBf16Loop(FloatFunction function);

} // namespace tenon::cpu
