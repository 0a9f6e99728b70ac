// SPDX-License-Identifier: Apache-2.0
// Loops over rows around an int8 GEMM: widening of data to int16, XOR 0x80, and dequantization of accumulators in
// memory. Part of MicrokernelsInt8.cpp, which is compiled for each target (Foreach.hpp); included once a target.
#if defined(TENON_CPU_ROW_LOOPS_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_LOOPS_INT8_INL
#undef TENON_CPU_ROW_LOOPS_INT8_INL
#else
#define TENON_CPU_ROW_LOOPS_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

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

void SignXor(const uint8_t* bytes, size_t count, uint8_t* flipped)
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

/// Dequantizes the columns from c on, up to `Vectors` vectors of them. `SameScale`: the data of all rows have one scale
/// and zero point.
template <size_t Vectors, bool SameScale, bool HasTerms, bool Clamps>
void DequantizeVectors(const DequantizeRows& rows, const DequantizeColumns& columns, size_t c)
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
        weightSum[v] = hn::Load(d, columns.m_ColumnSums + at);
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
                sum = hn::Add(sum, hn::Set(d, rows.m_RowCorrections[r]));
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
void DequantizeAll(const DequantizeRows& rows, const DequantizeColumns& columns)
{
    const size_t lanes = hn::Lanes(Ints());
    size_t c = 0;
    for (; c + lanes < rows.m_Columns; c += 2 * lanes)
    {
        DequantizeVectors<2, SameScale, HasTerms, Clamps>(rows, columns, c);
    }
    if (c < rows.m_Columns)
    {
        DequantizeVectors<1, SameScale, HasTerms, Clamps>(rows, columns, c);
    }
}

template <bool SameScale>
void DequantizeWith(const DequantizeRows& rows, const DequantizeColumns& columns)
{
    const bool hasTerms = rows.m_RowCorrections != nullptr;
    const auto run = columns.m_HasClamp
                         ? (hasTerms ? DequantizeAll<SameScale, true, true> : DequantizeAll<SameScale, false, true>)
                         : (hasTerms ? DequantizeAll<SameScale, true, false> : DequantizeAll<SameScale, false, false>);
    run(rows, columns);
}

void Dequantize(const DequantizeRows& rows, const DequantizeColumns& columns)
{
    const auto isFirst = [&rows](size_t r)
    { return rows.m_ZeroPoints[r] == rows.m_ZeroPoints[0] && rows.m_Scales[r] == rows.m_Scales[0]; };
    size_t same = 1;
    while (same < rows.m_Rows && isFirst(same))
    {
        ++same;
    }
    same >= rows.m_Rows ? DequantizeWith<true>(rows, columns) : DequantizeWith<false>(rows, columns);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
