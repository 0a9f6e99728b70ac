// SPDX-License-Identifier: Apache-2.0
// Requantization of int32 sums, and totals in double, to int16, with the rounding of TFLite's reference kernels, and
// its per-column constants.
//
// int64 sums are multiplied as doubles: the product of a sum of at most 2^37 by a 15-bit multiplier, plus one half, is
// exact in double, so rounding down gives the result of the integer product and its shift. The bias and the half, both
// scaled, are added last.
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/gemm/epilogue/RequantizeArraysInt16.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp: compiled for each target.
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Narrow-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_HAVE_FLOAT64

using HalfInts = hn::Half<Ints>;
using DoubleTag = hn::Rebind<double, HalfInts>;
using Doubles = hn::Vec<DoubleTag>;

/// floor(x), which must fit int32.
HWY_INLINE hn::Vec<HalfInts> ToIntsBelow(Doubles x)
{
#if HWY_TARGET == HWY_AVX3
    return hn::Vec<HalfInts>{_mm512_cvt_roundpd_epi32(x.raw, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
#else
    return hn::DemoteTo(HalfInts(), hn::Floor(x));
#endif
}

/// Requantizes half a vector of columns.
template <bool IsHalfUp>
class HalfScaling
{
public:
    HWY_INLINE HalfScaling(const double* bias, const double* scale)
        : m_Bias(hn::Load(DoubleTag(), bias)), m_Scale(hn::Load(DoubleTag(), scale))
    {
    }

    template <bool HasTotals>
    HWY_INLINE hn::Vec<HalfInts> Scale(hn::Vec<HalfInts> sums, [[maybe_unused]] const double* totals) const
    {
        const DoubleTag d;
        Doubles x = hn::PromoteTo(d, sums);
        if constexpr (HasTotals)
        {
            x = hn::Add(x, hn::Load(d, totals));
        }
        if constexpr (IsHalfUp)
        {
            return ToIntsBelow(hn::MulAdd(x, m_Scale, m_Bias));
        }
        else
        {
            const Doubles product = hn::Mul(hn::Add(x, m_Bias), m_Scale);
            return hn::DemoteTo(HalfInts(), hn::Add(product, hn::CopySign(hn::Set(d, BelowHalf), product)));
        }
    }

private:
    Doubles m_Bias;
    Doubles m_Scale;
};

/// Scaling of a vector of columns in double precision.
template <bool IsHalfUp>
class DoubleScaling
{
public:
    HWY_INLINE DoubleScaling(const RequantizeColumnsInt16& columns, size_t at)
        : m_Low(columns.m_Bias + at, columns.m_Scale + at),
          m_High(columns.m_Bias + at + hn::Lanes(HalfInts()), columns.m_Scale + at + hn::Lanes(HalfInts()))
    {
    }

    template <bool HasTotals>
    HWY_INLINE Vector Scale(const int32_t* sums, const double* totals) const
    {
        const HalfInts half;
        const size_t lanes = hn::Lanes(half);
        return hn::Combine(
            Ints(),
            m_High.template Scale<HasTotals>(hn::Load(half, sums + lanes), HasTotals ? totals + lanes : nullptr),
            m_Low.template Scale<HasTotals>(hn::Load(half, sums), totals));
    }

private:
    HalfScaling<IsHalfUp> m_Low;
    HalfScaling<IsHalfUp> m_High;
};

void Accumulate(const int32_t* sums, size_t count, bool isFirst, double* totals)
{
    const DoubleTag d;
    for (size_t i = 0; i < count; i += hn::Lanes(d))
    {
        const Doubles more = hn::PromoteTo(d, hn::Load(HalfInts(), sums + i));
        hn::Store(isFirst ? more : hn::Add(hn::Load(d, totals + i), more), d, totals + i);
    }
}

#else // 32-bit Arm has doubles, but no vectors of them

template <bool IsHalfUp>
class DoubleScaling
{
public:
    HWY_INLINE DoubleScaling(const RequantizeColumnsInt16& columns, size_t at)
        : m_Bias(columns.m_Bias + at), m_Scale(columns.m_Scale + at)
    {
    }

    template <bool HasTotals>
    HWY_INLINE Vector Scale(const int32_t* sums, const double* totals) const
    {
        const Ints d;
        HWY_ALIGN int32_t values[HWY_MAX_BYTES / sizeof(int32_t)];
        for (size_t i = 0; i < hn::Lanes(d); ++i)
        {
            const double x = sums[i] + (HasTotals ? totals[i] : 0.0);
            const double product = (IsHalfUp ? x : x + m_Bias[i]) * m_Scale[i];
            values[i] = static_cast<int32_t>(IsHalfUp ? std::floor(product + m_Bias[i])
                                                      : product + std::copysign(BelowHalf, product));
        }
        return hn::Load(d, values);
    }

private:
    const double* m_Bias;
    const double* m_Scale;
};

void Accumulate(const int32_t* sums, size_t count, bool isFirst, double* totals)
{
    for (size_t i = 0; i < count; ++i)
    {
        totals[i] = isFirst ? sums[i] : totals[i] + sums[i];
    }
}

#endif

/// Scaling of a vector of columns in fixed point.
class IntScaling
{
public:
    HWY_INLINE IntScaling(const RequantizeColumnsInt16& columns, size_t at)
        : m_Bias(hn::Load(Ints(), columns.m_IntBias + at)), m_Multiplier(hn::Load(Ints(), columns.m_Multiplier + at)),
          m_Odd(OddLanes(Ints(), m_Multiplier)), m_Columns(columns), m_At(at)
    {
        const Vector right = hn::Load(Ints(), columns.m_Right + at);
        m_IsShifted = hn::VecFromMask(Ints(), hn::Gt(right, hn::Zero(Ints())));
        m_RightLessOne = hn::Add(right, m_IsShifted);
        m_AllShifted = hn::AllTrue(Ints(), hn::Gt(right, hn::Zero(Ints())));
    }

    template <bool HasTotals>
    HWY_INLINE Vector Scale(const int32_t* sums, const double* totals) const
    {
        const Ints d;
        Vector x = hn::Add(hn::Load(d, sums), m_Bias);
        if constexpr (HasTotals)
        {
            HWY_ALIGN int32_t narrow[HWY_MAX_BYTES / sizeof(int32_t)];
            if (!Narrow(sums, totals, narrow))
            {
                return ScaleWide(sums, totals);
            }
            x = hn::Load(d, narrow);
        }
        // Left shifts (scales above 1) are rare, hence the branch.
        if (HWY_UNLIKELY(!m_AllShifted))
        {
            const Vector bounded = ShiftLeftBounded(d, x, hn::Load(d, m_Columns.m_Left + m_At));
            x = hn::IfThenElse(hn::MaskFromVec(m_IsShifted), x, bounded);
        }
        return MultiplyAnyLanes(d, x, m_Multiplier, m_Odd, m_RightLessOne, m_IsShifted);
    }

private:
    /// Sums over all slices plus the bias; returns whether all of them fit int32.
    HWY_INLINE bool Narrow(const int32_t* sums, const double* totals, int32_t* narrow) const
    {
        constexpr double Limit = 2147483648.0;
        const int32_t* bias = m_Columns.m_IntBias + m_At;
        double largest = 0.0;
        for (size_t i = 0; i < hn::Lanes(Ints()); ++i)
        {
            const double total = totals[i] + sums[i] + bias[i];
            largest = std::max(largest, std::abs(total));
            narrow[i] = static_cast<int32_t>(std::clamp(total, -Limit, Limit - 1.0));
        }
        return largest < Limit;
    }

    /// Rescales lane by lane, for the rare sums that exceed int32.
    HWY_NOINLINE Vector ScaleWide(const int32_t* sums, const double* totals) const
    {
        HWY_ALIGN int32_t values[HWY_MAX_BYTES / sizeof(int32_t)];
        for (size_t i = 0; i < hn::Lanes(Ints()); ++i)
        {
            const size_t column = m_At + i;
            const int64_t total =
                static_cast<int64_t>(totals[i]) + int64_t{sums[i]} + int64_t{m_Columns.m_IntBias[column]};
            const backends::QuantizedMultiplier multiplier{m_Columns.m_Multiplier[column],
                                                           m_Columns.m_Left[column] - m_Columns.m_Right[column]};
            values[i] = backends::MultiplySumSaturating(total, multiplier);
        }
        return hn::Load(Ints(), values);
    }

    Vector m_Bias;
    Vector m_Multiplier;
    Vector m_Odd;
    const RequantizeColumnsInt16& m_Columns;
    size_t m_At; ///< the vector's first column
    Vector m_RightLessOne;
    Vector m_IsShifted;
    bool m_AllShifted;
};

/// Writes the first `count` numbers of a vector.
template <class D16>
HWY_INLINE void StoreSome(hn::Vec<D16> values, D16 d, int16_t* out, size_t count)
{
    if (count >= hn::Lanes(d))
    {
        hn::StoreU(values, d, out);
    }
    else
    {
        HWY_ALIGN int16_t some[HWY_MAX_BYTES / sizeof(int16_t)];
        hn::Store(values, d, some);
        std::memcpy(out, some, count * sizeof(int16_t));
    }
}

/// Requantizes the columns from c on of all rows: a pair of vectors, or a single last one.
template <class Scaling, bool HasTotals, bool IsPair>
void RequantizeColumnVectors(const RequantizeRowsInt16& rows, const RequantizeColumnsInt16& columns, size_t c)
{
    using PairTag = hn::Repartition<int16_t, Ints>;
    const std::conditional_t<IsPair, PairTag, hn::Half<PairTag>> d;
    const size_t lanes = hn::Lanes(Ints());
    const Scaling first(columns, c);
    const Scaling second(columns, IsPair ? c + lanes : c);
    // Copies in locals: the compiler would reload them after each store.
    const size_t stride = rows.m_SumStride;
    const size_t outStride = rows.m_OutStride;
    const size_t count = rows.m_Columns - c;
    const int32_t* sums = rows.m_Sums + c;
    const double* totals = HasTotals ? rows.m_Totals + c : nullptr;
    int16_t* out = rows.m_Out + c;
    const auto lowest = hn::Set(d, columns.m_Min);
    const auto highest = hn::Set(d, columns.m_Max);
    for (size_t left = rows.m_Rows; left > 0; --left, sums += stride, out += outStride)
    {
        const Vector low = first.template Scale<HasTotals>(sums, totals);
        if constexpr (IsPair)
        {
            const Vector high = second.template Scale<HasTotals>(sums + lanes, HasTotals ? totals + lanes : nullptr);
            StoreSome(hn::Min(hn::Max(NarrowPair(d, low, high), lowest), highest), d, out, count);
        }
        else
        {
            StoreSome(hn::Min(hn::Max(hn::DemoteTo(d, low), lowest), highest), d, out, count);
        }
        totals += HasTotals ? stride : 0;
    }
}

template <class Scaling, bool HasTotals>
void RequantizeBy(const RequantizeRowsInt16& rows, const RequantizeColumnsInt16& columns)
{
    const size_t lanes = hn::Lanes(Ints());
    size_t c = 0;
    for (; c < rows.m_Columns && c + 2 * lanes <= rows.m_SumStride; c += 2 * lanes)
    {
        RequantizeColumnVectors<Scaling, HasTotals, true>(rows, columns, c);
    }
    if (c < rows.m_Columns)
    {
        RequantizeColumnVectors<Scaling, HasTotals, false>(rows, columns, c);
    }
}

template <class Scaling>
void RequantizeBy(const RequantizeRowsInt16& rows, const RequantizeColumnsInt16& columns)
{
    rows.m_Totals != nullptr ? RequantizeBy<Scaling, true>(rows, columns) : RequantizeBy<Scaling, false>(rows, columns);
}

void Requantize(const RequantizeRowsInt16& rows, const RequantizeColumnsInt16& columns)
{
    switch (columns.m_Rounding)
    {
    case RoundingInt16::HalfUp: RequantizeBy<DoubleScaling<true>>(rows, columns); break;
    case RoundingInt16::FixedPoint: RequantizeBy<IntScaling>(rows, columns); break;
    case RoundingInt16::Double: RequantizeBy<DoubleScaling<false>>(rows, columns); break;
    }
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

/// The multiplier of MultiplyReducedSaturating for int64 sums, as a double.
double GetShortScale(backends::QuantizedMultiplier m)
{
    const int32_t reduced = m.m_Multiplier < 0x7FFF0000 ? (m.m_Multiplier + (1 << 15)) >> 16 : 0x7FFF;
    return std::ldexp(static_cast<double>(reduced), m.m_Shift - 15);
}

} // namespace

RequantizeArraysInt16::RequantizeArraysInt16(size_t paddedColumns, RoundingInt16 rounding)
    : m_NumPaddedColumns(paddedColumns), m_Rounding(rounding), m_Memory(paddedColumns * PaddedColumnBytes)
{
    if (paddedColumns != 0)
    {
        std::memset(m_Memory.Data(), 0, m_Memory.Bytes());
    }
}

void RequantizeArraysInt16::Set(size_t paddedColumn, int64_t magnitude, int64_t bias, double scale)
{
    if (m_Rounding == RoundingInt16::FixedPoint)
    {
        // Sums of several slices get their bias in double.
        const bool isOneSlice = magnitude <= MaxMagnitude;
        m_IsExact = m_IsExact && (!isOneSlice || magnitude * 32768 + std::abs(bias) <= INT32_MAX);
        const backends::QuantizedMultiplier multiplier = backends::QuantizeMultiplier(scale);
        Ints(0)[paddedColumn] = static_cast<int32_t>(bias);
        Ints(1)[paddedColumn] = multiplier.m_Multiplier;
        Ints(2)[paddedColumn] = std::max(0, -multiplier.m_Shift);
        Ints(3)[paddedColumn] = std::max(0, multiplier.m_Shift);
        return;
    }
    const bool isHalfUp = m_Rounding == RoundingInt16::HalfUp;
    const double factor = isHalfUp ? GetShortScale(backends::QuantizeMultiplier(scale)) : scale;
    const double maxSum = static_cast<double>(magnitude) * 32768.0 + std::abs(static_cast<double>(bias));
    const double maxExact = std::ldexp(1.0, isHalfUp ? 37 : 52);
    constexpr double MaxResult = 2147483646.0; // the reference kernel's results wrap beyond this
    m_IsExact = m_IsExact && maxSum <= maxExact && maxSum * factor <= MaxResult;
    Doubles(0)[paddedColumn] = isHalfUp ? static_cast<double>(bias) * factor + 0.5 : static_cast<double>(bias);
    Doubles(1)[paddedColumn] = factor;
}

RequantizeColumnsInt16 RequantizeArraysInt16::From(size_t paddedColumn) const
{
    RequantizeColumnsInt16 columns;
    columns.m_Rounding = m_Rounding;
    if (m_Rounding == RoundingInt16::FixedPoint)
    {
        columns.m_IntBias = Ints(0) + paddedColumn;
        columns.m_Multiplier = Ints(1) + paddedColumn;
        columns.m_Right = Ints(2) + paddedColumn;
        columns.m_Left = Ints(3) + paddedColumn;
    }
    else
    {
        columns.m_Bias = Doubles(0) + paddedColumn;
        columns.m_Scale = Doubles(1) + paddedColumn;
    }
    return columns;
}

void SetRequantization(MicrokernelsInt16& microkernels)
{
    microkernels.m_Accumulate = TENON_CHOOSE(Accumulate);
    microkernels.m_Requantize = TENON_CHOOSE(Requantize);
}

} // namespace tenon::cpu
#endif
