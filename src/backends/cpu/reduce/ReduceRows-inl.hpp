// SPDX-License-Identifier: Apache-2.0
// Reductions of short rows, for ReduceVectors.cpp. A group has as many rows as 16 bytes have results (4, 8 or 16). Each
// row is reduced to one vector; then vectors are combined in pairs, which halves their number and doubles the rows in
// each:
//     a0 a1 a2 a3, b0 b1 b2 b3  ->  interleave lower: a0 b0 a1 b1, upper: a2 b2 a3 b3  ->  op: a02 b02 a13 b13 -> ...
// Included after simd/Foreach.hpp, once for each target.
#if defined(TENON_REDUCE_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_REDUCE_ROWS_INL
#undef TENON_REDUCE_ROWS_INL
#else
#define TENON_REDUCE_ROWS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

// An operation `Op` on rows has
//   Data, Lane             the types of elements and of results
//   InTag<D>               the tag of a vector of elements that becomes one vector of lanes
//   Neutral                the neutral element
//   Widen(d, elements)     elements to lanes
//   Step(a, b)             the reduction of two vectors
//   Start(d, length)       the start value of the vector of a row of `length` elements

/// The elements after the last whole vector of a row, or the whole row if it is shorter than a vector.
template <class DIn>
class RowTail
{
public:
    using Data = hn::TFromD<DIn>;

    explicit RowTail(size_t length)
    {
        constexpr size_t Lanes = hn::MaxLanes(DIn());
        m_Whole = length / Lanes * Lanes;
        const size_t count = length - m_Whole;
        m_HasRest = count != 0;
        // The load includes elements before the tail if there are enough.
        m_First = length < Lanes ? 0 : length - Lanes;
        const size_t skipped = length < Lanes ? 0 : Lanes - count;
        hn::TFromD<Bits> bits[Lanes] = {};
        for (size_t i = 0; i < count; ++i)
        {
            bits[skipped + i] = static_cast<hn::TFromD<Bits>>(-1);
        }
        m_Bits = hn::LoadU(Bits(), bits);
    }

    size_t GetWhole() const { return m_Whole; }
    bool HasRest() const { return m_HasRest; }

    HWY_INLINE hn::Vec<DIn> Load(const Data* row, Data neutral) const
    {
        const DIn d;
        const auto isIn = hn::MaskFromVec(hn::BitCast(d, m_Bits));
        return hn::IfThenElse(isIn, hn::LoadU(d, row + m_First), hn::Set(d, neutral));
    }

private:
    using Bits = hn::RebindToSigned<DIn>;

    size_t m_Whole = 0;
    size_t m_First = 0;
    bool m_HasRest = false;
    hn::Vec<Bits> m_Bits;
};

/// Combines neighbouring lanes of two groups of 2^Level rows each. The groups are interleaved in the result.
template <class Op, size_t Level, class D>
HWY_INLINE hn::Vec<D> ReducePairs(D d, hn::Vec<D> a, hn::Vec<D> b)
{
    const hn::Repartition<hwy::UnsignedFromSize<sizeof(hn::TFromD<D>) << Level>, D> dPairs;
    const auto x = hn::BitCast(dPairs, a);
    const auto y = hn::BitCast(dPairs, b);
    return Op::Step(hn::BitCast(d, hn::InterleaveLower(dPairs, x, y)),
                    hn::BitCast(d, hn::InterleaveUpper(dPairs, x, y)));
}

/// Reduces 2^Level rows that lie `stride` apart to one vector of interleaved partial results.
template <class Op, size_t Level, class D>
HWY_INLINE hn::Vec<D> ReduceRowVectors(D d, const typename Op::Data* in, size_t stride,
                                       const RowTail<typename Op::template InTag<D>>& tail, hn::Vec<D> start)
{
    if constexpr (Level > 2)
    {
        const auto first = ReduceRowVectors<Op, Level - 1>(d, in, stride, tail, start);
        const auto second = ReduceRowVectors<Op, Level - 1>(d, in + (stride << (Level - 1)), stride, tail, start);
        return ReducePairs<Op, Level - 1>(d, first, second);
    }
    else
    {
        const typename Op::template InTag<D> dIn;
        const auto* in1 = in + stride;
        const auto* in2 = in1 + stride;
        const auto* in3 = in2 + stride;
        auto acc0 = start;
        auto acc1 = start;
        auto acc2 = start;
        auto acc3 = start;
        const size_t whole = tail.GetWhole();
        for (size_t i = 0; i < whole; i += hn::MaxLanes(dIn))
        {
            acc0 = Op::Step(acc0, Op::Widen(d, hn::LoadU(dIn, in + i)));
            acc1 = Op::Step(acc1, Op::Widen(d, hn::LoadU(dIn, in1 + i)));
            acc2 = Op::Step(acc2, Op::Widen(d, hn::LoadU(dIn, in2 + i)));
            acc3 = Op::Step(acc3, Op::Widen(d, hn::LoadU(dIn, in3 + i)));
        }
        if (tail.HasRest())
        {
            acc0 = Op::Step(acc0, Op::Widen(d, tail.Load(in, Op::Neutral)));
            acc1 = Op::Step(acc1, Op::Widen(d, tail.Load(in1, Op::Neutral)));
            acc2 = Op::Step(acc2, Op::Widen(d, tail.Load(in2, Op::Neutral)));
            acc3 = Op::Step(acc3, Op::Widen(d, tail.Load(in3, Op::Neutral)));
        }
        return ReducePairs<Op, 1>(d, ReducePairs<Op, 0>(d, acc0, acc1), ReducePairs<Op, 0>(d, acc2, acc3));
    }
}

