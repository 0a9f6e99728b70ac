// SPDX-License-Identifier: Apache-2.0
// Rows of data around products of bytes, for sources that are compiled for each target (Foreach.hpp): their sums, bytes
// as int16, and sums as floats. Part of Tiles8.cpp; included once a target.
#if defined(TENON_CPU_ROWS8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROWS8_INL
#undef TENON_CPU_ROWS8_INL
#else
#define TENON_CPU_ROWS8_INL
#endif

#include "backends/cpu/gemm/Dots-inl.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"
#include "backends/cpu/simd/Select-inl.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Sums of two vectors' lanes; N: lanes.
template <class D>
HWY_INLINE void SumPair(D d, hn::Vec<D> a, hn::Vec<D> b, uint64_t* sums)
{
    constexpr size_t N = hn::MaxLanes(D());
    if constexpr (N == 1)
    {
        sums[0] = hn::GetLane(a);
        sums[1] = hn::GetLane(b);
    }
    else
    {
        HWY_ALIGN uint64_t pairs[N];
        hn::Store(hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)), d, pairs);
        sums[0] = pairs[0];
        sums[1] = pairs[1];
        for (size_t i = 2; i < N; i += 2)
        {
            sums[0] += pairs[i];
            sums[1] += pairs[i + 1];
        }
    }
}

/// The sums of four rows of at least `Lanes` bytes, each with `flip` applied, which makes int8 of 128 more.
template <size_t Lanes>
HWY_INLINE void SumFour(const uint8_t* const* rows, size_t depth, uint8_t flip, uint64_t* sums)
{
    const hn::CappedTag<uint8_t, Lanes> d;
    const hn::Repartition<uint64_t, decltype(d)> dWide;
    const auto flips = hn::Set(d, flip);
    hn::Vec<decltype(dWide)> totals[4] = {hn::Zero(dWide), hn::Zero(dWide), hn::Zero(dWide), hn::Zero(dWide)};
    size_t i = 0;
    for (; i + Lanes <= depth; i += Lanes)
    {
        for (size_t r = 0; r < 4; ++r)
        {
            totals[r] = hn::Add(totals[r], hn::SumsOf8(hn::Xor(hn::LoadU(d, rows[r] + i), flips)));
        }
    }
    if (i < depth)
    {
        // The last vector lies over the one before it, whose bytes count once.
        const auto isCounted = hn::FirstN(d, Lanes - (depth - i));
        for (size_t r = 0; r < 4; ++r)
        {
            const auto bytes = hn::Xor(hn::LoadU(d, rows[r] + depth - Lanes), flips);
            totals[r] = hn::Add(totals[r], hn::SumsOf8(hn::IfThenZeroElse(isCounted, bytes)));
        }
    }
    SumPair(dWide, totals[0], totals[1], sums);
    SumPair(dWide, totals[2], totals[3], sums + 2);
}

/// The same for rows of any length.
template <size_t Lanes>
HWY_INLINE void SumFourBy(const uint8_t* const* rows, size_t depth, uint8_t flip, uint64_t* sums)
{
    if (depth >= Lanes)
    {
        SumFour<Lanes>(rows, depth, flip, sums);
    }
    else if constexpr (Lanes > 8)
    {
        SumFourBy<Lanes / 2>(rows, depth, flip, sums);
    }
    else
    {
        for (size_t r = 0; r < 4; ++r)
        {
            sums[r] = 0;
            for (size_t i = 0; i < depth; ++i)
            {
                sums[r] += static_cast<uint8_t>(rows[r][i] ^ flip);
            }
        }
    }
}

