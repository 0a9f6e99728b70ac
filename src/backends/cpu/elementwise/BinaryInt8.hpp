// SPDX-License-Identifier: Apache-2.0
// Add, Sub, SqDiff, Mul, Maximum, Minimum and Prelu of 8-bit quantized tensors, with the bytes of TFLite's integer
// arithmetic:
//   sum:     out = zo + M_s * (M_a * ((a - za) << 20) + M_b * ((b - zb) << 20))
//   square:  out = zo + M_s * (M_a * ((a - za) << 7) - M_b * ((b - zb) << 7))^2
//   product: out = zo + M_p * ((a - za) * (b - zb))
//   Prelu:   out = zo + (a >= za ? M_a * (a - za) : M_p * ((a - za) * (b - zb)))
// where M are rounding fixed-point multipliers (backends::QuantizedMultiplier), which take 64-bit products. With
// RequantizationMode::FloatHalfEven, Div is there, too, and floats define the bytes:
//   out = zo + nearest(operation(scale_a * (a - za), scale_b * (b - zb)) / scale_out)
//
// One multiplication and addition in float takes a third of the time, and sums by tables (SumTablesInt8.hpp) six tenths
// of that, but rounding errors may change a result. There are only 65,536 pairs of bytes: when a layer is prepared, all
// of them are computed by both loops, and the faster loop is taken if it agrees on each pair. If one input is a single
// element for a long run, a function of one byte remains: the run makes a table of its 256 results. Called by
// ElementwiseBinary.cpp.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

struct SumTablesInt8;

/// The parameters and the loop of one operation. Loops read bytes as uint8; bytes of signed types are biased by 128
/// (XOR 0x80).
struct BinaryInt8
{
    uint8_t m_SignXor = 0;    ///< 0x80 for signed types: XOR with it biases their bytes by 128
    int32_t m_ZeroA = 0;      ///< the zero point of a, biased like the bytes of the loops
    int32_t m_ZeroB = 0;      ///< likewise, of b
    int32_t m_ZeroOutput = 0; ///< without the bias: integer results wrap where the reference's do
    uint8_t m_Min = 0;        ///< the bounds of a fused activation, of results that are still biased by 128
    uint8_t m_Max = 255;
    bool IsClamped() const { return m_Min != 0 || m_Max != 255; }
    bool m_NegatesA = false; ///< integer loops: negates the scaled a
    bool m_NegatesB = false;

    static constexpr int SumShift = 20;
    static constexpr int SquareShift = 7;

    // Integer loops. a and b are differences from the zero points.
    //   sum:     m_Sum * (m_A * (a << SumShift) + m_B * (b << SumShift))
    //   square:  m_Sum * (m_A * (a << SquareShift) + m_B * (b << SquareShift))^2
    //   product: m_Product * (a * b)
    //   Prelu:   a >= 0 ? m_A * a : m_Product * (a * b)
    backends::QuantizedMultiplier m_A;
    backends::QuantizedMultiplier m_B;
    backends::QuantizedMultiplier m_Sum;
    backends::QuantizedMultiplier m_Product;

    // The real number of a byte is m_ScaleA * (a - m_ZeroA). A negative scale: the input is subtracted.
    float m_ScaleA = 0.0f;
    float m_ScaleB = 0.0f;
    float m_ScaleOutput = 0.0f;

    // Float sums: round(m_FactorA * a + m_FactorB * b + m_Offset), where a and b are the bytes that the loops read.
    float m_FactorA = 0.0f;
    float m_FactorB = 0.0f;
    float m_Offset = 0.0f;

    /// The float form of a multiplier: round(m_Factor * x + m_Offset). Where x is negative, the bits of the offset are
    /// XORed with m_OffsetXor. m_FloatA, m_FloatB and m_FloatProduct replace m_A, m_B and m_Product; for squares
    /// m_FloatProduct replaces m_Sum.
    struct FloatMultiplier
    {
        float m_Factor = 0.0f;
        float m_Offset = 0.0f;
        int32_t m_OffsetXor = 0; ///< has bits among the upper 16 only
    };
    FloatMultiplier m_FloatA;
    FloatMultiplier m_FloatB;
    FloatMultiplier m_FloatProduct;
    /// Replaces m_FloatA in table loops: the result, still biased by 128, for each byte that the loops read.
    std::shared_ptr<const LookupTableInt8> m_PositiveTable;

    std::shared_ptr<const SumTablesInt8> m_Tables; ///< sums by tables

    /// out[i] = f(a[i], b[i]), or f(a[i], b[0]). `out` may be a or b.
    using Loop = void (*)(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count);
    /// Fills [256][256]: the results of all pairs of stored bytes, one row for each byte of a.
    using AllPairs = void (*)(const BinaryInt8& numbers, uint8_t* results);
    Loop m_Loop = nullptr;

    /// The lookup in a table of all results. Null unless b is one element and the lookup is faster.
    LookupFunction m_LookUp = nullptr;

    void Run(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const
    {
        constexpr size_t WorthATable = 1024; // elements
        if (count >= WorthATable && m_LookUp != nullptr)
        {
            RunTable(a, b, out, count);
            return;
        }
        m_Loop(*this, a, b, out, count);
    }

private:
    void RunTable(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const;
};

/// True for Add, Sub, SqDiff and Mul; for Maximum and Minimum if all tensors have the same quantization. In real
/// numbers (RequantizationMode::FloatHalfEven) for all of them and Div.
bool HasBinaryInt8(const ElementwiseBinaryDescriptor& descriptor, const TensorInfo& a, const TensorInfo& b,
                   const TensorInfo& output);

/// The parameters and the loop of an operation on tensors with one scale each. `range`: the bounds of the stored output
/// values. `isScalarB`: the second input of the loop is one element in each run. `swaps`: the first input of the loop
/// is b. `count`: the number of output elements; few elements are not worth a comparison of all pairs.
BinaryInt8 MakeBinaryInt8(const ElementwiseBinaryDescriptor& descriptor, const TensorInfo& a, const TensorInfo& b,
                          const TensorInfo& output, backends::QuantizedRange range, bool isScalarB, bool swaps,
                          size_t count);

/// Prelu; the slopes are the second input.
BinaryInt8 MakePreluInt8(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isScalarB,
                         size_t count);

} // namespace tenon::cpu
