// SPDX-License-Identifier: Apache-2.0
// Reductions of columns, with vectors along columns: sums, extremes, any and all of Booleans (bytes, true if not 0),
// and products of floats.
#include "backends/cpu/reduce/ReduceVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/reduce/ReduceColumns.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/reduce/ReduceOperations-inl.hpp"
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Any and all of Booleans. IsAny: any; else all.
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

// Sums of int8 and uint8: pairs of rows are added to 16 bits (pmaddubsw by ones), 128 rows at most before they are
// widened.

/// Adds neighbouring 8-bit lanes to 16-bit lanes.
#if HWY_ARCH_X86
HWY_INLINE auto AddPairs(hn::Vec128<int8_t> v)
{
    return hn::Vec128<int16_t>{_mm_maddubs_epi16(_mm_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec128<uint8_t> v)
{
    return hn::Vec128<int16_t>{_mm_maddubs_epi16(v.raw, _mm_set1_epi8(1))};
}
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
HWY_INLINE auto AddPairs(hn::Vec256<int8_t> v)
{
    return hn::Vec256<int16_t>{_mm256_maddubs_epi16(_mm256_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec256<uint8_t> v)
{
    return hn::Vec256<int16_t>{_mm256_maddubs_epi16(v.raw, _mm256_set1_epi8(1))};
}
#endif
#if HWY_TARGET == HWY_AVX3
HWY_INLINE auto AddPairs(hn::Vec512<int8_t> v)
{
    return hn::Vec512<int16_t>{_mm512_maddubs_epi16(_mm512_set1_epi8(1), v.raw)};
}
HWY_INLINE auto AddPairs(hn::Vec512<uint8_t> v)
{
    return hn::Vec512<int16_t>{_mm512_maddubs_epi16(v.raw, _mm512_set1_epi8(1))};
}
#endif
#else
HWY_INLINE auto AddPairs(hn::Vec128<int8_t> v)
{
    return hn::Vec128<int16_t>(vpaddlq_s8(v.raw));
}
HWY_INLINE auto AddPairs(hn::Vec128<uint8_t> v)
{
    return hn::Vec128<int16_t>(vreinterpretq_s16_u16(vpaddlq_u8(v.raw)));
}
#endif

/// Adds 16-bit sums to `sums` in the order of columns. `lower` and `upper` hold the sums of the lower and the upper
/// half of each block of 16 bytes.
template <size_t Lanes>
HWY_INLINE void AddHalves(const int16_t* lower, const int16_t* upper, int32_t* sums)
{
    const hn::CappedTag<int32_t, 8> d;
    constexpr size_t Step = hn::MaxLanes(hn::CappedTag<int32_t, 8>());
    for (size_t i = 0; i < Lanes; i += Step)
    {
        const int16_t* const half = i % 16 < 8 ? lower : upper;
        const auto words = hn::LoadU(hn::Rebind<int16_t, decltype(d)>(), half + i / 16 * 8 + i % 8);
        hn::StoreU(hn::Add(hn::LoadU(d, sums + i), hn::PromoteTo(d, words)), d, sums + i);
    }
}

/// Sums of columns: two rows at a time in 16 bits, up to 128 rows, then in int32.
template <size_t Vectors, class D>
HWY_INLINE void SumVectorsInt8(D d, const hn::TFromD<D>* in, size_t rows, size_t stride, int32_t* out)
{
    constexpr size_t Lanes = hn::MaxLanes(D());
    constexpr size_t Block = 128; // rows: 128 * 255 < 2^15
    const hn::Repartition<int16_t, D> dWords;
    HWY_ALIGN int32_t sums[Vectors * Lanes] = {};
    for (size_t first = 0; first < rows; first += Block)
    {
        hn::Vec<decltype(dWords)> lower[Vectors];
        hn::Vec<decltype(dWords)> upper[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            lower[v] = upper[v] = hn::Zero(dWords);
        }
        const size_t end = HWY_MIN(rows, first + Block);
        for (size_t row = first; row < end; row += 2, in += 2 * stride)
        {
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                const auto x = hn::LoadU(d, in + v * Lanes);
                const auto y = row + 1 < end ? hn::LoadU(d, in + stride + v * Lanes) : hn::Zero(d);
                lower[v] = hn::Add(lower[v], AddPairs(hn::InterleaveLower(d, x, y)));
                upper[v] = hn::Add(upper[v], AddPairs(hn::InterleaveUpper(d, x, y)));
            }
        }
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            HWY_ALIGN int16_t words[Lanes];
            hn::Store(lower[v], dWords, words);
            hn::Store(upper[v], dWords, words + Lanes / 2);
            AddHalves<Lanes>(words, words + Lanes / 2, sums + v * Lanes);
        }
    }
    std::memcpy(out, sums, sizeof(sums));
}

/// `Rest` sums the last columns, fewer than a block has bytes.
template <typename T, auto Rest>
void SumColumnsInt8(const void* in, size_t rows, size_t stride, size_t columns, void* out)
{
    constexpr size_t Lanes = HWY_LANES(T);
    constexpr size_t BlockLanes = 16;
    const auto* from = static_cast<const T*>(in);
    auto* to = static_cast<int32_t*>(out);
    size_t c = 0;
    for (; c + 4 * Lanes <= columns; c += 4 * Lanes)
    {
        SumVectorsInt8<4>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + 2 * Lanes <= columns; c += 2 * Lanes)
    {
        SumVectorsInt8<2>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + Lanes <= columns; c += Lanes)
    {
        SumVectorsInt8<1>(hn::CappedTag<T, Lanes>(), from + c, rows, stride, to + c);
    }
    for (; c + BlockLanes <= columns; c += BlockLanes)
    {
        SumVectorsInt8<1>(hn::CappedTag<T, BlockLanes>(), from + c, rows, stride, to + c);
    }
    if (c < columns)
    {
        Rest(from + c, rows, stride, columns - c, to + c);
    }
}

namespace
{

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

void SetColumns(ReduceFunctions& functions)
{
    functions.m_Columns[0][0] = ReduceColumns<SumFloats>;
    functions.m_Columns[0][1] = SumColumnsInt8<int8_t, ReduceColumns<SumIntegers<int8_t>>>;
    functions.m_Columns[0][2] = SumColumnsInt8<uint8_t, ReduceColumns<SumIntegers<uint8_t>>>;
    functions.m_Columns[0][3] = ReduceColumns<SumIntegers<int16_t>>;
    functions.m_Columns[1][0] = ReduceColumns<Extreme<float, true>>;
    functions.m_Columns[1][1] = ReduceColumns<Extreme<int8_t, true>>;
    functions.m_Columns[1][2] = ReduceColumns<Extreme<uint8_t, true>>;
    functions.m_Columns[1][3] = ReduceColumns<Extreme<int16_t, true>>;
    functions.m_Columns[2][0] = ReduceColumns<Extreme<float, false>>;
    functions.m_Columns[2][1] = ReduceColumns<Extreme<int8_t, false>>;
    functions.m_Columns[2][2] = ReduceColumns<Extreme<uint8_t, false>>;
    functions.m_Columns[2][3] = ReduceColumns<Extreme<int16_t, false>>;
    functions.m_Columns[3][2] = ReduceColumns<Booleans<true>>;
    functions.m_Columns[4][2] = ReduceColumns<Booleans<false>>;
    functions.m_Columns[5][0] = ReduceColumns<MultiplyFloats>;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void SetReduceColumns(ReduceFunctions& functions)
{
    TENON_CHOOSE(SetColumns)(functions);
}

} // namespace tenon::cpu
#endif