/// Four rows at a time: most of what a short row takes is to add up the lanes of its vector.
void SumRows(const void* data, size_t dataStride, size_t rows, size_t depth, bool isSigned, int32_t factor,
             int32_t* sums)
{
    const uint8_t flip = isSigned ? 0x80 : 0;
    const auto* bytes = static_cast<const uint8_t*>(data);
    for (size_t r = 0; r < rows; r += 4)
    {
        const uint8_t* four[4];
        for (size_t i = 0; i < 4; ++i)
        {
            four[i] = bytes + std::min(r + i, rows - 1) * dataStride;
        }
        uint64_t totals[4];
        SumFourBy<HWY_LANES(uint8_t)>(four, depth, flip, totals);
        for (size_t i = 0; i < std::min<size_t>(4, rows - r); ++i)
        {
            const int64_t sum = static_cast<int64_t>(totals[i]) - static_cast<int64_t>(depth) * flip;
            sums[r + i] = static_cast<int32_t>(sum * factor);
        }
    }
}

template <typename T>
void WidenFrom(const T* bytes, size_t count, int32_t zeroPoint, int16_t* wide)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> dBytes;
    const size_t lanes = hn::Lanes(d);
    const auto zero = hn::Set(d, static_cast<int16_t>(zeroPoint));
    size_t i = 0;
    for (; i + lanes <= count; i += lanes)
    {
        hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(dBytes, bytes + i)), zero), d, wide + i);
    }
    for (; i < count; ++i)
    {
        wide[i] = static_cast<int16_t>(bytes[i] - zeroPoint);
    }
}

void Widen(const void* bytes, size_t count, bool isSigned, int32_t zeroPoint, int16_t* wide)
{
    isSigned ? WidenFrom(static_cast<const int8_t*>(bytes), count, zeroPoint, wide)
             : WidenFrom(static_cast<const uint8_t*>(bytes), count, zeroPoint, wide);
}

void Flip(const uint8_t* bytes, size_t count, uint8_t* flipped)
{
    const hn::ScalableTag<uint8_t> d;
    const auto sign = hn::Set(d, uint8_t{0x80});
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    {
        hn::StoreU(hn::Xor(hn::LoadU(d, bytes + i), sign), d, flipped + i);
    }
    for (; i < count; ++i)
    {
        flipped[i] = bytes[i] ^ 0x80;
    }
}

/// Columns from c on, `Vectors` vectors of them as far as there are. `SameScale`: the data of all rows have one scale
/// and zero point.
template <size_t Vectors, bool SameScale, bool HasTerms, bool Clamps>
void ToFloatsOfVectors(const FloatRows& rows, const FloatColumns& columns, size_t c)
{
    const Ints d;
    const hn::Rebind<float, Ints> dFloat;
    const size_t lanes = hn::Lanes(d);
    const auto low = hn::Set(dFloat, columns.m_Low);
    const auto high = hn::Set(dFloat, columns.m_High);
    Vector weightSum[Vectors];
    hn::Vec<decltype(dFloat)> columnScale[Vectors], bias[Vectors];
    HWY_UNROLL(2)
    for (size_t v = 0; v < Vectors; ++v)
    {
        const size_t at = c + v * lanes;
        weightSum[v] = hn::Load(d, columns.m_WeightSums + at);
        columnScale[v] = hn::Load(dFloat, columns.m_Scales + at);
        bias[v] = hn::Load(dFloat, columns.m_Bias + at);
    }
    Vector correction[Vectors];
    hn::Vec<decltype(dFloat)> scale[Vectors];
    const auto setRow = [&](size_t r) HWY_ATTR
    {
        const Vector zeroPoint = hn::Set(d, rows.m_ZeroPoints[r]);
        const auto rowScale = hn::Set(dFloat, rows.m_Scales[r]);
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            correction[v] = hn::Mul(zeroPoint, weightSum[v]);
            scale[v] = hn::Mul(rowScale, columnScale[v]);
        }
    };
    setRow(0);
    const size_t lastCount = rows.m_Columns - c - (Vectors - 1) * lanes;
    const size_t numRows = rows.m_Rows;
    const int32_t* sums = rows.m_Sums + c;
    float* out = rows.m_Out + c;
    for (size_t r = 0; r < numRows; ++r, sums += rows.m_SumStride, out += rows.m_OutStride)
    {
        if constexpr (!SameScale)
        {
            setRow(r);
        }
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            Vector sum = hn::Sub(hn::Load(d, sums + v * lanes), correction[v]);
            if constexpr (HasTerms)
            {
                sum = hn::Add(sum, hn::Set(d, rows.m_RowTerms[r]));
            }
            auto real = hn::Add(hn::Mul(hn::ConvertTo(dFloat, sum), scale[v]), bias[v]);
            if constexpr (Clamps)
            {
                real = Clamped(real, low, high);
            }
            StoreSome(real, out + v * lanes, v + 1 < Vectors ? lanes : lastCount);
        }
    }
}

