// SPDX-License-Identifier: Apache-2.0
// Epilogue of accumulators in memory.
//
// Requantize, bit-exact with TFLite's reference kernels: out = clamp(zp + MultiplyByQuantizedMultiplier(sum, m,
// shift)), or zp + sum * scale in double precision, rounded once half away from zero, for FullyConnected.
//
// Requantize as ONNX Runtime (RequantizationMode::FloatHalfEven): out = clamp(zp + nearbyint(float(sum) * factor)), in
// float, rounded half to even (FloatScale). Products are bounded by MaxFloatProduct, so that conversion saturates.
//
// Both rounding steps of a multiplier are one floor division: with 2^31 taken from negative products, as halves are
// rounded away from zero,
//   (x * m + 2^30 + 2^(30 + s)) >> (31 + s)
// Right shifts of 1 to 21 let the zero point be added before the last shift (MaxShift). A clamp at or above the zero
// point makes the step for negative products unnecessary (PositiveScale).
//
// Dequantize (hybrid): out = clamp(float(sum - zero point * column sum) * (row scale * column scale) + bias)
//
// FinishBlocks, of sums with a scale per block: out = clamp((sum - zero point * factor) * row scale + bias)
//
// Epilogues of accumulators in registers have PrepareRequantization (RequantizeAvx512Int8-inl.hpp) from here.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/epilogue/EpilogueInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/gemm/epilogue/RequantizeAvx2Int8-inl.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/MinMax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Stores int16 values, which are in range, as bytes.
template <typename T>
void StoreBytes(Vector values, T* out, size_t count)
{
    const Ints d;
    const hn::Rebind<T, Ints> dBytes;
    const auto bytes = hn::DemoteTo(dBytes, values);
    if (count >= hn::Lanes(d))
    {
        hn::StoreU(bytes, dBytes, out);
    }
    else
    {
        T buffer[HWY_MAX_BYTES / sizeof(int32_t)];
        hn::StoreU(bytes, dBytes, buffer);
        std::memcpy(out, buffer, count * sizeof(T));
    }
}

/// Multipliers and shifts of a vector's lanes.
struct MultiplierScale
{
    Vector m_Multiplier, m_Right, m_Left;
    bool m_GrowsAny;

    HWY_INLINE MultiplierScale(const RequantizeColumns& columns, size_t c)
        : m_Multiplier(hn::Load(Ints(), columns.m_Multiplier + c)), m_Right(hn::Load(Ints(), columns.m_Right + c)),
          m_Left(hn::Load(Ints(), columns.m_Left + c)),
          m_GrowsAny(!hn::AllFalse(Ints(), hn::Gt(m_Left, hn::Zero(Ints()))))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        const Ints d;
        if (HWY_UNLIKELY(m_GrowsAny))
        {
            x = ShiftLeftBounded(d, x, m_Left);
        }
        return MultiplyLanes(d, x, m_Multiplier, m_Right);
    }
};

template <typename T, typename Scale>
void RequantizeTo(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    const Vector zeroPoint = hn::Set(d, columns.m_ZeroPoint);
    const Vector lowest = hn::Set(d, columns.m_Min);
    const Vector highest = hn::Set(d, columns.m_Max);
    for (size_t c = 0; c < rows.m_Columns; c += lanes)
    {
        const Scale scale(columns, c);
        T* out = static_cast<T*>(rows.m_Out) + c;
        for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride)
        {
            Vector x = hn::Load(d, rows.m_Sums + r * rows.m_SumStride + c);
            if (rows.m_RowCorrections != nullptr)
            {
                x = hn::Add(x, hn::Set(d, rows.m_RowCorrections[r]));
            }
            x = hn::Add(scale(x), zeroPoint);
            StoreBytes(hn::Min(hn::Max(x, lowest), highest), out, rows.m_Columns - c);
        }
    }
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

template <typename T, typename Scale, bool HasTerms>
void RequantizeShifted(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    // Packing saturates to the range of the type.
    const bool clamps =
        columns.m_Min > std::numeric_limits<T>::lowest() || columns.m_Max < std::numeric_limits<T>::max();
    clamps ? RequantizeAllColumns<T, Scale, HasTerms, true>(rows, columns)
           : RequantizeAllColumns<T, Scale, HasTerms, false>(rows, columns);
}

template <typename T, typename Scale>
void RequantizeScaled(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    rows.m_RowCorrections != nullptr ? RequantizeShifted<T, Scale, true>(rows, columns)
                                     : RequantizeShifted<T, Scale, false>(rows, columns);
}

template <typename T>
void RequantizeByMultipliers(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    const auto run = !columns.m_HasOnlyRightShifts ? RequantizeTo<T, MultiplierScale>
                     : columns.IsNegativeUniform() ? RequantizeScaled<T, PositiveScale>
                                                   : RequantizeScaled<T, AnyScale>;
    run(rows, columns);
}

#else

#if HWY_HAVE_FLOAT64