/// Reduces all blocks of 16 bytes of a vector to one.
template <class Op, class V>
HWY_INLINE auto ReduceBlocks(V v)
{
    const hn::DFromV<V> d;
    if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromV<V>) > 16)
    {
        const hn::Half<decltype(d)> dHalf;
        return ReduceBlocks<Op>(Op::Step(hn::LowerHalf(dHalf, v), hn::UpperHalf(dHalf, v)));
    }
    else
    {
        return v;
    }
}

/// ReduceRows with vectors of tag D, for rows that are not long.
template <class Op, auto OneRow, class D>
HWY_INLINE void ReduceRowsBy(D d, const typename Op::Data* in, size_t rows, size_t length, typename Op::Lane* out)
{
    using Data = typename Op::Data;
    using Lane = typename Op::Lane;
    using InTag = typename Op::template InTag<D>;
    constexpr size_t Group = 16 / sizeof(Lane);
    constexpr size_t Level = Group == 4 ? 2 : Group == 8 ? 3 : 4;
    constexpr size_t InLanes = hn::MaxLanes(InTag());
    const hn::CappedTag<Lane, Group> dGroup;
    const RowTail<InTag> tail(length);
    const auto start = Op::Start(d, length);
    const auto reduce = [&](const Data* from, size_t stride) HWY_ATTR
    { return ReduceBlocks<Op>(ReduceRowVectors<Op, Level>(d, from, stride, tail, start)); };
    // A vector reads beyond the end of a shorter row. Only the last rows have no other rows behind them that may be
    // read.
    const size_t elements = rows * length;
    const size_t readable = length >= InLanes ? rows : elements < InLanes ? 0 : (elements - InLanes) / length + 1;
    size_t row = 0;
    for (; row + Group <= readable; row += Group)
    {
        hn::StoreU(reduce(in + row * length, length), dGroup, out + row);
    }
    for (; row < rows; ++row)
    {
        const Data* from = in + row * length;
        if constexpr (std::is_integral_v<Lane>)
        {
            OneRow(from, length, out + row);
        }
        else
        {
            // The same order of additions as in a group: the result must not depend on the rows of a task.
            Data padded[InLanes] = {};
            if (length < InLanes)
            {
                std::memcpy(padded, from, length * sizeof(Data));
                from = padded;
            }
            out[row] = hn::GetLane(reduce(from, 0));
        }
    }
}

/// Reduces contiguous rows. Long rows, where the reduction of the last vector does not matter, go to `OneRow`(row,
/// length, out).
template <class Op, auto OneRow>
void ReduceRows(const void* in, size_t rows, size_t length, void* out)
{
    using Data = typename Op::Data;
    using Lane = typename Op::Lane;
    const hn::ScalableTag<Lane> d;
    const hn::CappedTag<Lane, 16 / sizeof(Lane)> block;
    constexpr size_t InLanes = hn::MaxLanes(typename Op::template InTag<decltype(d)>());
    constexpr size_t Long = 16 * InLanes;
    const auto* from = static_cast<const Data*>(in);
    auto* to = static_cast<Lane*>(out);
    if (length >= Long)
    {
        for (size_t row = 0; row < rows; ++row)
        {
            OneRow(from + row * length, length, to + row);
        }
    }
    else if (length >= InLanes)
    {
        ReduceRowsBy<Op, OneRow>(d, from, rows, length, to);
    }
    else
    {
        ReduceRowsBy<Op, OneRow>(block, from, rows, length, to);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
