// SPDX-License-Identifier: Apache-2.0
// SumTablesInt8: the fill of the tables, and the loop that reads them.
#include "backends/cpu/elementwise/SumTablesInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/elementwise/SumTablesInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included last: once for each target.
#include "backends/cpu/simd/Int8-inl.hpp"
#include "backends/cpu/simd/LookupInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3
/// T: the type of the bytes. `IsClamped`: a fused activation leaves less than the type's range.
template <typename T, bool IsClamped>
void SumClamped(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    const TagUint8 d;
    const hn::Repartition<T, TagUint8> dStored;
    const SumTablesInt8& tables = *numbers.m_Tables;
    const LookupInt8 stepsA(tables.m_StepsA.data());
    const LookupInt8 ranksA(tables.m_RanksA.data());
    const LookupInt8 stepsB(tables.m_StepsB.data());
    const LookupInt8 ranksB(tables.m_RanksB.data());
    const auto firstPositive = hn::Set(dStored, static_cast<T>(tables.m_Negative ^ numbers.m_SignXor));
    const VecUint8 one = hn::Set(d, 1);
    const VecUint8 signXor = hn::Set(d, numbers.m_SignXor);
    const VecUint8 minimum = hn::Set(d, numbers.m_Min);
    const VecUint8 maximum = hn::Set(d, numbers.m_Max);
    if (tables.m_Swaps)
    {
        std::swap(a, b);
    }
    MapPairs<false, false>(
        d, a, b, out, count,
        [&](VecUint8 x, VecUint8 y) HWY_ATTR
        {
            const VecUint8 first = stepsB(y);
            const VecUint8 base = hn::IfThenElse(hn::Gt(ranksA(x), ranksB(y)), hn::Add(first, one), first);
            const VecUint8 steps = stepsA(x);
            const auto isNegative = hn::RebindMask(d, hn::Lt(hn::BitCast(dStored, x), firstPositive));
            const VecUint8 sum =
                hn::IfThenElse(isNegative, hn::SaturatedSub(base, steps), hn::SaturatedAdd(base, steps));
            return hn::Xor(IsClamped ? hn::Min(hn::Max(sum, minimum), maximum) : sum, signXor);
        });
}

template <typename T>
void Sum(const BinaryInt8& numbers, const uint8_t* a, const uint8_t* b, uint8_t* out, size_t count)
{
    (numbers.IsClamped() ? SumClamped<T, true> : SumClamped<T, false>)(numbers, a, b, out, count);
}
#endif

/// [0] for uint8, [1] for int8.
std::array<BinaryInt8::Loop, 2> FindLoops()
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        return {Sum<uint8_t>, Sum<int8_t>};
    }
#endif
    return {};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

constexpr size_t Values = SumTablesInt8::Values;
using Numbers = std::array<double, Values>;

constexpr uint8_t NoCarry = 255; // a rank of b that no rank of a exceeds

int32_t FindSteps(double x)
{
    constexpr double MaxSteps = 1 << 16; // larger than any steps that matter
    return static_cast<int32_t>(std::floor(std::clamp(x, -MaxSteps, MaxSteps)));
}

/// Ranks by value; false if the ranks do not fit bytes.
bool FindRanks(const Numbers& a, const Numbers& b, SumTablesInt8::Table& ranksA, SumTablesInt8::Table& ranksB)
{
    // The fraction of a step in a, and for b the fraction that a must have for one more step.
    struct Fraction
    {
        double m_Size;
        bool m_IsA;
        size_t m_Value;
    };
    std::array<Fraction, 2 * Values> fractions{};
    for (size_t i = 0; i < Values; ++i)
    {
        fractions[i] = {a[i] - std::floor(a[i]), true, i};
        fractions[Values + i] = {1.0 - (b[i] - std::floor(b[i])), false, i};
    }
    // b comes first among equal fractions: an equal fraction of a is enough for a step.
    std::sort(fractions.begin(), fractions.end(),
              [](const Fraction& x, const Fraction& y)
              { return std::pair(x.m_Size, x.m_IsA) < std::pair(y.m_Size, y.m_IsA); });
    // Neighbours of one input have the same rank, so that a byte is enough for 512 numbers. A rank of a is one above
    // the rank of the next lower fraction of b.
    size_t rank = 0;
    bool wasA = false;
    for (const Fraction& fraction : fractions)
    {
        rank += !fraction.m_IsA && wasA ? 1 : 0;
        wasA = fraction.m_IsA;
        (fraction.m_IsA ? ranksA : ranksB)[fraction.m_Value] = static_cast<uint8_t>(fraction.m_IsA ? rank + 1 : rank);
    }
    return rank + 1 <= std::numeric_limits<uint8_t>::max();
}

} // namespace

bool FillSumTablesInt8(const Numbers& a, const Numbers& b, uint8_t signXor, SumTablesInt8& tables)
{
    SumTablesInt8::Table ranksA{};
    SumTablesInt8::Table ranksB{};
    if (!FindRanks(a, b, ranksA, ranksB))
    {
        return false;
    }
    std::array<int32_t, Values> stepsA{};
    std::array<int32_t, Values> stepsB{};
    std::transform(a.begin(), a.end(), stepsA.begin(), FindSteps);
    std::transform(b.begin(), b.end(), stepsB.begin(), FindSteps);
    // The steps of b begin at 0, unless all steps of a would be negative then; at least one of them must not be. In
    // that case steps of b below 0 give the result 0, whatever a subtracts.
    int32_t shift = *std::min_element(stepsB.begin(), stepsB.end());
    shift = std::max(shift, -*std::max_element(stepsA.begin(), stepsA.end()));
    tables.m_Negative = 0;
    for (size_t i = 0; i < Values; ++i)
    {
        const size_t stored = i ^ signXor;
        const int32_t ofA = stepsA[i] + shift;
        const int32_t ofB = stepsB[i] - shift;
        tables.m_Negative = static_cast<uint8_t>(tables.m_Negative + (ofA < 0 ? 1 : 0));
        tables.m_StepsA[stored] = static_cast<uint8_t>(std::min(std::abs(ofA), 255));
        tables.m_RanksA[stored] = ranksA[i];
        tables.m_StepsB[stored] = static_cast<uint8_t>(std::clamp(ofB, 0, 254));
        tables.m_RanksB[stored] = ofB < 0 ? NoCarry : ranksB[i];
    }
    return true;
}

BinaryInt8::Loop GetSumTableLoopInt8(bool isSigned)
{
    return TENON_CHOOSE(FindLoops)()[isSigned ? 1 : 0];
}

} // namespace tenon::cpu
#endif
