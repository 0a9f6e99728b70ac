// SPDX-License-Identifier: Apache-2.0
// From sums of products of bytes to bytes, exactly as TFLite's reference kernels round, for sources that are compiled
// for each target (Foreach.hpp): Tiles8.cpp. Included once a target.
#if defined(TENON_CPU_REQUANTIZE8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE8_INL
#undef TENON_CPU_REQUANTIZE8_INL
#else
#define TENON_CPU_REQUANTIZE8_INL
#endif

#include "backends/cpu/gemm/Dots-inl.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Bytes of 16-bit values that are in range.
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

/// Rounds half away from zero: one below one half, as what is below a half must not be rounded up by the addition.
constexpr double BelowHalf = 0.49999999999999994;
/// Results of sums by doubles are clamped to what surely is outside of bytes.
constexpr double Bound = 65536.0;

#if HWY_HAVE_FLOAT64

/// Half a vector of sums by doubles.
template <typename Half>
HWY_INLINE auto RescaleHalf(Half x, const double* scale)
{
    const hn::RepartitionToWide<Ints> dWide;
    const hn::Rebind<double, decltype(dWide)> d;
    const auto product = hn::Mul(hn::PromoteTo(d, x), hn::LoadU(d, scale));
    const auto rounded = hn::Trunc(hn::Add(product, hn::CopySign(hn::Set(d, BelowHalf), product)));
    const auto bound = hn::Set(d, Bound);
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
        values[i] = static_cast<int32_t>(std::clamp(rounded, -Bound, Bound));
    }
    return hn::Load(d, values);
}

#endif

template <typename T>
void RequantizeTo(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    const Vector zeroPoint = hn::Set(d, columns.m_ZeroPoint);
    const Vector least = hn::Set(d, columns.m_Min);
    const Vector most = hn::Set(d, columns.m_Max);
    for (size_t c = 0; c < rows.m_Columns; c += lanes)
    {
        const Vector bias = hn::Load(d, columns.m_Bias + c);
        const bool isDouble = columns.m_Scale != nullptr;
        const Vector multiplier = isDouble ? hn::Zero(d) : hn::Load(d, columns.m_Multiplier + c);
        const Vector right = isDouble ? hn::Zero(d) : hn::Load(d, columns.m_Right + c);
        const Vector left = isDouble ? hn::Zero(d) : hn::Load(d, columns.m_Left + c);
        T* out = static_cast<T*>(rows.m_Out) + c;
        for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride)
        {
            Vector x = hn::Add(hn::Load(d, rows.m_Sums + r * rows.m_SumStride + c), bias);
            if (rows.m_RowTerms != nullptr)
            {
                x = hn::Add(x, hn::Set(d, rows.m_RowTerms[r]));
            }
            x = hn::Add(isDouble ? Rescale(x, columns.m_Scale + c)
                                 : MultiplyLanes(d, hn::Shl(x, left), multiplier, right),
                        zeroPoint);
            StoreBytes(hn::Min(hn::Max(x, least), most), out, rows.m_Columns - c);
        }
    }
}

#if HWY_TARGET == HWY_AVX3

/// Multipliers and shifts, at least 1, of the sixteen lanes of a vector.
///
/// Both rounding steps merge into one floor division: with 2^31 taken away from negative products before it (half away
/// from zero), (x * m + 2^30 + 2^(30 + s)) >> (31 + s). Doubled, the product's upper half is what the last shift by s
/// works on, and the 2^31 are one unit of it.
struct Scale16
{
    __m512i m_Even, m_Odd;             ///< multipliers
    __m512i m_EvenAddend, m_OddAddend; ///< 64 bits each
    __m512i m_Right;

    HWY_INLINE Scale16(const int32_t* multiplier, const int32_t* right)
        : m_Even(_mm512_load_si512(multiplier)), m_Odd(_mm512_srli_epi64(m_Even, 32)), m_Right(_mm512_load_si512(right))
    {
        const __m512i half = _mm512_set1_epi64(int64_t{1} << 31);
        const __m512i evens = _mm512_and_si512(m_Right, _mm512_set1_epi64(0xFFFFFFFF));
        m_EvenAddend = _mm512_add_epi64(half, _mm512_sllv_epi64(half, evens));
        m_OddAddend = _mm512_add_epi64(half, _mm512_sllv_epi64(half, _mm512_srli_epi64(m_Right, 32)));
    }

    HWY_INLINE __m512i operator()(__m512i x) const
    {
        const __m512i twice = _mm512_add_epi32(x, x);
        const __m512i odds = _mm512_shuffle_epi32(twice, _MM_PERM_DDBB);
        const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(twice, m_Even), m_EvenAddend);
        const __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(odds, m_Odd), m_OddAddend);
        const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
        return _mm512_srav_epi32(_mm512_add_epi32(high, _mm512_srai_epi32(x, 31)), m_Right);
    }
};

