// SPDX-License-Identifier: Apache-2.0
// Elementwise layers of 16-bit quantized tensors without zero points, with the results of TFLite's integer arithmetic.
//
// BinaryInt16: Add, Sub, Mul, Maximum and Minimum.
//   sum:     out = M_r * ((a << 15) / 2 +/- M_l * (b << 15))      a: the input with the larger scale s
//   product: out = M_p * (a * b)
// Both inputs of a sum are brought to the scale 2 s. The multiplier of the input with the larger scale is one half, so
// a shift replaces one of three 64-bit multiplications. Called by ElementwiseBinary.cpp.
//
// UnaryInt16.cpp: activations and unary operations, scaled and clamped by fixed-point multipliers, or interpolated in
// tables of 513 entries. Called by Activation.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The parameters and the loop of one operation.
struct BinaryInt16
{
    static constexpr int SumShift = 15;

    backends::QuantizedMultiplier m_Lesser; ///< sums: the multiplier of the input with the smaller scale
    backends::QuantizedMultiplier m_Result; ///< the multiplier of the sum or the product
    int m_ShiftA = 0;                       ///< right shifts of sums whose scales are powers of two
    int m_ShiftB = 0;
    int16_t m_Min = 0; ///< the bounds of a fused activation
    int16_t m_Max = 0;

    /// out[i] = f(a[i], b[i]), or f(a[i], b[0]). `out` may be a or b.
    using Loop = void (*)(const BinaryInt16& numbers, const int16_t* a, const int16_t* b, int16_t* out, size_t count);
    Loop m_Loop = nullptr;

    void Run(const int16_t* a, const int16_t* b, int16_t* out, size_t count) const { m_Loop(*this, a, b, out, count); }
};

/// True for Add, Sub and Mul; for Maximum and Minimum if all tensors have the same quantization.
bool HasBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output);

/// The parameters and the loop of an operation. `range`: the bounds of the stored output values. `isScalarB`: the
/// second input of the loop is one element in each run. `swaps`: the first input of the loop is b.
BinaryInt16 MakeBinaryInt16(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b,
                            const TensorInfo& output, backends::QuantizedRange range, bool isScalarB, bool swaps);

/// An Activation. Declines scales for which the vector loops have no table.
backends::Prepared MakeActivationInt16(const ReshapeArgs& args);

/// An ElementwiseUnary: all operations except Sqrt and Rsqrt.
backends::Prepared MakeUnaryInt16(const ReshapeArgs& args);

} // namespace tenon::cpu
