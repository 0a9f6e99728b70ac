// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of ReduceVectors.hpp.
#include "backends/cpu/reduce/ReduceVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ReduceVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/reduce/ReduceBooleans-inl.hpp"
#include "backends/cpu/reduce/ReduceProducts-inl.hpp"
#include "backends/cpu/reduce/ReduceRows-inl.hpp"
#include "backends/cpu/reduce/SumInt8-inl.hpp"
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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
