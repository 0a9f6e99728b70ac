// SPDX-License-Identifier: Apache-2.0
// PermuteLoopsInt8: orders of weights, for two vectors of columns at a time: a sorting network sorts magnitudes, which
// are dealt out by rank so that large ones share a sum with small ones. Signs are free, as each weight may multiply the
// value or its complement.
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitLoopsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <array>
#include <iterator>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/pack/PermuteLoopsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

#if HWY_ARCH_X86

using TagInt32 = hn::ScalableTag<int32_t>;
using TagInt16 = hn::ScalableTag<int16_t>; // of two vectors of columns
using Vector = hn::Vec<TagInt16>;
using Mask = hn::Mask<TagInt16>;

constexpr size_t Count = PermuteLoopsInt8::StepDepth;

/// Batcher's odd-even merge sort of eight (Batcher 1968).
constexpr uint8_t Comparators[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6},
                                      {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};

/// Puts the larger one first.
HWY_INLINE void Exchange(Vector& first, Vector& second)
{
    const Vector minimum = hn::Min(first, second);
    first = hn::Max(first, second);
    second = minimum;
}

template <size_t... Indices>
HWY_INLINE void Sort(Vector (&keys)[Count], std::index_sequence<Indices...>)
{
    (Exchange(keys[Comparators[Indices][0]], keys[Comparators[Indices][1]]), ...);
}

/// Positions of the ranks, the largest magnitude being rank 0: four weights of a step's first word, then four of its
/// second. When a step is paired, the first two of both words share an int16 sum, and so do the last two of both; else
/// the two of one word do. Positive and negative positions alternate, such that those of a word always fit; but where
/// one weight is against three, the second word's first position is negative. The two largest are at positive
/// positions.
struct Deal
{
    std::array<uint8_t, Count> m_Ranks;
    bool m_IsOneAgainstThree;
};

/// The deals are tried in order, as none suits every column; the last one is taken where none does. Found by search:
/// among weights whose magnitudes add up to at most 4 * MaxPairSum (no order suits others), they suit 99.4 % where
/// these are normally distributed and the largest is three deviations (all orders together: 99.6 %), and 72 % (76 %) of
/// uniform ones.
constexpr std::array<Deal, 3> Deals = {
    {{{0, 3, 1, 2, 4, 7, 6, 5}, true}, {{0, 3, 1, 2, 5, 6, 7, 4}, true}, {{0, 2, 1, 3, 7, 5, 6, 4}, false}}};
/// The position whose sign depends on the deal.
constexpr size_t AnySign = 4;

/// True where the products of unsigned bytes with the positive weights of each sum fit int16, and so do those with the
/// negative weights. `weights`: magnitudes, sorted.
template <size_t Which>
HWY_INLINE Mask Fit(const Vector (&weights)[Count])
{
    constexpr Deal deal = Deals[Which];
    constexpr auto ranks = deal.m_Ranks;
    const Vector any = weights[ranks[AnySign]];
    const Vector positive = weights[ranks[0]];
    const Vector negative = hn::Add(weights[ranks[1]], weights[ranks[5]]);
    const Vector first = deal.m_IsOneAgainstThree ? hn::Max(positive, hn::Add(negative, any))
                                                  : hn::Max(hn::Add(positive, any), negative);
    const Vector second =
        hn::Max(hn::Add(weights[ranks[2]], weights[ranks[6]]), hn::Add(weights[ranks[3]], weights[ranks[7]]));
    return hn::Lt(hn::Max(first, second), hn::Set(TagInt16(), MaxPairSum + 1));
}

/// Joins four bytes of each column to a word.
HWY_INLINE void StoreWords(const Vector (&bytes)[4], int32_t* first, int32_t* second)
{
    const TagInt16 d;
    const TagInt32 dWords;
    const hn::RebindToUnsigned<TagInt16> dUnsigned;
    const hn::Half<decltype(dUnsigned)> dHalf;
    const hn::RebindToUnsigned<TagInt32> dWide;
    const Vector byte = hn::Set(d, 0xFF);
    const auto low = hn::BitCast(dUnsigned, hn::Or(hn::And(bytes[0], byte), hn::ShiftLeft<8>(bytes[1])));
    const auto high = hn::BitCast(dUnsigned, hn::Or(hn::And(bytes[2], byte), hn::ShiftLeft<8>(bytes[3])));
    const auto join = [&](const hn::Vec<decltype(dHalf)>& lower, const hn::Vec<decltype(dHalf)>& upper) HWY_ATTR {
        return hn::BitCast(dWords, hn::Or(hn::PromoteTo(dWide, lower), hn::ShiftLeft<16>(hn::PromoteTo(dWide, upper))));
    };
    hn::Store(join(hn::LowerHalf(dHalf, low), hn::LowerHalf(dHalf, high)), dWords, first);
    hn::Store(join(hn::UpperHalf(dHalf, low), hn::UpperHalf(dHalf, high)), dWords, second);
}

/// Bits of a lane: a weight's magnitude, whether it is negative, and its index in the block.
constexpr int MagnitudeShift = 4;
constexpr int16_t NegativeBit = 8;

HWY_INLINE void ReadSorted(const std::byte* from, Vector (&keys)[Count])
{
    const TagInt16 d;
    const hn::Rebind<int8_t, TagInt16> dBytes;
    HWY_UNROLL(8)
    for (size_t k = 0; k < Count; ++k)
    {
        const auto* const bytes = reinterpret_cast<const int8_t*>(from) + k * hn::Lanes(d);
        const Vector weight = hn::PromoteTo(d, hn::LoadU(dBytes, bytes));
        const Vector negative = hn::And(hn::BroadcastSignBit(weight), hn::Set(d, NegativeBit));
        const Vector place = hn::Or(negative, hn::Set(d, static_cast<int16_t>(k)));
        keys[k] = hn::Or(hn::ShiftLeft<MagnitudeShift>(hn::Abs(weight)), place);
    }
    Sort(keys, std::make_index_sequence<std::size(Comparators)>());
}

