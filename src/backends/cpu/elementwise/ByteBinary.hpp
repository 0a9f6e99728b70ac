// SPDX-License-Identifier: Apache-2.0
// Sums, differences, products, extremes and Prelu of 8-bit quantized tensors, the bytes of TFLite's integer arithmetic.
//
// That arithmetic takes 64-bit multiplications. The same in float is three times as fast, but its rounding errors may
// tip a result over. There are only 65,536 pairs of bytes, though: when a layer is prepared all of them are computed in
// both ways, and the float loop is taken if it agrees on each.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The numbers of one operation. Bytes are unsigned here: of signed types 128 is added to values and zero points.
struct ByteBinary
{
    uint8_t m_Flip = 0; ///< 0x80 for signed types
    int32_t m_ZeroA = 0;
    int32_t m_ZeroB = 0;
    int32_t m_ZeroOutput = 0;
    uint8_t m_Min = 0; ///< of what a fused activation leaves
    uint8_t m_Max = 255;
    bool m_NegatesA = false; ///< in integers
    bool m_NegatesB = false;

    // In integers: m_Sum * (m_A * (a << 20) + m_B * (b << 20)), or m_Sum * (a * b); for Prelu m_A * a where a is not
    // negative, else m_Sum * (a * b).
    backends::QuantizedMultiplier m_A;
    backends::QuantizedMultiplier m_B;
    backends::QuantizedMultiplier m_Sum;

    // In float: round(m_ScaleA * a + m_ScaleB * b + m_Offset) of stored values, or round(m_ScaleB * round(m_ScaleA * (a
    // - zero) * (b - zero) + m_Offset)).
    float m_ScaleA = 0.0f;
    float m_ScaleB = 0.0f;
    float m_Offset = 0.0f;

    /// out[i] of a[i] and b[i], or of a[i] and b[0]. `out` may be a or b.
    using Loop = void (*)(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count);
    Loop m_Loop = nullptr;

    void Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const { m_Loop(*this, a, b, out, count); }
};

/// Whether MakeByteBinary has it: Add, Sub, Mul; Maximum and Minimum where all tensors are quantized alike.
bool HasByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output);

/// The numbers and the loop of an operation on tensors with one scale each, `range` being what is left of the output's
/// stored values. `isFixed`: the second input stands still in a run. `swaps`: the first input of the loop is b.
/// `count`: of the output's elements; few are not worth a comparison of all pairs.
ByteBinary MakeByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                          backends::QuantizedRange range, bool isFixed, bool swaps, size_t count);

/// Prelu, with the slopes as the second input.
ByteBinary MakeBytePrelu(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isFixed);

} // namespace tenon::cpu
