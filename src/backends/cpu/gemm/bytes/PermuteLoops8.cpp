// SPDX-License-Identifier: Apache-2.0
// Orders of weights, for two vectors of columns at a time: sorted by a network, and dealt out by rank. Of a couple's
// four weights that share a sum, two are from the ends of the order and have opposite signs most of the time, and two
// from its middle, where they are small.
#include "backends/cpu/gemm/bytes/PermuteLoops8.hpp"

#include "backends/cpu/gemm/bytes/SplitLoops8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <array>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/bytes/PermuteLoops8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

#if HWY_ARCH_X86

using Ints = hn::ScalableTag<int32_t>;
using Shorts = hn::ScalableTag<int16_t>; // of two vectors of columns
using Vector = hn::Vec<Shorts>;
using Mask = hn::Mask<Shorts>;

/// The comparators of Batcher's odd-even merge sort (Batcher 1968), calling visit(lower, upper) for each.
template <typename Visit>
constexpr void VisitComparators(size_t count, const Visit& visit)
{
    for (size_t p = 1; p < count; p *= 2)
    {
        for (size_t k = p; k >= 1; k /= 2)
        {
            for (size_t j = k % p; j + k < count; j += 2 * k)
            {
                for (size_t i = 0; i < k && i + j + k < count; ++i)
                {
                    if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
                    {
                        visit(i + j, i + j + k);
                    }
                }
            }
        }
    }
}

template <size_t Count>
constexpr size_t CountComparators()
{
    size_t comparators = 0;
    VisitComparators(Count, [&comparators](size_t, size_t) { ++comparators; });
    return comparators;
}

template <size_t Count>
constexpr auto ListComparators()
{
    std::array<std::pair<size_t, size_t>, CountComparators<Count>()> list = {};
    size_t next = 0;
    VisitComparators(Count,
                     [&](size_t lower, size_t upper)
                     {
                         list[next].first = lower;
                         list[next].second = upper;
                         ++next;
                     });
    return list;
}

HWY_INLINE void Exchange(Vector& lower, Vector& upper)
{
    const Vector least = hn::Min(lower, upper);
    upper = hn::Max(lower, upper);
    lower = least;
}

template <size_t Count, size_t... Comparators>
HWY_INLINE void Sort(Vector (&keys)[Count], std::index_sequence<Comparators...>)
{
    constexpr auto List = ListComparators<Count>();
    (Exchange(keys[List[Comparators].first], keys[List[Comparators].second]), ...);
}

/// Which rank goes where: for each step, four weights of its first word and four of its second. The first two of both
/// words share a sum when they are coupled, and so do the last two; else the two of a word do.
template <size_t Count>
using Order = std::array<uint8_t, Count>;
constexpr Order<8> EndsWithMiddle8 = {0, 7, 1, 6, 3, 4, 2, 5};
/// One after the other is tried, as none suits every column. Found by search for normally distributed weights: where
/// the largest is three standard deviations, they serve 94 columns of a hundred, and any order at all would serve 96.
constexpr std::array<Order<16>, 3> Coupled16 = {{{0, 12, 1, 14, 9, 10, 7, 8, 3, 15, 2, 13, 5, 6, 4, 11},
                                                 {1, 14, 0, 12, 6, 9, 7, 11, 2, 15, 3, 13, 5, 8, 4, 10},
                                                 {2, 14, 3, 15, 6, 7, 4, 5, 1, 13, 0, 12, 8, 9, 10, 11}}};
constexpr Order<16> MiddleFirst16 = {4, 11, 5, 10, 7, 8, 6, 9, 0, 15, 1, 14, 2, 13, 3, 12};

/// Sorted weights of a column in each lane.
template <size_t Count>
struct Ranked
{
    Vector m_All[Count];
    Vector m_Positive[Count]; ///< 0 where one is negative
};

/// Where those of some ranks have a sum of positive ones, and one of negative ones, that products of unsigned bytes
/// have room for.
template <size_t Count, typename... Ranks>
HWY_INLINE Mask Fit(const Ranked<Count>& weights, size_t first, Ranks... rest)
{
    Vector all = weights.m_All[first];
    Vector positive = weights.m_Positive[first];
    ((all = hn::Add(all, weights.m_All[rest]), positive = hn::Add(positive, weights.m_Positive[rest])), ...);
    return hn::Lt(hn::Max(positive, hn::Sub(positive, all)), hn::Set(Shorts(), MostPairSum + 1));
}

