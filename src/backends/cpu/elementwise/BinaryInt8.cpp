// SPDX-License-Identifier: Apache-2.0
// Parameters of 8-bit sums, products, quotients, maximum, minimum and Prelu, and the choice of the loop.
#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include "backends/cpu/elementwise/AllPairsInt8.hpp"
#include "backends/cpu/elementwise/BinaryLoopsInt8.hpp"
#include "backends/cpu/elementwise/SumTablesInt8.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;

// The choice of the loop, by a proof on all pairs of bytes: the exact loop, or a faster one in float or by tables if
// it gives the same results for all pairs. Each function Choose... sets the loop and its constants; the constants of
// the exact loop are set before. `isScalarB`: b is one element. `count`: the number of output elements; below
// WorthwhileCount the exact loop is taken, as a comparison of all pairs would take longer.

/// Smaller layers are done before all pairs have been compared.
constexpr size_t WorthwhileCount = 4096;

/// Tries the float loop with the parameters of each try, which set(try) stores, until it agrees with the exact loop on
/// all pairs.
template <typename Tries, typename F>
bool TryFloats(BinaryInt8& numbers, const AllPairsInt8& pairs, const BinaryInt8::Loop (&fast)[2], bool isScalarB,
               const Tries& tries, const F& set)
{
    for (const auto& numbersOfTry : tries)
    {
        set(numbersOfTry);
        if (pairs.Agrees(numbers, fast[0]))
        {
            numbers.m_Loop = fast[isScalarB ? 1 : 0];
            return true;
        }
    }
    return false;
}

// TFLite's integer arithmetic rounds ties away from zero, float arithmetic to even, and tables up. Slightly larger
// factors settle most ties; other roundings of the factors settle results that an error of the last bit would change.
constexpr double Nudges[] = {1.0,           1.0 + 0x1p-22, 1.0 - 0x1p-23, 1.0 + 0x1p-21,
                             1.0 + 0x1p-23, 1.0 - 0x1p-22, 1.0 + 0x1p-20};
// If factors are simple fractions, many sums are ties and no other sums are near a tie. These need a larger nudge than
// the rounding error of the larger terms, and it does no harm.
constexpr double LargeNudges[] = {1.0 + 0x1p-18, 1.0 + 0x1p-16, 1.0 + 0x1p-14};

