// SPDX-License-Identifier: Apache-2.0
// Loops of functions of one Float32 or BFloat16 and two parameters, and the function of an activation or unary
// operation. Functions that need arithmetic and square roots only give the
// reference kernels' results, except hard swish, whose division by six is a multiplication. The others are polynomials
// or rational functions with errors of a few units in the last place, equal on infinities and NaN; GELU below 0 has an
// absolute error of 7e-7 at most.
//
// Neighbours of a bfloat16 differ by 2^-8 of their value. Sigmoid and both Gelu use polynomials of few terms there,
// with an error of 2^-12: they give the nearest bfloat16 or, if the result is within that error of the middle between
// two, the other one. Gelu of -infinity is next to 0, its limit, and not NaN. All other functions are computed as for
// floats.
//
// Called by Activation.cpp, half/, recurrent/ and attention/.
#pragma once

#include <tenon/descriptors/Elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

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

/// out[i] = f(in[i]); `out` may be `in`.
using UnaryLoopBf16 = void (*)(const uint16_t* in, uint16_t* out, size_t count, float a, float b);

UnaryLoopBf16 FindUnaryLoopBf16(FloatFunction function);

FloatFunction ToFunction(const ActivationDescriptor& descriptor);
/// Empty for operations without a vector loop.
std::optional<FloatFunction> ToFunction(UnaryOperation operation);

} // namespace tenon::cpu