/// For the eight ranks of a step.
template <size_t Count>
HWY_INLINE Mask FitCoupled(const Ranked<Count>& weights, const uint8_t* ranks)
{
    return hn::And(Fit(weights, ranks[0], ranks[1], ranks[4], ranks[5]),
                   Fit(weights, ranks[2], ranks[3], ranks[6], ranks[7]));
}

template <size_t Count>
HWY_INLINE Mask FitAlone(const Ranked<Count>& weights, const uint8_t* ranks)
{
    return hn::And(hn::And(Fit(weights, ranks[0], ranks[1]), Fit(weights, ranks[2], ranks[3])),
                   hn::And(Fit(weights, ranks[4], ranks[5]), Fit(weights, ranks[6], ranks[7])));
}

/// Four bytes of each column as a word.
HWY_INLINE void StoreWords(const Vector (&bytes)[4], int32_t* first, int32_t* second)
{
    const Shorts d;
    const Ints dWords;
    const hn::RebindToUnsigned<Shorts> dUnsigned;
    const hn::Half<decltype(dUnsigned)> dHalf;
    const hn::RebindToUnsigned<Ints> dWide;
    const Vector byte = hn::Set(d, 0xFF);
    const auto low = hn::BitCast(dUnsigned, hn::Or(hn::And(bytes[0], byte), hn::ShiftLeft<8>(bytes[1])));
    const auto high = hn::BitCast(dUnsigned, hn::Or(hn::And(bytes[2], byte), hn::ShiftLeft<8>(bytes[3])));
    const auto join = [&](const hn::Vec<decltype(dHalf)>& lower, const hn::Vec<decltype(dHalf)>& upper) HWY_ATTR {
        return hn::BitCast(dWords, hn::Or(hn::PromoteTo(dWide, lower), hn::ShiftLeft<16>(hn::PromoteTo(dWide, upper))));
    };
    hn::Store(join(hn::LowerHalf(dHalf, low), hn::LowerHalf(dHalf, high)), dWords, first);
    hn::Store(join(hn::UpperHalf(dHalf, low), hn::UpperHalf(dHalf, high)), dWords, second);
}

/// Writes a step of eight keys, of both vectors, in the order that it takes them in.
HWY_INLINE void StoreStep(const Vector (&keys)[8], std::byte* first, std::byte* second)
{
    const Shorts d;
    const size_t lanes = hn::Lanes(Ints());
    const Vector index = hn::Set(d, 0x0F);
    Vector indices[4];
    Vector weights[2][4];
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i)
    {
        indices[i] = hn::Or(hn::And(keys[i], index), hn::ShiftLeft<4>(hn::And(keys[4 + i], index)));
        weights[0][i] = hn::ShiftRight<4>(keys[i]);
        weights[1][i] = hn::ShiftRight<4>(keys[4 + i]);
    }
    auto* const one = reinterpret_cast<int32_t*>(first);
    auto* const other = reinterpret_cast<int32_t*>(second);
    StoreWords(indices, one, other);
    StoreWords(weights[0], one + lanes, other + lanes);
    StoreWords(weights[1], one + 2 * lanes, other + 2 * lanes);
}

template <size_t Count>
HWY_INLINE void ReadSorted(const std::byte* from, uint32_t firstIndex, Vector (&keys)[Count], Ranked<Count>& weights)
{
    const Shorts d;
    const hn::Rebind<int8_t, Shorts> dBytes;
    HWY_UNROLL(16)
    for (size_t k = 0; k < Count; ++k)
    {
        const auto* const bytes = reinterpret_cast<const int8_t*>(from) + k * hn::Lanes(d);
        const Vector index = hn::Set(d, static_cast<int16_t>(firstIndex + k));
        keys[k] = hn::Or(hn::ShiftLeft<4>(hn::PromoteTo(d, hn::LoadU(dBytes, bytes))), index);
    }
    Sort(keys, std::make_index_sequence<CountComparators<Count>()>());
    HWY_UNROLL(16)
    for (size_t i = 0; i < Count; ++i)
    {
        weights.m_All[i] = hn::ShiftRight<4>(keys[i]);
        weights.m_Positive[i] = hn::Max(weights.m_All[i], hn::Zero(d));
    }
}