/// 64 bytes of four vectors of scaled sums: zero point, clamp, and the order of channels that is asked for.
template <typename T, bool IsInterleaved>
HWY_INLINE __m512i Pack64(const __m512i (&x)[4], __m512i zeroPoint, __m512i least, __m512i most)
{
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(x[0], x[1]), zeroPoint);
    const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(x[2], x[3]), zeroPoint);
    __m512i bytes;
    if constexpr (std::is_signed_v<T>)
    {
        bytes = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(low, high), least), most);
    }
    else
    {
        bytes = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(low, high), least), most);
    }
    if constexpr (!IsInterleaved)
    {
        // Packing works within 128-bit lanes: lane l has four channels of each vector.
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        bytes = _mm512_permutexvar_epi32(order, bytes);
    }
    return bytes;
}

/// Channels from c on of all rows: those of `Vectors` vectors, as far as there are.
template <typename T, bool IsInterleaved, size_t Vectors>
void RequantizeVectors(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    constexpr size_t Third = Vectors > 2 ? 32 : 0; // what there is not is not read
    constexpr size_t Fourth = Vectors > 3 ? 48 : 0;
    const Scale16 scales[4] = {{columns.m_Multiplier + c, columns.m_Right + c},
                               {columns.m_Multiplier + c + 16, columns.m_Right + c + 16},
                               {columns.m_Multiplier + c + Third, columns.m_Right + c + Third},
                               {columns.m_Multiplier + c + Fourth, columns.m_Right + c + Fourth}};
    const __m512i zeroPoint = _mm512_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint));
    const __m512i least = _mm512_set1_epi8(static_cast<char>(columns.m_Min));
    const __m512i most = _mm512_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    const __mmask64 mask = count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m512i term = _mm512_set1_epi32(rows.m_RowTerms != nullptr ? rows.m_RowTerms[r] : 0);
        __m512i x[4];
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            if (v < Vectors)
            {
                const __m512i bias = _mm512_add_epi32(term, _mm512_load_si512(columns.m_Bias + c + 16 * v));
                x[v] = scales[v](_mm512_add_epi32(bias, _mm512_load_si512(sums + 16 * v)));
            }
            else
            {
                x[v] = _mm512_setzero_si512();
            }
        }
        _mm512_mask_storeu_epi8(out, mask, Pack64<T, IsInterleaved>(x, zeroPoint, least, most));
    }
}

/// Up to 16 channels from c on, in their natural order.
template <typename T>
void Requantize16(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    const Scale16 scale(columns.m_Multiplier + c, columns.m_Right + c);
    const __m512i bias = _mm512_load_si512(columns.m_Bias + c);
    const __m512i zeroPoint = _mm512_set1_epi32(columns.m_ZeroPoint);
    const __m512i least = _mm512_set1_epi32(columns.m_Min);
    const __m512i most = _mm512_set1_epi32(columns.m_Max);
    const size_t count = rows.m_Columns - c;
    const auto mask = static_cast<__mmask16>(count >= 16 ? 0xFFFF : (1U << count) - 1);
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m512i term = _mm512_set1_epi32(rows.m_RowTerms != nullptr ? rows.m_RowTerms[r] : 0);
        const __m512i x = _mm512_add_epi32(_mm512_add_epi32(bias, term), _mm512_load_si512(sums));
        const __m512i scaled = _mm512_add_epi32(scale(x), zeroPoint);
        const __m512i clamped = _mm512_min_epi32(_mm512_max_epi32(scaled, least), most);
        _mm_mask_storeu_epi8(out, mask, _mm512_cvtepi32_epi8(clamped));
    }
}

template <typename T>
void RequantizeShifted(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    size_t c = 0;
    for (; c + 64 <= rows.m_Columns; c += 64)
    {
        rows.m_IsInterleaved ? RequantizeVectors<T, true, 4>(rows, columns, c)
                             : RequantizeVectors<T, false, 4>(rows, columns, c);
    }
    if (c + 48 < rows.m_Columns)
    {
        RequantizeVectors<T, false, 4>(rows, columns, c);
    }
    else if (c + 32 < rows.m_Columns)
    {
        RequantizeVectors<T, false, 3>(rows, columns, c);
    }
    else if (c + 16 < rows.m_Columns)
    {
        RequantizeVectors<T, false, 2>(rows, columns, c);
    }
    else if (c < rows.m_Columns)
    {
        Requantize16<T>(rows, columns, c);
    }
}

#endif

void Requantize(const RequantizeRows& rows, const RequantizeColumns& columns)
{
#if HWY_TARGET == HWY_AVX3
    if (columns.m_AllShift)
    {
        rows.m_IsSigned ? RequantizeShifted<int8_t>(rows, columns) : RequantizeShifted<uint8_t>(rows, columns);
        return;
    }
#endif
    rows.m_IsSigned ? RequantizeTo<int8_t>(rows, columns) : RequantizeTo<uint8_t>(rows, columns);
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
