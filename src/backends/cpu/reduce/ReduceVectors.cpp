// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of ReduceVectors.hpp: any and all of Booleans, products of floats, short rows, sums and extremes.
#include "backends/cpu/reduce/ReduceVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ReduceVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/reduce/SumInt8-inl.hpp"
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

// Any and all of columns and rows of Booleans (bytes, true if not 0).

/// IsAny: any; else all.
template <bool IsAny>
struct Booleans
{
    using Data = uint8_t;
    using Lane = uint8_t;
    template <class D>
    using InTag = D;
    static constexpr uint8_t First = IsAny ? 0 : 1;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<D> values)
    {
        return hn::Min(values, hn::Set(d, uint8_t{1}));
    }
    template <class V>
    static HWY_INLINE V Step(V result, V value)
    {
        return IsAny ? hn::Or(result, value) : hn::And(result, value);
    }
};

/// The bytes unchanged: only the result is compared with 0.
template <bool IsAny>
struct RowsOfBooleans
{
    template <class V>
    static HWY_INLINE V Step(V result, V value)
    {
        return IsAny ? hn::Or(result, value) : hn::Min(result, value);
    }
    template <class D>
    static HWY_INLINE bool Collect(D d, hn::Vec<D> result)
    {
        const auto isZero = hn::Eq(result, hn::Zero(d));
        return IsAny ? !hn::AllTrue(d, isZero) : hn::AllFalse(d, isZero);
    }

    static void Run(const void* in, size_t rows, size_t length, void* out)
    {
        const auto* from = static_cast<const uint8_t*>(in);
        auto* to = static_cast<uint8_t*>(out);
        for (size_t row = 0; row < rows; ++row)
        {
            to[row] = OfRow(from + row * length, length) ? 1 : 0;
        }
    }

private:
    /// The last vector overlaps the one before if the row is not a multiple of a vector.
    static HWY_INLINE bool OfRow(const uint8_t* from, size_t length)
    {
        constexpr size_t Lanes = HWY_LANES(uint8_t);
        const hn::CappedTag<uint8_t, Lanes> d;
        bool result = !IsAny;
        if (length >= Lanes)
        {
            auto acc0 = hn::LoadU(d, from + length - Lanes);
            auto acc1 = acc0;
            size_t i = 0;
            for (; i + 2 * Lanes <= length; i += 2 * Lanes)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
                acc1 = Step(acc1, hn::LoadU(d, from + i + Lanes));
            }
            if (i + Lanes <= length)
            {
                acc0 = Step(acc0, hn::LoadU(d, from + i));
            }
            result = Collect(d, Step(acc0, acc1));
        }
        else
        {
            CoverBy<uint8_t, Lanes / 2>(length,
                                        [&](auto part, size_t i) HWY_ATTR
                                        {
                                            const bool found = Collect(part, hn::LoadU(part, from + i));
                                            result = IsAny ? result || found : result && found;
                                        });
        }
        return result;
    }
};

/// Products of columns. Products of rows in vectors would not be in the reference kernel's order.
struct MultiplyFloats
{
    using Data = float;
    using Lane = float;
    template <class D>
    using InTag = D;
    static constexpr float First = 1.0f;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class V>
    static HWY_INLINE V Step(V product, V value)
    {
        return hn::Mul(product, value);
    }
};

/// Products of `Rows` rows side by side. The factors of a row are multiplied in the reference kernel's order, so each
/// product waits for the one before.
template <size_t Rows>
HWY_INLINE void MultiplySome(const float* in, size_t length, float* out)
{
    float products[Rows];
    std::fill_n(products, Rows, 1.0f);
    for (size_t i = 0; i < length; ++i)
    {
        for (size_t row = 0; row < Rows; ++row)
        {
            products[row] *= in[row * length + i];
        }
    }
    std::copy_n(products, Rows, out);
}

/// See ReduceRowsFunction.
inline void MultiplyRows(const void* in, size_t rows, size_t length, void* out)
{
    constexpr size_t Some = 8;
    const auto* from = static_cast<const float*>(in);
    auto* to = static_cast<float*>(out);
    size_t row = 0;
    for (; row + Some <= rows; row += Some)
    {
        MultiplySome<Some>(from + row * length, length, to + row);
    }
    for (; row < rows; ++row)
    {
        MultiplySome<1>(from + row * length, length, to + row);
    }
}

