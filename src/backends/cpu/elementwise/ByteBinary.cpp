// SPDX-License-Identifier: Apache-2.0
// The numbers of quantized sums, products and extremes, and the choice between loops in integers, in floats and by
// tables.
#include "backends/cpu/elementwise/ByteBinary.hpp"

#include "backends/cpu/elementwise/ByteBinaryLoops.hpp"
#include "backends/cpu/elementwise/BytePairs.hpp"
#include "backends/cpu/elementwise/ByteSumTables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

/// Fewer elements than this are done before all pairs have been compared.
constexpr size_t WorthwhileCount = 4096;

/// Tries the float loop with these numbers, set(numbers of a try), until it agrees with the exact one on all pairs.
template <typename Tries, typename F>
void TryFloats(ByteBinary& numbers, const BytePairs& pairs, const ByteBinary::Loop (&fast)[2], bool isFixed,
               const Tries& tries, const F& set)
{
    for (const auto& numbersOfTry : tries)
    {
        set(numbersOfTry);
        if (pairs.Agrees(numbers, fast[0]))
        {
            numbers.m_Loop = fast[isFixed ? 1 : 0];
            return;
        }
    }
}

// Halves are rounded away from zero in integers, to even in float and up by tables: a little more of everything settles
// most of them, and another rounding of the factors the cases where an error of the last bit tips a result over.
constexpr double Nudges[] = {1.0,           1.0 + 0x1p-22, 1.0 - 0x1p-23, 1.0 + 0x1p-21,
                             1.0 + 0x1p-23, 1.0 - 0x1p-22, 1.0 + 0x1p-20};
// Where factors are simple fractions many sums are halves, and no others lie near them: more than the rounding of
// the larger terms is needed, and does no harm.
constexpr double LargeNudges[] = {1.0 + 0x1p-18, 1.0 + 0x1p-16, 1.0 + 0x1p-14};

/// Whether tables agree with the exact sums, of these real scales, on all pairs.
bool TryTables(ByteBinary& numbers, const BytePairs& pairs, double scaleA, double scaleB)
{
    const bool swaps = scaleB > scaleA;
    const ByteBinary::Loop loop = GetByteSumLoop(numbers.m_Flip != 0);
    if (loop == nullptr || std::abs(swaps ? scaleA : scaleB) > 1.0) // more steps than there are bytes
    {
        return false;
    }
    const auto tables = std::make_shared<ByteSumTables>();
    tables->m_Swaps = swaps;
    numbers.m_Tables = tables;
    const double zero = numbers.m_ZeroOutput + numbers.m_Flip + 0.5;
    const auto agrees = [&](double nudge)
    {
        std::array<double, ByteSumTables::Values> a{};
        std::array<double, ByteSumTables::Values> b{};
        for (int i = 0; i < static_cast<int>(ByteSumTables::Values); ++i)
        {
            const auto at = static_cast<size_t>(i);
            a[at] = scaleA * nudge * (i - numbers.m_ZeroA) + (swaps ? zero : 0.0);
            b[at] = scaleB * nudge * (i - numbers.m_ZeroB) + (swaps ? 0.0 : zero);
        }
        return FillByteSumTables(swaps ? b : a, swaps ? a : b, numbers.m_Flip, *tables) && pairs.Agrees(numbers, loop);
    };
    if (std::any_of(std::begin(Nudges), std::end(Nudges), agrees) ||
        std::any_of(std::begin(LargeNudges), std::end(LargeNudges), agrees))
    {
        numbers.m_Loop = loop;
        return true;
    }
    numbers.m_Tables = nullptr;
    return false;
}

/// For sums whose real scales are these.
void ChooseSum(ByteBinary& numbers, double scaleA, double scaleB, bool isFixed, size_t count)
{
    const ByteBinaryLoops& loops = GetByteBinaryLoops();
    numbers.m_Loop = loops.m_ExactSum[isFixed ? 1 : 0];
    if (count < WorthwhileCount)
    {
        return;
    }
    const BytePairs pairs(numbers, loops.m_ExactSum[0]);
    if (!isFixed && TryTables(numbers, pairs, scaleA, scaleB))
    {
        return;
    }
    std::vector<std::pair<double, double>> tries; // first both factors alike, which does for most layers
    for (const double nudge : Nudges)
    {
        tries.emplace_back(nudge, nudge);
    }
    for (const double nudge : LargeNudges)
    {
        tries.emplace_back(nudge, nudge);
    }
    for (const double nudgeA : Nudges)
    {
        for (const double nudgeB : Nudges)
        {
            tries.emplace_back(nudgeA, nudgeB);
        }
    }
    TryFloats(numbers, pairs, loops.m_FloatSum, isFixed, tries,
              [&](const std::pair<double, double>& nudges)
              {
                  numbers.m_FactorA = static_cast<float>(scaleA * nudges.first);
                  numbers.m_FactorB = static_cast<float>(scaleB * nudges.second);
                  // With the factors as they came out after rounding.
                  numbers.m_Offset = static_cast<float>(-(static_cast<double>(numbers.m_FactorA) * numbers.m_ZeroA +
                                                          static_cast<double>(numbers.m_FactorB) * numbers.m_ZeroB));
              });
}

