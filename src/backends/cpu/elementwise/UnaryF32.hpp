// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one float and two parameters. Functions that need arithmetic and square roots only give the
// reference kernels' results, except hard swish, whose division by six is a multiplication. The others are polynomials
// or rational functions with errors of a few units in the last place, equal on infinities and NaN; GELU below 0 has an
// absolute error of 7e-7 at most. Called by Activation.cpp, half/, recurrent/ and attention/.
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
    LeakyReLu, ///< x, and a * x below 0
    Abs,
    Sqrt,
    Square,
    Elu, ///< x, and a * (exp(x) - 1) below 0
    HardSwish,
    GeluTanH, ///< the approximation with tanh
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
    Round, ///< ties to even
    Sign
};

/// out[i] = f(in[i]); `out` may be `in`. The list of functions says what their parameters a and b are.
using UnaryLoopF32 = void (*)(const float* in, float* out, size_t count, float a, float b);

UnaryLoopF32 FindUnaryLoopF32(FloatFunction function);

} // namespace tenon::cpu
