// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one float. What takes arithmetic and square roots only gives what the reference kernels give,
// but for hard swish, whose sixth is a factor. The others are polynomials, or ratios of them, that are off by a few
// units in the last place, and agree on infinities and NaN; GELU, which is small below 0, is off by 7e-7 at most there.
#pragma once

#include <cstddef>

namespace tenon::cpu
{

enum class FloatFunction
{
    Sigmoid,
    TanH,
    ScaledTanH, ///< a * tanh(b * x)
    Linear,     ///< a * x + b
    ReLu,
    BoundedReLu, ///< [b, a]
    SoftReLu,
    LeakyReLu, ///< a * x below 0
    Abs,
    Sqrt,
    Square,
    Elu, ///< a * (exp(x) - 1) below 0
    HardSwish,
    GeluTanH, ///< by its approximation with tanh
    Gelu,
    Swish, ///< x / (1 + exp(-a * x))
    Mish,
    Negate,
    InverseSqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Erf,
    Ceil,
    Floor,
    Round, ///< halves to even
    Sign
};

/// out[i] = f(in[i]); `out` may be `in`. What a and b are is said with the functions that have them.
using FloatLoop = void (*)(const float* in, float* out, size_t count, float a, float b);

FloatLoop FindFloatLoop(FloatFunction function);

} // namespace tenon::cpu