/// For products by m_Product, which are rounded twice: by the multiplier and by the shift to the right.
void ChooseProduct(ByteBinary& numbers, bool isFixed, size_t count)
{
    struct Try
    {
        float m_Offset;
        double m_Nudge;
    };
    // The first rounding takes halves up, which a small offset does; the second away from zero, for which
    // the factor of the shift is made larger by less than what lies between two integers.
    constexpr Try Tries[] = {{0.0f, 1.0}, {0.25f, 1.0}, {0.0f, 1.0 + 0x1p-23}, {0.0f, 1.0 - 0x1p-23}};
    const ByteBinaryLoops& loops = GetByteBinaryLoops();
    const QuantizedMultiplier m = numbers.m_Product;
    numbers.m_Loop = loops.m_ExactProduct[isFixed ? 1 : 0];
    if (count < WorthwhileCount)
    {
        return;
    }
    TryFloats(numbers, BytePairs(numbers, loops.m_ExactProduct[0]), loops.m_FloatProduct, isFixed, Tries,
              [&](const Try& numbersOfTry)
              {
                  numbers.m_Offset = numbersOfTry.m_Offset;
                  numbers.m_ProductFactor = static_cast<float>(std::ldexp(
                      static_cast<double>(m.m_Multiplier) * numbersOfTry.m_Nudge, std::max(m.m_Shift, 0) - 31));
                  numbers.m_ShiftFactor =
                      static_cast<float>(std::ldexp(m.m_Shift < 0 ? 1.0 + 0x1p-22 : 1.0, std::min(m.m_Shift, 0)));
              });
}

bool IsSum(BinaryOperation operation)
{
    return operation == BinaryOperation::Add || operation == BinaryOperation::Sub ||
           operation == BinaryOperation::SqDiff;
}

bool IsQuantizedAlike(const TensorInfo& x, const TensorInfo& y)
{
    return x.GetQuantizationScale() == y.GetQuantizationScale() &&
           x.GetQuantizationOffset() == y.GetQuantizationOffset();
}

/// What all operations need.
ByteBinary StartNumbers(const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                        backends::QuantizedRange range)
{
    const bool isSigned = a.GetDataType() != DataType::QAsymmU8;
    const int32_t offset = isSigned ? 128 : 0;
    ByteBinary numbers;
    numbers.m_Flip = isSigned ? 0x80 : 0;
    numbers.m_ZeroA = a.GetQuantizationOffset() + offset;
    numbers.m_ZeroB = b.GetQuantizationOffset() + offset;
    numbers.m_ZeroOutput = output.GetQuantizationOffset();
    numbers.m_Min = static_cast<uint8_t>(range.m_Min + offset);
    numbers.m_Max = static_cast<uint8_t>(range.m_Max + offset);
    return numbers;
}

} // namespace

bool HasByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output)
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

ByteBinary MakeByteBinary(BinaryOperation operation, const TensorInfo& a, const TensorInfo& b, const TensorInfo& output,
                          backends::QuantizedRange range, bool isFixed, bool swaps, size_t count)
{
    const ByteBinaryLoops& loops = GetByteBinaryLoops();
    ByteBinary numbers = StartNumbers(a, b, output, range);
    const float scaleA = a.GetQuantizationScale();
    const float scaleB = b.GetQuantizationScale();
    const float scaleOutput = output.GetQuantizationScale();
    if (operation == BinaryOperation::Maximum || operation == BinaryOperation::Minimum)
    {
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[isFixed ? 1 : 0];
        return numbers;
    }
    if (!IsSum(operation))
    {
        numbers.m_Product =
            QuantizeMultiplier(static_cast<double>(scaleA * scaleB / scaleOutput)); // in float, as in TFLite
        if (swaps)
        {
            std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
        }
        ChooseProduct(numbers, isFixed, count);
        return numbers;
    }
    const bool squares = operation == BinaryOperation::SqDiff;
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    numbers.m_NegatesB = operation != BinaryOperation::Add;
    numbers.m_A = QuantizeMultiplier(static_cast<double>(scaleA) / twiceMax);
    numbers.m_B = QuantizeMultiplier(static_cast<double>(scaleB) / twiceMax);
    const double output64 = static_cast<double>(scaleOutput);
    numbers.m_Sum =
        QuantizeMultiplier(squares ? twiceMax * twiceMax / (double{1 << (2 * ByteBinary::SquareShift)} * output64)
                                   : twiceMax / (double{1 << ByteBinary::SumShift} * output64));
    double factorA = static_cast<double>(scaleA) / static_cast<double>(scaleOutput);
    double factorB = static_cast<double>(scaleB) / static_cast<double>(scaleOutput) * (numbers.m_NegatesB ? -1.0 : 1.0);
    if (swaps)
    {
        std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
        std::swap(numbers.m_A, numbers.m_B);
        std::swap(numbers.m_NegatesA, numbers.m_NegatesB);
        std::swap(factorA, factorB);
    }
    if (squares)
    {
        numbers.m_Loop = loops.m_ExactSquare[isFixed ? 1 : 0];
        return numbers;
    }
    ChooseSum(numbers, factorA, factorB, isFixed, count);
    return numbers;
}

ByteBinary MakeBytePrelu(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output, bool isFixed)
{
    ByteBinary numbers = StartNumbers(x, alpha, output, backends::GetTypeRange(output.GetDataType()));
    // Products of scales in float, as TFLite has them.
    const float scale = output.GetQuantizationScale();
    numbers.m_A = QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() / scale));
    numbers.m_Product =
        QuantizeMultiplier(static_cast<double>(x.GetQuantizationScale() * alpha.GetQuantizationScale() / scale));
    numbers.m_Loop = GetByteBinaryLoops().m_Prelu[isFixed ? 1 : 0];
    return numbers;
}

} // namespace tenon::cpu
