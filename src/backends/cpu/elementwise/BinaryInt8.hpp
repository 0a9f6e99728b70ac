// SPDX-License-Identifier: Apache-2.0
// Sums, differences and their squares, products, extremes and Prelu of 8-bit quantized tensors, the bytes of TFLite's
// integer arithmetic.
//
// That arithmetic takes 64-bit multiplications. The same in float is three times as fast, and sums by tables (see
// SumTablesInt8.hpp) take six tenths of its time, but rounding errors may tip a result over. There are only 65,536
// pairs of bytes, though: when a layer is prepared all of them are computed in both ways, and the faster loop is taken
// if it agrees on each. Of an input that stands still for long there are only 256: a run makes a table of them.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/cpu/elementwise/LookupTableInt8.hpp"

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

struct ByteSumTables;

/// The numbers of one operation. Loops take bytes as unsigned: to those of signed types 128 is added.
struct ByteBinary
{
    uint8_t m_Flip = 0;       ///< 0x80 for signed types: flips their bytes, and is what that adds
    int32_t m_ZeroA = 0;      ///< of what the loops read
    int32_t m_ZeroB = 0;      ///< likewise
    int32_t m_ZeroOutput = 0; ///< of the type itself: results in integers wrap where the reference's do
    uint8_t m_Min = 0;        ///< of what the loops write before they flip it: what a fused activation leaves
    uint8_t m_Max = 255;
    bool IsClamped() const { return m_Min != 0 || m_Max != 255; }
    bool m_NegatesA = false; ///< in integers
    bool m_NegatesB = false;

    static constexpr int SumShift = 20;
    static constexpr int SquareShift = 7;

    // Sums in integers: m_Sum * (m_A * (a << SumShift) + m_B * (b << SumShift)). Squares of differences: m_Sum * the
    // square of what is in brackets, with SquareShift. Products: m_Product * (a * b). Prelu: m_A * a
    // where a is not negative, else m_Product * (a * b).
    backends::QuantizedMultiplier m_A;
    backends::QuantizedMultiplier m_B;
    backends::QuantizedMultiplier m_Sum;
    backends::QuantizedMultiplier m_Product;

    // Sums in float: round(m_FactorA * a + m_FactorB * b + m_Offset) of what the loops read.
    float m_FactorA = 0.0f;
    float m_FactorB = 0.0f;
    float m_Offset = 0.0f;

    /// A multiplier in float: round(m_Factor * x + m_Offset), the bits of the offset with those of m_OffsetFlip turned
    /// over where x is negative. In the places of m_A, m_B and m_Product; of squares m_FloatProduct is in that of
    /// m_Sum.
    struct FloatMultiplier
    {
        float m_Factor = 0.0f;
        float m_Offset = 0.0f;
        int32_t m_OffsetFlip = 0; ///< among the upper 16 bits
    };
    FloatMultiplier m_FloatA;
    FloatMultiplier m_FloatB;
    FloatMultiplier m_FloatProduct;
    /// In the place of m_FloatA by tables: what the loops write before they flip it, by what they read.
    std::shared_ptr<const ByteTable> m_PositiveTable;

    std::shared_ptr<const ByteSumTables> m_Tables; ///< sums by tables

    /// out[i] of a[i] and b[i], or of a[i] and b[0]. `out` may be a or b.
    using Loop = void (*)(const ByteBinary& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count);
    /// [256][256] results of all pairs of stored bytes, row by row of the first one.
    using AllPairs = void (*)(const ByteBinary& numbers, uint8_t* results);
    Loop m_Loop = nullptr;

    /// What reads a table of all results, where b stands still and that is faster; else null.
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

/// Whether MakeByteBinary has it: Add, Sub, SqDiff, Mul; Maximum and Minimum where all tensors are quantized alike.
bool HasByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output);

/// The numbers and the loop of an operation on tensors with one scale each, `range` being what is left of the output's
/// stored values. `isFixed`: the second input stands still in a run. `swaps`: the first input of the loop is b.
/// `count`: of the output's elements; few are not worth a comparison of all pairs.
ByteBinary MakeByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                          backends::QuantizedRange range, bool isFixed, bool swaps, size_t count);

/// Prelu, with the slopes as the second input.
ByteBinary MakeBytePrelu(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isFixed,
                         size_t count);

} // namespace tenon::cpu