/// Scales half a vector of accumulators by doubles.
template <typename Half>
HWY_INLINE auto RescaleHalf(Half x, const double* scale)
{
    const hn::RepartitionToWide<Ints> dWide;
    const hn::Rebind<double, decltype(dWide)> d;
    const auto product = hn::Mul(hn::PromoteTo(d, x), hn::LoadU(d, scale));
    const auto rounded = hn::Trunc(hn::Add(product, hn::CopySign(hn::Set(d, BelowHalf), product)));
    const auto bound = hn::Set(d, MaxRounded);
    return hn::DemoteTo(hn::Rebind<int32_t, decltype(d)>(), hn::Max(hn::Neg(bound), hn::Min(bound, rounded)));
}

HWY_INLINE Vector Rescale(Vector x, const double* scale)
{
    const Ints d;
    const hn::Half<Ints> half;
    return hn::Combine(d, RescaleHalf(hn::UpperHalf(half, x), scale + hn::Lanes(half)),
                       RescaleHalf(hn::LowerHalf(half, x), scale));
}

#else // 32-bit Arm has doubles, but no vectors of them

HWY_INLINE Vector Rescale(Vector x, const double* scale)
{
    const Ints d;
    HWY_ALIGN int32_t values[HWY_MAX_BYTES / sizeof(int32_t)];
    hn::Store(x, d, values);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
    {
        const double product = values[i] * scale[i];
        const double rounded = std::trunc(product + std::copysign(BelowHalf, product));
        values[i] = static_cast<int32_t>(std::clamp(rounded, -MaxRounded, MaxRounded));
    }
    return hn::Load(d, values);
}

#endif

/// Scales in double precision, rounded half away from zero.
struct DoubleScale
{
    const double* m_Scale;

    HWY_INLINE DoubleScale(const RequantizeColumns& columns, size_t c) : m_Scale(columns.m_Scale + c) {}

    HWY_INLINE Vector operator()(Vector x) const { return Rescale(x, m_Scale); }
};

/// Scales in float, rounded half to even.
struct FloatScale
{
    VecF32 m_Factor;

    HWY_INLINE FloatScale(const RequantizeColumns& columns, size_t c)
        : m_Factor(hn::Load(TagF32(), columns.m_FloatScale + c))
    {
    }

    HWY_INLINE Vector operator()(Vector x) const
    {
        const TagF32 d;
        const VecF32 product = hn::Mul(hn::ConvertTo(d, x), m_Factor);
        const VecF32 bound = hn::Set(d, MaxFloatProduct);
        return hn::NearestInt(hn::Max(hn::Neg(bound), hn::Min(product, bound)));
    }
};

template <typename T, typename Scale>
void RequantizeScaled(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    RequantizeTo<T, Scale>(rows, columns);
}

template <typename T>
void RequantizeByMultipliers(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    RequantizeTo<T, MultiplierScale>(rows, columns);
}

#endif

template <typename T>
void RequantizeBytes(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    const auto run = columns.m_FloatScale != nullptr ? RequantizeScaled<T, FloatScale>
                     : columns.m_Scale != nullptr    ? RequantizeScaled<T, DoubleScale>
                                                     : RequantizeByMultipliers<T>;
    run(rows, columns);
}

void Requantize(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    rows.m_IsSigned ? RequantizeBytes<int8_t>(rows, columns) : RequantizeBytes<uint8_t>(rows, columns);
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

void FinishBlocks(const BlockOutputsInt8& rows)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 low = hn::Set(d, rows.m_Low);
    const VecF32 high = hn::Set(d, rows.m_High);
    const float* sums = rows.m_Sums;
    float* out = rows.m_Out;
    for (size_t r = 0; r < rows.m_Rows; ++r, sums += rows.m_SumStride, out += rows.m_OutStride)
    {
        const VecF32 zeroPoint = hn::Set(d, static_cast<float>(rows.m_Scales[r].m_ZeroPoint));
        const VecF32 scale = hn::Set(d, rows.m_Scales[r].m_Scale);
        for (size_t c = 0; c < rows.m_Columns; c += lanes)
        {
            const VecF32 correction = hn::Mul(zeroPoint, hn::LoadU(d, rows.m_Factors + c));
            const VecF32 product = hn::Mul(hn::Sub(hn::Load(d, sums + c), correction), scale);
            const VecF32 real = hn::Add(product, hn::LoadU(d, rows.m_Bias + c));
            StoreSome(rows.m_HasClamp ? Clamped(real, low, high) : real, out + c, rows.m_Columns - c);
        }
    }
}

namespace
{

void FillEpilogue(MicrokernelsInt8& microkernels)
{
    microkernels.m_FinishBlocks = FinishBlocks;
    microkernels.m_Requantize = Requantize;
    microkernels.m_Dequantize = Dequantize;
#if HWY_TARGET == HWY_AVX3
    microkernels.m_PrepareRequantization = PrepareRequantization;
#endif
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseEpilogue(MicrokernelsInt8& microkernels)
{
    TENON_CHOOSE(FillEpilogue)(microkernels);
}

} // namespace tenon::cpu
#endif