// Short rows. A group has as many rows as 16 bytes have results (4, 8 or 16). Each row is reduced to one vector; then
// vectors are combined in pairs, which halves their number and doubles the rows in each:
//     a0 a1 a2 a3, b0 b1 b2 b3  ->  interleave lower: a0 b0 a1 b1, upper: a2 b2 a3 b3  ->  op: a02 b02 a13 b13 -> ...
//
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

namespace
{

struct SumFloats
{
    using Data = float;
    using Lane = float;
    template <class D>
    using InTag = D;
    static constexpr float First = 0.0f;
    static constexpr float Neutral = 0.0f;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Zero(d);
    }
    template <class V>
    static HWY_INLINE V Step(V sum, V value)
    {
        return hn::Add(sum, value);
    }
    template <class D>
    static HWY_INLINE float Collect(D d, hn::Vec<D> sum)
    {
        return hn::GetLane(hn::SumOfLanes(d, sum));
    }
    static float Step(float sum, float value) { return sum + value; }
};

template <typename T>
struct SumIntegers
{
    using Data = T;
    using Lane = int32_t;
    template <class D>
    using InTag = hn::Rebind<T, D>;
    static constexpr int32_t First = 0;
    static constexpr T Neutral = 0;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<InTag<D>> values)
    {
        return hn::PromoteTo(d, values);
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Zero(d);
    }
    template <class V>
    static HWY_INLINE V Step(V sum, V value)
    {
        return hn::Add(sum, value);
    }
    template <class D>
    static HWY_INLINE int32_t Collect(D d, hn::Vec<D> sum)
    {
        return hn::GetLane(hn::SumOfLanes(d, sum));
    }
    static int32_t Step(int32_t sum, int32_t value) { return sum + value; }
};

template <typename T, bool IsMax>
struct Extreme
{
    using Data = T;
    using Lane = T;
    template <class D>
    using InTag = D;
    using Limits = std::numeric_limits<T>;
    static constexpr T First = Limits::has_infinity ? (IsMax ? -Limits::infinity() : Limits::infinity())
                                                    : (IsMax ? Limits::lowest() : Limits::max());
    static constexpr T Neutral = First;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D, hn::Vec<D> values)
    {
        return values;
    }
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t)
    {
        return hn::Set(d, First);
    }
    /// NaN is passed over.
    template <class V>
    static HWY_INLINE V Step(V best, V value)
    {
        return IsMax ? GreaterOf(value, best) : LessOf(value, best);
    }
    template <class D>
    static HWY_INLINE T Collect(D, hn::Vec<D> best)
    {
        // Reduces the vector to one block of 16 bytes, then compares halves of the block, and halves of these.
        auto result = ReduceBlocks<Extreme>(best);
        const hn::DFromV<decltype(result)> block;
        result = Step(result, hn::CombineShiftRightBytes<8>(block, result, result));
        result = Step(result, hn::CombineShiftRightBytes<4>(block, result, result));
        if constexpr (sizeof(T) <= 2)
        {
            result = Step(result, hn::CombineShiftRightBytes<2>(block, result, result));
        }
        if constexpr (sizeof(T) == 1)
        {
            result = Step(result, hn::CombineShiftRightBytes<1>(block, result, result));
        }
        return hn::GetLane(result);
    }
    static T Step(T best, T value) { return (IsMax ? value > best : value < best) ? value : best; }
};

/// Sums of columns of more floats than one sum takes.
template <size_t Vectors, class D>
HWY_NOINLINE void SumLongColumns(D d, const float* in, size_t rows, size_t stride, float* out)
{
    constexpr size_t Lanes = hn::MaxLanes(D());
    BlockTotalsF32<Vectors, D> totals;
    hn::Vec<D> acc[Vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        acc[v] = hn::Zero(d);
    }
    for (size_t first = 0; first < rows; first += SumBlock)
    {
        const size_t end = HWY_MIN(rows, first + SumBlock);
        for (size_t row = first; row < end; ++row, in += stride)
        {
            HWY_UNROLL(8)
            for (size_t v = 0; v < Vectors; ++v)
            {
                acc[v] = hn::Add(acc[v], hn::LoadU(d, in + v * Lanes));
            }
        }
        totals.Take(d, acc);
    }
    totals.Give(d, acc);
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        hn::StoreU(acc[v], d, out + v * Lanes);
    }
}

