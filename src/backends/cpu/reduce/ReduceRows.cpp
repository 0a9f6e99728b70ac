// SPDX-License-Identifier: Apache-2.0
// Reductions of rows, with vectors along the elements, several short rows at a time: sums, extremes, any and all of
// Booleans (bytes, true if not 0), and products of floats; and the requantization of sums.
#include "backends/cpu/reduce/ReduceVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ReduceRows.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/reduce/ReduceOperations-inl.hpp"
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/HalfEven-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Any and all of Booleans, of bytes unchanged: only the result is compared with 0.
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

/// Combines the lower and the upper half of each 16-byte block of two groups of 2^Level rows each. The groups are
/// interleaved in the result.
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

// Sums of int8 and uint8: psadbw adds eight bytes; int8 is biased by 128 (XOR 0x80), and 128 * length is subtracted.

/// The XOR mask that biases int8 by 128: 0x80, and 0 for uint8.
template <typename T>
constexpr uint8_t SignXorOf = std::is_signed_v<T> ? 0x80 : 0;

/// The operation of ReduceRows that sums rows, with int8 biased by 128: one instruction (psadbw) adds eight bytes.
template <typename T>
struct SadSumInt8
{
    using Data = uint8_t;
    using Lane = int32_t;
    template <class D>
    using InTag = hn::Repartition<uint8_t, D>;
    static constexpr uint8_t Neutral = SignXorOf<T>;
    template <class D>
    static HWY_INLINE hn::Vec<D> Widen(D d, hn::Vec<InTag<D>> bytes)
    {
        return hn::BitCast(d, hn::SumsOf8(hn::Xor(bytes, hn::Set(InTag<D>(), SignXorOf<T>))));
    }
    template <class V>
    static HWY_INLINE V Step(V a, V b)
    {
        return hn::Add(a, b);
    }
    /// Subtracts the bias of the whole row, 128 * length for int8, at its start.
    template <class D>
    static HWY_INLINE hn::Vec<D> Start(D d, size_t length)
    {
        return hn::IfThenElseZero(hn::FirstN(d, 1), hn::Set(d, -static_cast<int32_t>(SignXorOf<T> * length)));
    }
};

/// The sum of a row of any length.
template <typename T>
void SumRowInt8(const uint8_t* in, size_t length, int32_t* out)
{
    using Tag = hn::ScalableTag<uint8_t>;
    const Tag d;
    const hn::Repartition<uint64_t, Tag> dWide;
    constexpr size_t Lanes = hn::MaxLanes(Tag());
    constexpr uint8_t SignXor = SignXorOf<T>;
    const auto signXor = hn::Set(d, SignXor);
    auto sum0 = hn::Zero(dWide);
    auto sum1 = sum0;
    size_t i = 0;
    for (; i + 2 * Lanes <= length; i += 2 * Lanes)
    {
        sum0 = hn::Add(sum0, hn::SumsOf8(hn::Xor(hn::LoadU(d, in + i), signXor)));
        sum1 = hn::Add(sum1, hn::SumsOf8(hn::Xor(hn::LoadU(d, in + i + Lanes), signXor)));
    }
    for (; i < length; i += Lanes)
    {
        const size_t count = HWY_MIN(length - i, Lanes);
        const auto bytes = count == Lanes ? hn::LoadU(d, in + i) : LoadFirst(d, in + i, count, SignXor);
        sum0 = hn::Add(sum0, hn::SumsOf8(hn::Xor(bytes, signXor)));
    }
    HWY_ALIGN uint64_t lanes[Lanes / 8];
    hn::Store(hn::Add(sum0, sum1), dWide, lanes);
    const uint64_t sum = std::accumulate(std::begin(lanes), std::end(lanes), uint64_t{0});
    *out = static_cast<int32_t>(static_cast<uint32_t>(sum - uint64_t{SignXor} * length));
}

