// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of SoftmaxInt8.hpp. A row takes four steps: its range, the sum of its exponentials, the reciprocal of
// the sum, and a table of results that replaces each element by one lookup.
#include "backends/cpu/softmax/SoftmaxInt8.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/kernels/SoftmaxPowers.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/SoftmaxInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/LookupInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

/// The largest lane.
template <class V>
HWY_INLINE uint8_t GetMax(V v)
{
    const hn::DFromV<V> d;
    if constexpr (hn::MaxLanes(hn::DFromV<V>()) > 16)
    {
        const hn::Half<hn::DFromV<V>> half;
        return GetMax(hn::Max(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
    else
    {
        v = hn::Max(v, hn::CombineShiftRightBytes<8>(d, v, v));
        v = hn::Max(v, hn::CombineShiftRightBytes<4>(d, v, v));
        v = hn::Max(v, hn::CombineShiftRightBytes<2>(d, v, v));
        return hn::GetLane(hn::Max(v, hn::CombineShiftRightBytes<1>(d, v, v)));
    }
}

RangeInt8 FindRange(const uint8_t* in, size_t depth, uint8_t signXor)
{
    const hn::CappedTag<uint8_t, SoftmaxFunctionsInt8::MinDepth> d;
    const size_t lanes = hn::Lanes(d);
    auto maxByte = hn::Xor(hn::LoadU(d, in + depth - lanes), hn::Set(d, signXor));
    auto minByte = maxByte;
    for (size_t i = 0; i + lanes <= depth; i += lanes)
    {
        const auto values = hn::Xor(hn::LoadU(d, in + i), hn::Set(d, signXor));
        maxByte = hn::Max(maxByte, values);
        minByte = hn::Min(minByte, values);
    }
    return {static_cast<uint8_t>(~GetMax(hn::Not(minByte))), GetMax(maxByte)};
}

uint64_t SumEach(const ExpTableInt8& summands, const uint8_t* in, size_t depth, uint8_t signXor, uint8_t maxByte)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < depth; ++i)
    {
        sum += summands.m_Summands[maxByte - (in[i] ^ signXor)];
    }
    return sum;
}

#if HWY_TARGET == HWY_AVX2
/// Sums eight elements at a time, with one load: 0.4 of the time on Zen 3.
uint64_t SumEights(const ExpTableInt8& summands, const uint8_t* in, size_t depth, uint8_t signXor, uint8_t maxByte)
{
    constexpr uint64_t EachByte = 0x0101010101010101;
    uint64_t sums[4] = {};
    size_t i = 0;
    for (; i + 8 <= depth; i += 8)
    {
        uint64_t bytes;
        std::memcpy(&bytes, in + i, sizeof(bytes));
        const uint64_t differences =
            EachByte * maxByte - (bytes ^ EachByte * signXor); // no borrow: each byte is 0 or more
        HWY_UNROLL(8)
        for (size_t k = 0; k < 8; ++k)
        {
            sums[k % 4] += summands.m_Summands[differences >> (8 * k) & 0xFF];
        }
    }
    return sums[0] + sums[1] + sums[2] + sums[3] + SumEach(summands, in + i, depth - i, signXor, maxByte);
}
#endif

#if HWY_TARGET == HWY_AVX3
/// Looks up each of the three bytes of an exponential in a table of its own.
uint64_t SumByTables(const ExpTableInt8& summands, const uint8_t* in, size_t depth, uint8_t signXor, uint8_t maxByte)
{
    const hn::ScalableTag<uint8_t> d;
    using Bytes = hn::Vec<decltype(d)>;
    const Bytes zero = hn::Zero(d);
    const LookupInt8 low(summands.m_Bytes[0]);
    const LookupInt8 middle(summands.m_Bytes[1]);
    const LookupInt8 high(summands.m_Bytes[2]);
    const auto sumSelected = [&](const LookupInt8& lookUp, Bytes difference, auto valid) HWY_ATTR
    {
        const Bytes bytes = lookUp(difference);
        return hn::SumsOf8(hn::IfThenElse(valid, bytes, zero));
    };
    const hn::Repartition<uint64_t, decltype(d)> dSums;
    auto sum = hn::Zero(dSums);
    for (size_t i = 0; i < depth; i += hn::Lanes(d))
    {
        const auto valid = hn::FirstN(d, depth - i);
        const Bytes values = hn::Xor(hn::MaskedLoad(valid, d, in + i), hn::Set(d, signXor));
        const Bytes difference = hn::Sub(hn::Set(d, maxByte), values);
        const auto lows = sumSelected(low, difference, valid);
        const auto middles = sumSelected(middle, difference, valid);
        const auto highs = sumSelected(high, difference, valid);
        sum = hn::Add(sum, hn::Add(lows, hn::Add(hn::ShiftLeft<8>(middles), hn::ShiftLeft<16>(highs))));
    }
    return hn::GetLane(hn::SumOfLanes(dSums, sum));
}
#endif

void ScaleExps(const uint32_t* exps, size_t count, uint32_t scale, int shift, uint8_t signXor, uint8_t* bytes)
{
    using Words = hn::CappedTag<uint32_t, ResultTableInt8::MaxStoreLanes>;
    const Words d;
    const hn::RepartitionToWide<Words> dWide;
    const hn::Rebind<int32_t, Words> dSigned;
    const hn::Rebind<uint8_t, Words> dBytes;
    const auto factor = hn::Set(d, scale);
    const auto half = hn::Set(dWide, uint64_t{1} << 30);
    const auto rounding = hn::Set(d, uint32_t{1} << (shift - 1));
    const auto maxByte = hn::Set(d, uint32_t{255});
    const auto signXors = hn::Set(dBytes, signXor);
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const auto expValue = hn::LoadU(d, exps + i);
        const auto oddPower = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(dWide, expValue)));
        // Products of even lanes are in lower halves, those of odd lanes in upper halves.
        const auto evens = hn::ShiftRight<31>(hn::Add(hn::MulEven(expValue, factor), half));
        const auto odds = hn::ShiftLeft<1>(hn::Add(hn::MulEven(oddPower, factor), half));
        const auto product = hn::OddEven(hn::BitCast(d, odds), hn::BitCast(d, evens));
        const auto fraction = hn::Min(hn::ShiftRightSame(hn::Add(product, rounding), shift), maxByte);
        hn::StoreU(hn::Xor(hn::DemoteTo(dBytes, hn::BitCast(dSigned, fraction)), signXors), dBytes, bytes + i);
    }
}