/// True if the tables agree with the exact sums, with these real scales, on all pairs.
bool TryTables(BinaryInt8& numbers, const AllPairsInt8& pairs, double scaleA, double scaleB)
{
    const bool swaps = scaleB > scaleA;
    const BinaryInt8::Loop loop = GetSumTableLoopInt8(numbers.m_SignXor != 0);
    if (loop == nullptr || std::abs(swaps ? scaleA : scaleB) > 1.0) // tables hold at most 255 steps
    {
        return false;
    }
    const auto tables = std::make_shared<SumTablesInt8>();
    tables->m_Swaps = swaps;
    numbers.m_Tables = tables;
    const double zero = numbers.m_ZeroOutput + numbers.m_SignXor + 0.5;
    const auto agrees = [&](double nudge)
    {
        std::array<double, SumTablesInt8::Values> a{};
        std::array<double, SumTablesInt8::Values> b{};
        for (int i = 0; i < static_cast<int>(SumTablesInt8::Values); ++i)
        {
            const auto at = static_cast<size_t>(i);
            a[at] = scaleA * nudge * (i - numbers.m_ZeroA) + (swaps ? zero : 0.0);
            b[at] = scaleB * nudge * (i - numbers.m_ZeroB) + (swaps ? 0.0 : zero);
        }
        return FillSumTablesInt8(swaps ? b : a, swaps ? a : b, numbers.m_SignXor, *tables) &&
               pairs.Agrees(numbers, loop);
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

/// Factors and offsets to try in place of a multiplier of numbers that were shifted left, the likely ones first.
std::vector<BinaryInt8::FloatMultiplier> ListScales(QuantizedMultiplier m, int leftShift = 0)
{
    // The multiplier rounds twice: x * factor * 2^-shift to an integer, then the right shift of that integer. With a
    // shift of 2, 5.8 / 4 = 1.45 becomes 6 / 4 = 1.5 and then 2. So results are rounded away from zero from slightly
    // below a half on: the offset is half a step of the first rounding. The signs differ only if x * factor is exactly
    // such a half, as with scales that are powers of two: the first rounding rounds ties up, which is away from zero
    // for positive and towards zero for negative numbers. For these, offsets slightly larger and slightly smaller are
    // tried. Without a shift there is one rounding, which rounds ties up, as any small offset does. Its size matters
    // little: each try is compared with the multiplier on all pairs of bytes.
    const double factor = std::ldexp(static_cast<double>(m.m_Multiplier), m.m_Shift - 31 + leftShift);
    const auto half = static_cast<float>(m.m_Shift < 0 ? std::ldexp(0.5, m.m_Shift) : 0.0);
    constexpr float More = 1.0f + 0x1p-7f;
    constexpr float Less = 1.0f - 0x1p-7f;
    constexpr float AnyHalf = 0x1p-12f;
    std::vector<BinaryInt8::FloatMultiplier> scales;
    const auto add = [&](double nudge, float ofPositive, float ofNegative)
    {
        scales.push_back({static_cast<float>(factor * nudge), ofPositive,
                          std::bit_cast<int32_t>(ofPositive) ^ std::bit_cast<int32_t>(ofNegative)});
    };
    if (m.m_Shift >= 0)
    {
        add(1.0, AnyHalf, AnyHalf);
    }
    add(1.0, half, -half);
    add(1.0, half * More, -half * Less);
    for (const double nudge : {1.0 + 0x1p-23, 1.0 - 0x1p-23, 1.0 + 0x1p-22, 1.0 - 0x1p-22})
    {
        add(nudge, half, -half);
    }
    return scales;
}

/// The results of Prelu for a >= 0, which do not depend on the slope.
LookupTableInt8 MakePositiveTable(const BinaryInt8& numbers, BinaryInt8::Loop exact)
{
    LookupTableInt8 stored{};
    std::iota(stored.begin(), stored.end(), uint8_t{0});
    for (uint8_t& x : stored)
    {
        x ^= numbers.m_SignXor;
    }
    const uint8_t anySlope = 0;
    LookupTableInt8 table{};
    exact(numbers, stored.data(), &anySlope, table.data(), table.size());
    for (uint8_t& x : table)
    {
        x ^= numbers.m_SignXor;
    }
    return table;
}

/// Keeps the lookup behind a float loop only if its table is in registers; others are slower than the loop.
void LeaveSlowLookup(BinaryInt8& numbers)
{
    if (!IsLookupFastInt8())
    {
        numbers.m_LookUp = nullptr;
    }
}

/// Sets the exact loop; any lookup is faster than that.
void Start(BinaryInt8& numbers, const BinaryInt8::Loop (&exact)[2], bool isScalarB)
{
    numbers.m_Loop = exact[isScalarB ? 1 : 0];
    numbers.m_LookUp = isScalarB ? FindLookupInt8() : nullptr;
}

/// Sums.
void ChooseSum(BinaryInt8& numbers, RequantizationMode mode, bool isScalarB, size_t count)
{
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    const bool isReal = mode == RequantizationMode::FloatHalfEven;
    Start(numbers, isReal ? loops.m_RealSum : loops.m_ExactSum, isScalarB);
    if (count < WorthwhileCount)
    {
        return;
    }
    const double scaleA = static_cast<double>(numbers.m_ScaleA) / static_cast<double>(numbers.m_ScaleOutput);
    const double scaleB = static_cast<double>(numbers.m_ScaleB) / static_cast<double>(numbers.m_ScaleOutput);
    const AllPairsInt8 pairs =
        isReal ? AllPairsInt8(numbers, loops.m_RealSum[0]) : AllPairsInt8(numbers, loops.m_AllExactSums);
    if (!isScalarB && TryTables(numbers, pairs, scaleA, scaleB))
    {
        return;
    }
    std::vector<std::pair<double, double>> tries; // equal nudges first, which suffice for most layers
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
    const auto set = [&](const std::pair<double, double>& nudges)
    {
        numbers.m_FactorA = static_cast<float>(scaleA * nudges.first);
        numbers.m_FactorB = static_cast<float>(scaleB * nudges.second);
        // With the factors as rounded to float.
        numbers.m_Offset = static_cast<float>(-(static_cast<double>(numbers.m_FactorA) * numbers.m_ZeroA +
                                                static_cast<double>(numbers.m_FactorB) * numbers.m_ZeroB));
    };
    if (TryFloats(numbers, pairs, loops.m_FloatSum, isScalarB, tries, set))
    {
        LeaveSlowLookup(numbers);
    }
}

/// Factors to try for products that are rounded half to even.
std::vector<BinaryInt8::FloatMultiplier> ListFactors(double factor)
{
    std::vector<BinaryInt8::FloatMultiplier> factors;
    for (const double nudge : Nudges)
    {
        factors.push_back({static_cast<float>(factor * nudge), 0.0f, 0});
    }
    return factors;
}

/// Products, by the exact loops of a mode. `scales`: the float forms to try.
void ChooseProduct(BinaryInt8& numbers, const BinaryInt8::Loop (&exact)[2],
                   const std::vector<BinaryInt8::FloatMultiplier>& scales, bool isScalarB, size_t count)
{
    Start(numbers, exact, isScalarB);
    if (count >= WorthwhileCount &&
        TryFloats(numbers, AllPairsInt8(numbers, exact[0]), GetBinaryLoopsInt8().m_FloatProduct, isScalarB, scales,
                  [&](const BinaryInt8::FloatMultiplier& scale) { numbers.m_FloatProduct = scale; }))
    {
        LeaveSlowLookup(numbers);
    }
}

/// Prelu: m_A for a >= 0, else m_Product.
void ChoosePrelu(BinaryInt8& numbers, bool isScalarB, size_t count)
{
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    Start(numbers, loops.m_ExactPrelu, isScalarB);
    if (count < WorthwhileCount)
    {
        return;
    }
    const AllPairsInt8 pairs(numbers, loops.m_ExactPrelu[0]);
    const std::vector<BinaryInt8::FloatMultiplier> products = ListScales(numbers.m_Product);
    if (!isScalarB && loops.m_TablePrelu != nullptr)
    {
        numbers.m_PositiveTable = std::make_shared<LookupTableInt8>(MakePositiveTable(numbers, loops.m_ExactPrelu[1]));
        TryFloats(numbers, pairs, {loops.m_TablePrelu, nullptr}, false, products,
                  [&](const BinaryInt8::FloatMultiplier& scale) { numbers.m_FloatProduct = scale; });
        return;
    }
    std::vector<std::pair<BinaryInt8::FloatMultiplier, BinaryInt8::FloatMultiplier>> tries;
    for (const BinaryInt8::FloatMultiplier& product : products)
    {
        for (const BinaryInt8::FloatMultiplier& positive : ListScales(numbers.m_A))
        {
            tries.emplace_back(product, positive);
        }
    }
    TryFloats(numbers, pairs, loops.m_FloatPrelu, isScalarB, tries,
              [&](const std::pair<BinaryInt8::FloatMultiplier, BinaryInt8::FloatMultiplier>& scales)
              {
                  numbers.m_FloatProduct = scales.first;
                  numbers.m_FloatA = scales.second;
              });
}

/// Squares of differences.
void ChooseSquare(BinaryInt8& numbers, bool isScalarB, size_t count)
{
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    Start(numbers, loops.m_ExactSquare, isScalarB);
    if (count < WorthwhileCount)
    {
        return;
    }
    struct Try
    {
        BinaryInt8::FloatMultiplier m_A;
        BinaryInt8::FloatMultiplier m_B;
        BinaryInt8::FloatMultiplier m_Square;
    };
    std::vector<Try> tries;
    // Few of 256 numbers are near a half, so only one more offset is tried for them.
    constexpr size_t OfInputs = 2;
    std::vector<BinaryInt8::FloatMultiplier> scalesA = ListScales(numbers.m_A, BinaryInt8::SquareShift);
    std::vector<BinaryInt8::FloatMultiplier> scalesB = ListScales(numbers.m_B, BinaryInt8::SquareShift);
    scalesA.resize(OfInputs);
    scalesB.resize(OfInputs);
    for (BinaryInt8::FloatMultiplier square : ListScales(numbers.m_Sum))
    {
        square.m_OffsetXor = 0; // a square is never negative, but fills all bits
        for (const BinaryInt8::FloatMultiplier& a : scalesA)
        {
            for (const BinaryInt8::FloatMultiplier& b : scalesB)
            {
                tries.push_back({a, b, square});
            }
        }
    }
    TryFloats(numbers, AllPairsInt8(numbers, loops.m_ExactSquare[0]), loops.m_FloatSquare, isScalarB, tries,
              [&](const Try& scales)
              {
                  numbers.m_FloatA = scales.m_A;
                  numbers.m_FloatB = scales.m_B;
                  numbers.m_FloatProduct = scales.m_Square;
              });
}

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

/// Whether the operation, which is there, chooses one of two stored values.
bool KeepsStored(const ElementwiseBinaryDescriptor& descriptor, const TensorInfo& a, const TensorInfo& b,
                 const TensorInfo& output)
{
    if (descriptor.m_Operation != BinaryOperation::Maximum && descriptor.m_Operation != BinaryOperation::Minimum)
    {
        return false;
    }
    // A finite real number, divided by its own scale, is rounded to where it comes from.
    constexpr float MaxDifference = 255.0f; // of two bytes
    return descriptor.m_Requantization == RequantizationMode::FixedPoint ||
           (IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output) &&
            std::isfinite(a.GetQuantizationScale() * MaxDifference));
}

/// Sets the scales. If `swaps` the loop's first input is b, and the zero points change places.
void SetScales(BinaryInt8& numbers, BinaryOperation operation, const TensorInfo& a, const TensorInfo& b,
               const TensorInfo& output, bool swaps)
{
    const bool subtracts = operation == BinaryOperation::Sub || operation == BinaryOperation::SqDiff;
    numbers.m_ScaleA = a.GetQuantizationScale();
    numbers.m_ScaleB = subtracts ? -b.GetQuantizationScale() : b.GetQuantizationScale();
    numbers.m_ScaleOutput = output.GetQuantizationScale();
    if (swaps)
    {
        std::swap(numbers.m_ScaleA, numbers.m_ScaleB);
        std::swap(numbers.m_ZeroA, numbers.m_ZeroB);
    }
}

/// TFLite's arithmetic.
void ChooseFixedPoint(BinaryInt8& numbers, BinaryOperation operation, bool isScalarB, size_t count)
{
    const float scaleA = std::abs(numbers.m_ScaleA);
    const float scaleB = std::abs(numbers.m_ScaleB);
    const double twiceMax = 2.0 * static_cast<double>(std::max(scaleA, scaleB));
    const double output = static_cast<double>(numbers.m_ScaleOutput);
    const bool squares = operation == BinaryOperation::SqDiff;
    numbers.m_NegatesA = numbers.m_ScaleA < 0.0f;
    numbers.m_NegatesB = numbers.m_ScaleB < 0.0f;
    numbers.m_A = QuantizeMultiplier(static_cast<double>(scaleA) / twiceMax);
    numbers.m_B = QuantizeMultiplier(static_cast<double>(scaleB) / twiceMax);
    numbers.m_Sum =
        QuantizeMultiplier(squares ? twiceMax * twiceMax / (double{1 << (2 * BinaryInt8::SquareShift)} * output)
                                   : twiceMax / (double{1 << BinaryInt8::SumShift} * output));
    numbers.m_Product =
        QuantizeMultiplier(static_cast<double>(scaleA * scaleB / numbers.m_ScaleOutput)); // in float, as in TFLite
    if (operation == BinaryOperation::Mul)
    {
        ChooseProduct(numbers, GetBinaryLoopsInt8().m_ExactProduct, ListScales(numbers.m_Product), isScalarB, count);
    }
    else if (squares)
    {
        ChooseSquare(numbers, isScalarB, count);
    }
    else
    {
        ChooseSum(numbers, RequantizationMode::FixedPoint, isScalarB, count);
    }
}

/// The arithmetic of RequantizationMode::FloatHalfEven. `swaps`: the first input of the loop is b.
void ChooseReal(BinaryInt8& numbers, BinaryOperation operation, bool isScalarB, bool swaps, size_t count)
{
    const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
    switch (operation)
    {
    case BinaryOperation::Mul:
        ChooseProduct(numbers, loops.m_RealProduct,
                      ListFactors(static_cast<double>(numbers.m_ScaleA) * static_cast<double>(numbers.m_ScaleB) /
                                  static_cast<double>(numbers.m_ScaleOutput)),
                      isScalarB, count);
        break;
    case BinaryOperation::SqDiff: Start(numbers, loops.m_RealSquare, isScalarB); break;
    case BinaryOperation::Div: Start(numbers, swaps ? loops.m_RealInverse : loops.m_RealQuotient, isScalarB); break;
    case BinaryOperation::Maximum: Start(numbers, loops.m_RealMaximum, isScalarB); break;
    case BinaryOperation::Minimum: Start(numbers, loops.m_RealMinimum, isScalarB); break;
    default: ChooseSum(numbers, RequantizationMode::FloatHalfEven, isScalarB, count); break;
    }
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

bool HasBinaryInt8(const ElementwiseBinaryDescriptor& descriptor, const TensorInfo& a, const TensorInfo& b,
                   const TensorInfo& output)
{
    const bool isReal = descriptor.m_Requantization == RequantizationMode::FloatHalfEven;
    switch (descriptor.m_Operation)
    {
    case BinaryOperation::Add:
    case BinaryOperation::Sub:
    case BinaryOperation::SqDiff:
    case BinaryOperation::Mul: return true;
    case BinaryOperation::Div: return isReal;
    case BinaryOperation::Maximum:
    case BinaryOperation::Minimum: return isReal || (IsQuantizedAlike(a, b) && IsQuantizedAlike(a, output));
    default: return false;
    }
}

BinaryInt8 MakeBinaryInt8(const ElementwiseBinaryDescriptor& descriptor, const TensorInfo& a, const TensorInfo& b,
                          const TensorInfo& output, backends::QuantizedRange range, bool isScalarB, bool swaps,
                          size_t count)
{
    const BinaryOperation operation = descriptor.m_Operation;
    BinaryInt8 numbers = StartNumbers(a, b, output, range);
    if (KeepsStored(descriptor, a, b, output))
    {
        const BinaryLoopsInt8& loops = GetBinaryLoopsInt8();
        numbers.m_Loop = (operation == BinaryOperation::Maximum ? loops.m_Maximum : loops.m_Minimum)[isScalarB ? 1 : 0];
        return numbers;
    }
    SetScales(numbers, operation, a, b, output, swaps);
    if (descriptor.m_Requantization == RequantizationMode::FloatHalfEven)
    {
        ChooseReal(numbers, operation, isScalarB, swaps, count);
    }
    else
    {
        ChooseFixedPoint(numbers, operation, isScalarB, count);
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