namespace
{

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

/// `ofDifferences`: the stored results of a vector of sums less their zero points.
template <typename T, typename Rescale, typename F>
HWY_INLINE void RescaleBy(const Rescale& rescale, const int32_t* sums, size_t count, void* out, const F& ofDifferences)
{
    const hn::ScalableTag<int32_t> d;
    const hn::Rebind<T, decltype(d)> dOut;
    constexpr size_t Lanes = hn::MaxLanes(d);
    const auto zeroPoints = hn::Set(d, static_cast<int32_t>(rescale.GetZeroPoints()));
    auto* to = static_cast<T*>(out);
    size_t i = 0;
    for (; i + Lanes <= count; i += Lanes)
    {
        hn::StoreU(ofDifferences(dOut, hn::Sub(hn::LoadU(d, sums + i), zeroPoints)), dOut, to + i);
    }
    for (; i < count; ++i)
    {
        to[i] = rescale.template Apply<T>(sums[i]);
    }
}

template <typename T>
void Rescale(const ref::SumRescale& rescale, const int32_t* sums, size_t count, void* out)
{
    using Tag = hn::ScalableTag<int32_t>;
    const Tag d;
    const AnyBoundedMultiplier<Tag> multiply(rescale.GetMultiplier());
    const auto zeroOutput = hn::Set(d, rescale.GetZeroOutput());
    const auto minimum = hn::Set(d, int32_t{std::numeric_limits<T>::min()});
    const auto maximum = hn::Set(d, int32_t{std::numeric_limits<T>::max()});
    RescaleBy<T>(rescale, sums, count, out,
                 [&](auto dOut, auto differences) HWY_ATTR
                 {
                     const auto stored = hn::Add(multiply(differences), zeroOutput);
                     return hn::DemoteTo(dOut, hn::Min(hn::Max(stored, minimum), maximum));
                 });
}

template <typename T>
void RescaleHalfEven(const ref::HalfEvenMean& mean, const int32_t* sums, size_t count, void* out)
{
    RescaleBy<T>(mean, sums, count, out,
                 [&](auto dOut, auto differences) HWY_ATTR
                 { return ToStoredHalfEven(dOut, differences, mean.GetFactor(), mean.GetZeroOutput()); });
}

template <typename Op>
constexpr ReduceRowsFunction ReduceRowsBySteps = ReduceRows<Op, ReduceRow<Op>>;

ReduceFunctions MakeRows()
{
    ReduceFunctions functions;
    functions.m_Rows[0][0] = ReduceRows<SumFloats, SumFloatRow>;
    functions.m_Rows[0][1] = ReduceRows<SadSumInt8<int8_t>, SumRowInt8<int8_t>>;
    functions.m_Rows[0][2] = ReduceRows<SadSumInt8<uint8_t>, SumRowInt8<uint8_t>>;
    functions.m_Rows[0][3] = ReduceRowsBySteps<SumIntegers<int16_t>>;
    functions.m_Rows[1][0] = ReduceRowsBySteps<Extreme<float, true>>;
    functions.m_Rows[1][1] = ReduceRowsBySteps<Extreme<int8_t, true>>;
    functions.m_Rows[1][2] = ReduceRowsBySteps<Extreme<uint8_t, true>>;
    functions.m_Rows[1][3] = ReduceRowsBySteps<Extreme<int16_t, true>>;
    functions.m_Rows[2][0] = ReduceRowsBySteps<Extreme<float, false>>;
    functions.m_Rows[2][1] = ReduceRowsBySteps<Extreme<int8_t, false>>;
    functions.m_Rows[2][2] = ReduceRowsBySteps<Extreme<uint8_t, false>>;
    functions.m_Rows[2][3] = ReduceRowsBySteps<Extreme<int16_t, false>>;
    functions.m_Rows[3][2] = RowsOfBooleans<true>::Run;
    functions.m_Rows[4][2] = RowsOfBooleans<false>::Run;
    functions.m_Rows[5][0] = MultiplyRows;
    functions.m_Rescale[1] = Rescale<int8_t>;
    functions.m_Rescale[2] = Rescale<uint8_t>;
    functions.m_Rescale[3] = Rescale<int16_t>;
    functions.m_RescaleHalfEven[1] = RescaleHalfEven<int8_t>;
    functions.m_RescaleHalfEven[2] = RescaleHalfEven<uint8_t>;
    functions.m_RescaleHalfEven[3] = RescaleHalfEven<int16_t>;
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
    return functions.Get(
        []
        {
            ReduceFunctions made = TENON_CHOOSE(MakeRows)();
            SetReduceColumns(made);
            return made;
        });
}

} // namespace tenon::cpu
#endif