/// Adds int16 to int32, for two vectors of columns.
HWY_INLINE void AddTo(int32_t* sums, const Vector& terms)
{
    const TagInt32 d;
    const hn::Half<TagInt16> dHalf;
    int32_t* const second = sums + hn::Lanes(d);
    hn::Store(hn::Add(hn::Load(d, sums), hn::PromoteTo(d, hn::LowerHalf(dHalf, terms))), d, sums);
    hn::Store(hn::Add(hn::Load(d, second), hn::PromoteTo(d, hn::UpperHalf(dHalf, terms))), d, second);
}

/// Writes a step of eight keys, for both vectors, in the order of the deal. `largest`: magnitudes. Where it is 128, all
/// signs are inverted: -128, which cannot be negated, is one of the two largest then.
HWY_INLINE void StoreStep(const Vector (&keys)[Count], const Mask& isOneAgainstThree, const Vector& largest,
                          std::byte* first, int32_t* complemented)
{
    const TagInt16 d;
    const size_t lanes = hn::Lanes(TagInt32());
    const Vector zero = hn::Zero(d);
    // Of a value at a position of the opposite sign: its complement is taken.
    const Vector negative = hn::Set(d, NegativeBit);
    const Vector place = hn::Set(d, 2 * NegativeBit - 1);
    const Vector inverted = hn::IfThenElseZero(hn::Eq(largest, hn::Set(d, 128)), negative);
    const Vector any = hn::IfThenElseZero(isOneAgainstThree, negative);
    Vector places[Count];
    Vector weights[Count];
    Vector ofComplemented = hn::Zero(d);
    HWY_UNROLL(8)
    for (size_t i = 0; i < Count; ++i)
    {
        const Vector sign = hn::Xor(i == AnySign ? any : i % 2 == 1 ? negative : zero, inverted);
        const Vector magnitude = hn::ShiftRight<MagnitudeShift>(keys[i]);
        places[i] = hn::And(hn::Xor(keys[i], sign), place);
        weights[i] = hn::IfThenElse(hn::Eq(sign, negative), hn::Neg(magnitude), magnitude);
        const Mask isComplemented = hn::Eq(hn::And(places[i], negative), negative);
        ofComplemented = hn::Sub(ofComplemented, hn::IfThenElseZero(isComplemented, weights[i]));
    }
    AddTo(complemented, ofComplemented);
    Vector indices[4];
    Vector words[2][4];
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i)
    {
        indices[i] = hn::Or(places[i], hn::ShiftLeft<4>(places[4 + i]));
        words[0][i] = weights[i];
        words[1][i] = weights[4 + i];
    }
    auto* const one = reinterpret_cast<int32_t*>(first);
    auto* const other = reinterpret_cast<int32_t*>(first + PermuteLoopsInt8::StepBytes * lanes);
    StoreWords(indices, one, other);
    StoreWords(words[0], one + lanes, other + lanes);
    StoreWords(words[1], one + 2 * lanes, other + 2 * lanes);
}

void Arrange(const std::byte* from, std::byte* steps, int32_t* complemented, bool (&isStepPaired)[2])
{
    const TagInt16 d;
    Vector keys[Count];
    ReadSorted(from, keys);
    Vector weights[Count];
    HWY_UNROLL(8)
    for (size_t i = 0; i < Count; ++i)
    {
        weights[i] = hn::ShiftRight<MagnitudeShift>(keys[i]);
    }
    const Mask fitFirst = Fit<0>(weights);
    const Mask fitSecond = Fit<1>(weights);
    const Mask isOneAgainstThree = hn::Or(fitFirst, fitSecond);
    const Mask fitAny = hn::Or(isOneAgainstThree, Fit<2>(weights));
    const Mask isFirst = hn::FirstN(d, hn::Lanes(TagInt32()));
    isStepPaired[0] = hn::AllTrue(d, hn::Or(fitAny, hn::Not(isFirst)));
    isStepPaired[1] = hn::AllTrue(d, hn::Or(fitAny, isFirst));
    static_assert(Deals[0].m_IsOneAgainstThree && Deals[1].m_IsOneAgainstThree && !Deals[2].m_IsOneAgainstThree);
    Vector chosen[Count];
    HWY_UNROLL(8)
    for (size_t i = 0; i < Count; ++i)
    {
        const Vector other = hn::IfThenElse(fitSecond, keys[Deals[1].m_Ranks[i]], keys[Deals[2].m_Ranks[i]]);
        chosen[i] = hn::IfThenElse(fitFirst, keys[Deals[0].m_Ranks[i]], other);
    }
    StoreStep(chosen, isOneAgainstThree, weights[0], steps, complemented);
}

PermuteLoopsInt8 MakeLoops()
{
    return {Arrange};
}

#else

PermuteLoopsInt8 MakeLoops()
{
    return {};
}

#endif // HWY_ARCH_X86

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const PermuteLoopsInt8& GetPermuteLoopsInt8()
{
    static constinit PerIsa<PermuteLoopsInt8> loops;
    return loops.Get([] { return TENON_CHOOSE(MakeLoops)(); });
}

} // namespace tenon::cpu
#endif
