// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of BoxRanks.hpp: few classes by loads that deinterleave columns, more classes by transposed blocks.
#include "backends/cpu/detection/BoxRanks.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/reduce/ReduceVectors.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/detection/BoxRanks.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

template <typename T>
constexpr T Lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

/// Ranks one box after the other.
template <typename T>
void RankEach(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    for (size_t i = begin; i < end; ++i)
    {
        T best = Lowest<T>;
        for (size_t c = scores.m_First; c < scores.m_Columns; ++c)
        {
            best = std::max(best, scores.m_Scores[i * scores.m_Columns + c]);
        }
        ranks[i] = best;
    }
}

/// The largest score of each box of a vector. NaN is passed over.
template <size_t Columns, class D, typename T>
HWY_INLINE hn::Vec<D> RankVector(D d, const T* from, size_t first)
{
    hn::Vec<D> v[Columns];
    if constexpr (Columns == 2)
    {
        hn::LoadInterleaved2(d, from, v[0], v[1]);
    }
    else if constexpr (Columns == 3)
    {
        hn::LoadInterleaved3(d, from, v[0], v[1], v[2]);
    }
    else
    {
        hn::LoadInterleaved4(d, from, v[0], v[1], v[2], v[3]);
    }
    hn::Vec<D> best = hn::Set(d, Lowest<T>);
    best = first == 0 ? GreaterOf(v[0], best) : best;
    HWY_UNROLL(3)
    for (size_t c = 1; c < Columns; ++c)
    {
        best = GreaterOf(v[c], best);
    }
    return best;
}

template <size_t Columns, typename T>
void RankOfFew(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    constexpr size_t Lanes = HWY_LANES(T);
    const hn::CappedTag<T, Lanes> d;
    if (end - begin < Lanes)
    {
        RankEach(scores, begin, end, ranks);
        return;
    }
    for (size_t i = begin; i < end; i += Lanes)
    {
        const size_t box = std::min(i, end - Lanes);
        hn::StoreU(RankVector<Columns>(d, scores.m_Scores + box * Columns, scores.m_First), d, ranks + box);
    }
}

/// The function for few columns; null: there are too many.
template <typename T>
RankBoxes<T> FindRankOfFew(size_t columns)
{
    if (std::is_floating_point_v<T> && HWY_ARCH_ARM_V7)
    {
        return RankEach<T>; // these vectors flush subnormal numbers to zero
    }
    switch (columns)
    {
    case 2: return RankOfFew<2, T>;
    case 3: return RankOfFew<3, T>;
    case 4: return RankOfFew<4, T>;
    default: return nullptr;
    }
}

RankBoxes<float> RankOfFewF32(size_t columns)
{
    return FindRankOfFew<float>(columns);
}

RankBoxes<int8_t> RankOfFewInt8(size_t columns)
{
    return FindRankOfFew<int8_t>(columns);
}

RankBoxes<uint8_t> RankOfFewUint8(size_t columns)
{
    return FindRankOfFew<uint8_t>(columns);
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

template <typename T>
constexpr size_t TypeIndex = std::is_floating_point_v<T> ? 0
                             : std::is_signed_v<T>       ? 1
                                                         : 2; // index of the type in ReduceFunctions

/// Transposes blocks of boxes and classes, so that each class is a row of boxes. The maximum of earlier blocks is one
/// more row.
template <typename T>
void RankOfMany(const BoxScores<T>& scores, size_t begin, size_t end, T* ranks)
{
    constexpr size_t Boxes = 256 / sizeof(T); // boxes: a few vectors on any processor
    constexpr size_t Classes = 32;
    const ReduceFunction findLargest = GetReduceFunctions().m_Columns[1][TypeIndex<T>];
    alignas(64) T block[(Classes + 1) * Boxes];
    for (size_t i = begin; i < end; i += Boxes)
    {
        const size_t boxes = std::min(Boxes, end - i);
        for (size_t c = scores.m_First; c < scores.m_Columns; c += Classes)
        {
            const size_t classes = std::min(Classes, scores.m_Columns - c);
            const bool isFirst = c == scores.m_First;
            SplitClasses({scores.m_Scores, scores.m_Columns, c}, classes, i, i + boxes, block + Boxes, Boxes);
            std::copy_n(ranks + i, isFirst ? 0 : boxes, block);
            findLargest(isFirst ? block + Boxes : block, classes + (isFirst ? 0 : 1), Boxes, boxes, ranks + i);
        }
    }
}

template <typename T>
RankBoxes<T> OrOfMany(RankBoxes<T> few)
{
    return few != nullptr ? few : RankOfMany<T>;
}

} // namespace

template <>
RankBoxes<float> FindRankBoxes(size_t columns)
{
    return OrOfMany(TENON_CHOOSE(RankOfFewF32)(columns));
}

template <>
RankBoxes<int8_t> FindRankBoxes(size_t columns)
{
    return OrOfMany(TENON_CHOOSE(RankOfFewInt8)(columns));
}

template <>
RankBoxes<uint8_t> FindRankBoxes(size_t columns)
{
    return OrOfMany(TENON_CHOOSE(RankOfFewUint8)(columns));
}

template <typename T>
void SplitClasses(const BoxScores<T>& scores, size_t classes, size_t begin, size_t end, T* to, size_t stride)
{
    const T* from = scores.m_Scores + begin * scores.m_Columns + scores.m_First;
    TransposeElements<sizeof(T)>(reinterpret_cast<const std::byte*>(from), scores.m_Columns * sizeof(T), classes,
                                 end - begin, reinterpret_cast<std::byte*>(to), stride * sizeof(T));
}

template void SplitClasses(const BoxScores<float>&, size_t, size_t, size_t, float*, size_t);
template void SplitClasses(const BoxScores<int8_t>&, size_t, size_t, size_t, int8_t*, size_t);
template void SplitClasses(const BoxScores<uint8_t>&, size_t, size_t, size_t, uint8_t*, size_t);

} // namespace tenon::cpu
#endif