template <bool SameScale, bool HasTerms, bool Clamps>
void ToFloatsOf(const FloatRows& rows, const FloatColumns& columns)
{
    const size_t lanes = hn::Lanes(Ints());
    size_t c = 0;
    for (; c + lanes < rows.m_Columns; c += 2 * lanes)
    {
        ToFloatsOfVectors<2, SameScale, HasTerms, Clamps>(rows, columns, c);
    }
    if (c < rows.m_Columns)
    {
        ToFloatsOfVectors<1, SameScale, HasTerms, Clamps>(rows, columns, c);
    }
}

template <bool SameScale>
void ToFloatsWith(const FloatRows& rows, const FloatColumns& columns)
{
    const bool hasTerms = rows.m_RowTerms != nullptr;
    const auto run =
        columns.m_HasClamp ? (hasTerms ? ToFloatsOf<SameScale, true, true> : ToFloatsOf<SameScale, false, true>)
                           : (hasTerms ? ToFloatsOf<SameScale, true, false> : ToFloatsOf<SameScale, false, false>);
    run(rows, columns);
}

void ToFloats(const FloatRows& rows, const FloatColumns& columns)
{
    const auto isFirst = [&rows](size_t r)
    { return rows.m_ZeroPoints[r] == rows.m_ZeroPoints[0] && rows.m_Scales[r] == rows.m_Scales[0]; };
    size_t same = 1;
    while (same < rows.m_Rows && isFirst(same))
    {
        ++same;
    }
    same >= rows.m_Rows ? ToFloatsWith<true>(rows, columns) : ToFloatsWith<false>(rows, columns);
}

template <bool Clamps>
void ScaleFloatsOf(float* values, size_t count, const FloatColumns& columns)
{
    const FloatTag d;
    const Floats low = hn::Set(d, columns.m_Low);
    const Floats high = hn::Set(d, columns.m_High);
    const float* const scales = columns.m_Scales;
    const float* const bias = columns.m_Bias;
    const auto scaled = [&](Floats value, Floats scale, Floats offset) HWY_ATTR
    {
        const Floats sum = hn::Add(hn::Mul(value, scale), offset);
        return Clamps ? Clamped(sum, low, high) : sum;
    };
    const size_t lanes = hn::Lanes(d);
    size_t c = 0;
    for (; c + lanes <= count; c += lanes)
    {
        const Floats value = hn::LoadU(d, values + c);
        hn::StoreU(scaled(value, hn::LoadU(d, scales + c), hn::LoadU(d, bias + c)), d, values + c);
    }
    if (c < count)
    {
        const size_t left = count - c;
        StoreSome(scaled(LoadSome(values + c, left), LoadSome(scales + c, left), LoadSome(bias + c, left)), values + c,
                  left);
    }
}

void ScaleFloats(float* values, size_t pixels, size_t columnCount, const FloatColumns& columns)
{
    const auto run = columns.m_HasClamp ? ScaleFloatsOf<true> : ScaleFloatsOf<false>;
    for (size_t pixel = 0; pixel < pixels; ++pixel, values += columnCount)
    {
        run(values, columnCount, columns);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
