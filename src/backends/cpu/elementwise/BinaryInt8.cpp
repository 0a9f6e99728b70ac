// SPDX-License-Identifier: Apache-2.0
// Parameters of 8-bit sums, products, maximum, minimum and Prelu.
#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include "backends/cpu/elementwise/BinaryLoopChoiceInt8.hpp"
#include "backends/cpu/elementwise/BinaryLoopsInt8.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::QuantizeMultiplier;

bool IsQuantizedAlike(const TensorInfo& x, const TensorInfo& y)
{
    return x.GetQuantizationScale() == y.GetQuantizationScale() &&
           x.GetQuantizationOffset() == y.GetQuantizationOffset();
}

/// The parameters that all operations have.
BinaryInt8 StartNumbers(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                        backends::QuantizedRange range)
{
    const bool isSigned = a.GetDataType() != DataType::QAsymmU8;
    const int32_t offset = isSigned ? 128 : 0;
    BinaryInt8 numbers;
    numbers.m_SignXor = isSigned ? 0x80 : 0;
    numbers.m_ZeroA = a.GetQuantizationOffset() + offset;
    numbers.m_ZeroB = b.GetQuantizationOffset() + offset;
    numbers.m_ZeroOutput = output.GetQuantizationOffset();
    numbers.m_Min = static_cast<uint8_t>(range.m_Min + offset);
    numbers.m_Max = static_cast<uint8_t>(range.m_Max + offset);
    return numbers;
}

} // namespace

void BinaryInt8::RunTable(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count) const
{
    LookupTableInt8 all{};
    std::iota(all.begin(), all.end(), uint8_t{0});
    alignas(64) LookupTableInt8 table{};
    m_Loop(*this, all.data(), b, table.data(), table.size());
    m_LookUp(table, a, out, count);
}

bool HasBinaryInt8(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
{
    switch (operation)
    {
    case BinaryOperation::Add:
    case BinaryOperation::Sub:
    case BinaryOperation::SqDiff:
    case BinaryOperation::Mul: return true;
    case BinaryOperation::Maximum:
    case BinaryOperation::Minimum: return IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output);
    default: return false;
    }
}

BinaryInt8 MakeBinaryInt8(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                          backends::QuantizedRange range, bool isScalarB, bool swaps, size_t count)
{
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    BinaryInt8 numbers = StartNumbers(a, b, output, range);
    const float scaleA = a.GetQuantizationScale();
    const float scaleB = b.GetQuantizationScale();
    const float scaleOutput = output.GetQuantizationScale();
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[isScalarB ? 1 : 0];
        return numbers;
    }
    const bool squares = operation == BinaryOperation::SqDiff;
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    const double output64 = static_cast<double>(scaleOutput);
    numbers.m_NegatesB = operation != BinaryOperation::Add;
    numbers.m_A = QuantizeMultiplier(static_cast<double>(scaleA) / twiceMax);
    numbers.m_B = QuantizeMultiplier(static_cast<double>(scaleB) / twiceMax);
    numbers.m_Sum =
        QuantizeMultiplier(squares ? twiceMax * twiceMax / (double{1 << (2 * BinaryInt8::SquareShift)} * output64)
                                   : twiceMax / (double{1 << BinaryInt8::SumShift} * output64));
    numbers.m_Product =
        QuantizeMultiplier(static_cast<double>(scaleA * scaleB / scaleOutput)); // in float, as in TFLite
    double factorA = static_cast<double>(scaleA) / output64;
    double factorB = static_cast<double>(scaleB) / output64 * (numbers.m_NegatesB ? -1.0 : 1.0);
    if (swaps)
    {
        std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
        std::swap(numbers.m_A, numbers.m_B);
        std::swap(numbers.m_NegatesA, numbers.m_NegatesB);
        std::swap(factorA, factorB);
    }
    if (operation == BinaryOperation::Mul)
    {
        ChooseProduct(numbers, isScalarB, count);
    }
    else if (squares)
    {
        ChooseSquare(numbers, isScalarB, count);
    }
    else
    {
        ChooseSum(numbers, factorA, factorB, isScalarB, count);
    }
    return numbers;
}

BinaryInt8 MakePreluInt8(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isScalarB,
                         size_t count)
{
    BinaryInt8 numbers = StartNumbers(x, alpha, output, backends::GetTypeRange(output.GetDataType()));
    // Products of scales in float, as TFLite computes them.
    const float scale = output.GetQuantizationScale();
    numbers.m_A = QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() / scale));
    numbers.m_Product =
        QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() * alpha.GetQuantizationScale() / scale));
    ChoosePrelu(numbers, isScalarB, count);
    return numbers;
}

} // namespace tenon::cpu