/// Whether a condition holds for all columns of the first vector, or of the second one.
HWY_INLINE bool HoldsForAll(const Mask& condition, const Mask& isElsewhere)
{
    return hn::AllTrue(Shorts(), hn::Or(condition, isElsewhere));
}

void ArrangeEight(const std::byte* from, uint32_t firstIndex, std::byte* steps, int (&numCoupled)[2])
{
    const Shorts d;
    Vector keys[8];
    Ranked<8> weights;
    ReadSorted(from, firstIndex, keys, weights);
    const Mask isFirst = hn::FirstN(d, hn::Lanes(Ints()));
    const Mask fitCoupled = FitCoupled(weights, EndsWithMiddle8.data());
    const Mask fitAlone = FitAlone(weights, EndsWithMiddle8.data());
    for (size_t v = 0; v < 2; ++v)
    {
        const Mask isElsewhere = v == 0 ? hn::Not(isFirst) : isFirst;
        numCoupled[v] = HoldsForAll(fitCoupled, isElsewhere) ? 1 : HoldsForAll(fitAlone, isElsewhere) ? 0 : -1;
    }
    Vector chosen[8];
    HWY_UNROLL(8)
    for (size_t i = 0; i < 8; ++i)
    {
        chosen[i] = keys[EndsWithMiddle8[i]];
    }
    StoreStep(chosen, steps, steps + PermuteLoops8::StepBytes * hn::Lanes(Ints()));
}

void ArrangeSixteen(const std::byte* from, uint32_t firstIndex, std::byte* steps, int (&numCoupled)[2])
{
    const Shorts d;
    Vector keys[16];
    Ranked<16> weights;
    ReadSorted(from, firstIndex, keys, weights);
    const Mask isFirst = hn::FirstN(d, hn::Lanes(Ints()));
    Mask fits[Coupled16.size()] = {};
    Mask fitAny = hn::MaskFromVec(hn::Zero(d));
    for (size_t i = 0; i < Coupled16.size() && !hn::AllTrue(d, fitAny); ++i)
    {
        fits[i] = hn::And(FitCoupled(weights, Coupled16[i].data()), FitCoupled(weights, Coupled16[i].data() + 8));
        fitAny = hn::Or(fitAny, fits[i]);
    }
    Mask takesMiddleFirst = hn::MaskFromVec(hn::Zero(d));
    numCoupled[0] = numCoupled[1] = 2;
    if (!hn::AllTrue(d, fitAny))
    {
        const Mask fitEnds = FitAlone(weights, MiddleFirst16.data() + 8);
        const Mask fitHalf = hn::And(fitEnds, FitCoupled(weights, MiddleFirst16.data()));
        const Mask fitAlone = hn::And(fitEnds, FitAlone(weights, MiddleFirst16.data()));
        for (size_t v = 0; v < 2; ++v)
        {
            const Mask isElsewhere = v == 0 ? hn::Not(isFirst) : isFirst;
            if (!HoldsForAll(fitAny, isElsewhere))
            {
                numCoupled[v] = HoldsForAll(fitHalf, isElsewhere) ? 1 : HoldsForAll(fitAlone, isElsewhere) ? 0 : -1;
                takesMiddleFirst = hn::Or(takesMiddleFirst, hn::Not(isElsewhere));
            }
        }
    }
    const size_t stepBytes = PermuteLoops8::StepBytes * hn::Lanes(Ints());
    for (size_t s = 0; s < 2; ++s)
    {
        Vector chosen[8];
        HWY_UNROLL(8)
        for (size_t i = 0; i < 8; ++i)
        {
            const size_t at = 8 * s + i;
            Vector coupled = keys[Coupled16.back()[at]];
            for (size_t k = Coupled16.size() - 1; k-- > 0;)
            {
                coupled = hn::IfThenElse(fits[k], keys[Coupled16[k][at]], coupled);
            }
            chosen[i] = hn::IfThenElse(takesMiddleFirst, keys[MiddleFirst16[at]], coupled);
        }
        StoreStep(chosen, steps + s * stepBytes, steps + (2 + s) * stepBytes);
    }
}

PermuteLoops8 MakeLoops()
{
    return {ArrangeEight, ArrangeSixteen};
}

#else

PermuteLoops8 MakeLoops()
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

const PermuteLoops8& GetPermuteLoops8()
{
    static const PermuteLoops8 loops = TENON_CHOOSE(MakeLoops)();
    return loops;
}

} // namespace tenon::cpu
#endif