template <typename Op, size_t Vectors, class D>
HWY_INLINE void ReduceVectors(D d, const typename Op::Data* in, size_t rows, size_t stride, typename Op::Lane* out)
{
    if constexpr (std::is_same_v<Op, SumFloats>)
    {
        if (rows > SumBlock)
        {
            SumLongColumns<Vectors>(d, in, rows, stride, out);
            return;
        }
    }
    constexpr size_t Lanes = hn::MaxLanes(D());
    const typename Op::template InTag<D> dIn;
    hn::Vec<D> acc[Vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        acc[v] = hn::Set(d, Op::First);
    }
    for (size_t row = 0; row < rows; ++row, in += stride)
    {
        HWY_UNROLL(8)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[v] = Op::Step(acc[v], Op::Widen(d, hn::LoadU(dIn, in + v * Lanes)));
        }
    }
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        hn::StoreU(acc[v], d, out + v * Lanes);
    }
}

template <typename Op>
void ReduceColumns(const void* in, size_t rows, size_t stride, size_t columns, void* out)
{
    using Lane = typename Op::Lane;
    constexpr size_t Lanes = HWY_LANES(Lane);
    const auto* from = static_cast<const typename Op::Data*>(in);
    auto* to = static_cast<Lane*>(out);
    size_t c = 0;
    for (; c + 8 * Lanes <= columns; c += 8 * Lanes)
    {
        ReduceVectors<Op, 8>(hn::CappedTag<Lane, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + 4 * Lanes <= columns; c += 4 * Lanes)
    {
        ReduceVectors<Op, 4>(hn::CappedTag<Lane, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + 2 * Lanes <= columns; c += 2 * Lanes)
    {
        ReduceVectors<Op, 2>(hn::CappedTag<Lane, Lanes>(), from + c, rows, stride, to + c);
    }
    Cover<Lane>(columns - c,
                [&](auto d, size_t i) { ReduceVectors<Op, 1>(d, from + c + i, rows, stride, to + c + i); });
}

/// Four accumulators, so that an addition need not wait for the one before.
template <typename Op>
void ReduceRow(const typename Op::Data* in, size_t length, typename Op::Lane* out)
{
    using Lane = typename Op::Lane;
    constexpr size_t Lanes = HWY_LANES(Lane);
    const hn::CappedTag<Lane, Lanes> d;
    const typename Op::template InTag<decltype(d)> dIn;
    const auto load = [&](size_t i) HWY_ATTR { return Op::Widen(d, hn::LoadU(dIn, in + i)); };
    auto acc0 = hn::Set(d, Op::First);
    auto acc1 = acc0;
    auto acc2 = acc0;
    auto acc3 = acc0;
    size_t i = 0;
    for (; i + 4 * Lanes <= length; i += 4 * Lanes)
    {
        acc0 = Op::Step(acc0, load(i));
        acc1 = Op::Step(acc1, load(i + Lanes));
        acc2 = Op::Step(acc2, load(i + 2 * Lanes));
        acc3 = Op::Step(acc3, load(i + 3 * Lanes));
    }
    for (; i + Lanes <= length; i += Lanes)
    {
        acc0 = Op::Step(acc0, load(i));
    }
    Lane result = Op::Collect(d, Op::Step(Op::Step(acc0, acc1), Op::Step(acc2, acc3)));
    for (; i < length; ++i)
    {
        result = Op::Step(result, static_cast<Lane>(in[i]));
    }
    *out = result;
}

/// The sum of a row of floats. A long row is summed in blocks, and the blocks in double precision.
void SumFloatRow(const float* in, size_t length, float* out)
{
    constexpr size_t Part = 4 * HWY_LANES(float) * SumBlock;
    if (length <= Part)
    {
        ReduceRow<SumFloats>(in, length, out);
        return;
    }
    double total = 0.0;
    for (size_t i = 0; i < length; i += Part)
    {
        float sum = 0.0f;
        ReduceRow<SumFloats>(in + i, HWY_MIN(Part, length - i), &sum);
        total += static_cast<double>(sum);
    }
    *out = static_cast<float>(total);
}

template <typename T>
void Rescale(const ref::SumRescale& rescale, const int32_t* sums, size_t count, void* out)
{
    using Tag = hn::ScalableTag<int32_t>;
    const Tag d;
    constexpr size_t Lanes = hn::MaxLanes(Tag());
    const AnyBoundedMultiplier<Tag> multiply(rescale.GetMultiplier());
    const auto zeroPoints = hn::Set(d, static_cast<int32_t>(rescale.GetZeroPoints()));
    const auto zeroOutput = hn::Set(d, rescale.GetZeroOutput());
    const auto minimum = hn::Set(d, int32_t{std::numeric_limits<T>::min()});
    const auto maximum = hn::Set(d, int32_t{std::numeric_limits<T>::max()});
    auto* to = static_cast<T*>(out);
    size_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
        const auto scaled = multiply(hn::Sub(hn::LoadU(d, sums + i), zeroPoints));
        const auto stored = hn::Min(hn::Max(hn::Add(scaled, zeroOutput), minimum), maximum);
        hn::StoreU(hn::DemoteTo(hn::Rebind<T, Tag>(), stored), hn::Rebind<T, Tag>(), to + i);
    }
    for (; i < count; ++i)
    {
        to[i] = rescale.Apply<T>(sums[i]);
    }
}

template <typename Op>
void SetFunctions(ReduceFunctions& functions, size_t operation, size_t type)
{
    functions.m_Columns[operation][type] = ReduceColumns<Op>;
    functions.m_Rows[operation][type] = ReduceRows<Op, ReduceRow<Op>>;
}

ReduceFunctions MakeReduceFunctions()
{
    ReduceFunctions functions;
    functions.m_Columns[0][0] = ReduceColumns<SumFloats>;
    functions.m_Rows[0][0] = ReduceRows<SumFloats, SumFloatRow>;
    functions.m_Columns[0][1] = SumColumnsInt8<int8_t, ReduceColumns<SumIntegers<int8_t>>>;
    functions.m_Columns[0][2] = SumColumnsInt8<uint8_t, ReduceColumns<SumIntegers<uint8_t>>>;
    functions.m_Rows[0][1] = ReduceRows<SadSumInt8<int8_t>, SumRowInt8<int8_t>>;
    functions.m_Rows[0][2] = ReduceRows<SadSumInt8<uint8_t>, SumRowInt8<uint8_t>>;
    functions.m_Rescale[1] = Rescale<int8_t>;
    functions.m_Rescale[2] = Rescale<uint8_t>;
    functions.m_Rescale[3] = Rescale<int16_t>;
    SetFunctions<SumIntegers<int16_t>>(functions, 0, 3);
    SetFunctions<Extreme<float, true>>(functions, 1, 0);
    SetFunctions<Extreme<int8_t, true>>(functions, 1, 1);
    SetFunctions<Extreme<uint8_t, true>>(functions, 1, 2);
    SetFunctions<Extreme<int16_t, true>>(functions, 1, 3);
    SetFunctions<Extreme<float, false>>(functions, 2, 0);
    SetFunctions<Extreme<int8_t, false>>(functions, 2, 1);
    SetFunctions<Extreme<uint8_t, false>>(functions, 2, 2);
    SetFunctions<Extreme<int16_t, false>>(functions, 2, 3);
    functions.m_Columns[5][0] = ReduceColumns<MultiplyFloats>;
    functions.m_Rows[5][0] = MultiplyRows;
    functions.m_Columns[3][2] = ReduceColumns<Booleans<true>>;
    functions.m_Columns[4][2] = ReduceColumns<Booleans<false>>;
    functions.m_Rows[3][2] = RowsOfBooleans<true>::Run;
    functions.m_Rows[4][2] = RowsOfBooleans<false>::Run;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const ReduceFunctions& GetReduceFunctions()
{
    static constinit PerIsa<ReduceFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeReduceFunctions)(); });
}

} // namespace tenon::cpu
#endif
