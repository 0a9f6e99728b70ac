// SPDX-License-Identifier: Apache-2.0
// Sums, differences, products and extremes of 16-bit quantized tensors without zero points, the numbers of TFLite's
// integer arithmetic.
//
// That arithmetic brings both inputs of a sum to twice the larger scale and 15 more bits. For the input that has this
// scale the multiplication is a shift, so a sum takes two multiplications of 64 bits in place of three.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The numbers of one operation.
struct ShortBinary
{
    static constexpr int SumShift = 15;

    backends::QuantizedMultiplier m_Lesser; ///< sums: of the input with the lesser scale
    backends::QuantizedMultiplier m_Result; ///< of the sum or the product
    int m_ShiftA = 0;                       ///< sums whose scales are powers of two: to the right
    int m_ShiftB = 0;
    int16_t m_Min = 0; ///< what a fused activation leaves
    int16_t m_Max = 0;

    /// out[i] of a[i] and b[i], or of a[i] and b[0]. `out` may be a or b.
    using Loop = void (*)(const ShortBinary& numbers, const int16_t* a, const int16_t* b, int16_t* out, size_t count);
    Loop m_Loop = nullptr;

    void Run(const int16_t* a, const int16_t* b, int16_t* out, size_t count) const { m_Loop(*this, a, b, out, count); }
};

/// Whether MakeShortBinary has it: Add, Sub, Mul; Maximum and Minimum where all tensors are quantized alike.
bool HasShortBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output);

/// The numbers and the loop of an operation, `range` being what is left of the output's stored values. `isFixed`: the
/// second input of the loop stands still in a run. `swaps`: the first input of the loop is b.
ShortBinary MakeShortBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b,
                            const TensorInfo& output, backends::QuantizedRange range, bool isFixed, bool swaps);

} // namespace tenon::cpu