SoftmaxFunctionsInt8 MakeFunctions()
{
    SoftmaxFunctionsInt8 functions;
    functions.m_FindRange = FindRange;
    functions.m_Sum = SumEach;
    functions.m_ScaleExps = ScaleExps;
#if HWY_TARGET == HWY_AVX2
    functions.m_Sum = SumEights;
#endif
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vbmi)
    {
        functions.m_Sum = SumByTables;
    }
#endif
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

constexpr int SumIntegerBits = 12;

} // namespace

SoftmaxFunctionsInt8 GetSoftmaxFunctionsInt8()
{
    return TENON_CHOOSE(MakeFunctions)();
}

SoftmaxInt8::SoftmaxInt8(float beta, float scale, bool isSigned) : m_Rows(isSigned)
{
    const std::array<backends::Fixed<0>, 256> exps = ref::MakeSoftmaxPowers(beta, scale);
    for (size_t i = 0; i < exps.size(); ++i)
    {
        m_Exps[255 - i] = static_cast<uint32_t>(exps[i].m_Raw);
        m_Rows.m_Summands.Set(i, static_cast<uint32_t>(backends::Rescale<SumIntegerBits>(exps[i]).m_Raw));
    }
    // A product is no larger than the exponential, and rounds to 0 if less than half a unit remains.
    for (size_t shift = 1; shift < m_Reach.size(); ++shift)
    {
        const auto isLess = [&](const backends::Fixed<0>& expValue)
        { return static_cast<uint32_t>(expValue.m_Raw) < uint32_t{1} << (shift - 1); };
        m_Reach[shift] = static_cast<uint16_t>(std::find_if(exps.begin(), exps.end(), isLess) - exps.begin());
    }
}

SoftmaxInt8::Factor SoftmaxInt8::MakeFactor(uint64_t sum)
{
    const auto sumRaw = static_cast<int32_t>(std::min<uint64_t>(sum, std::numeric_limits<int32_t>::max()));
    const backends::FixedReciprocal reciprocal = backends::GetReciprocal(sumRaw, SumIntegerBits);
    return {static_cast<uint32_t>(reciprocal.m_Scale.m_Raw), reciprocal.m_BitsOverUnit + 31 - 8};
}

void SoftmaxInt8::Rows(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const
{
    m_Rows.ForEach(
        in, rows, depth, out, MakeFactor,
        [&](const uint8_t* from, RangeInt8 range, Factor factor, uint8_t* to)
        { WriteRow(from, depth, range, factor, to); },
        [&](const uint8_t* from, uint8_t maxByte, Factor factor, uint8_t* to)
        { WriteFew(from, depth, maxByte, factor, to); });
}

void SoftmaxInt8::WriteRow(const uint8_t* in, size_t depth, RangeInt8 range, Factor factor, uint8_t* out) const
{
    if (factor.m_Shift > 31) // all results round to 0
    {
        std::fill_n(out, depth, m_Rows.m_SignXor);
        return;
    }
    ResultTableInt8 results;
    const size_t count = size_t{range.m_Max} - range.m_Min + 1;
    const size_t zeros = count - std::min<size_t>(count, m_Reach[static_cast<size_t>(factor.m_Shift)]);
    std::fill_n(results.At(range.m_Min), zeros, m_Rows.m_SignXor);
    m_Rows.m_Functions.m_ScaleExps(m_Exps + 255 - range.m_Max + range.m_Min + zeros, count - zeros, factor.m_Scale,
                                   factor.m_Shift, m_Rows.m_SignXor, results.At(range.m_Min + zeros));
    m_LookUp(results.Get(m_Rows.m_SignXor), in, out, depth);
}

void SoftmaxInt8::WriteFew(const uint8_t* in, size_t depth, uint8_t maxByte, Factor factor, uint8_t* out) const
{
    for (size_t i = 0; i < depth; ++i)
    {
        const uint64_t expValue = m_Exps[255 - maxByte + (in[i] ^ m_Rows.m_SignXor)];
        const uint64_t product = (expValue * factor.m_Scale + (uint64_t{1} << 30)) >> 31;
        const uint64_t fraction =
            factor.m_Shift > 31 ? 0 : (product + (uint64_t{1} << (factor.m_Shift - 1))) >> factor.m_Shift;
        out[i] = static_cast<uint8_t>(std::min<uint64_t>(fraction, 255) ^ m_Rows.m_SignXor);
    }
}

} // namespace tenon::cpu
#endif
