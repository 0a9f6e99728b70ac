// SPDX-License-Identifier: Apache-2.0
// Requantization (EpilogueInt8.cpp) with AVX2: by multipliers with right shifts, by doubles, and by floats.
#if defined(TENON_CPU_REQUANTIZE_AVX2_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE_AVX2_INT8_INL
#undef TENON_CPU_REQUANTIZE_AVX2_INT8_INL
#else
#define TENON_CPU_REQUANTIZE_AVX2_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#include <hwy/highway.h>

#include <cstring>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX2

/// Multipliers, shifts and the zero point of the eight lanes of a vector.
///
/// Both rounding steps are one floor division, see EpilogueInt8.cpp. The zero point is added before the last
/// shift, which RequantizeColumns::MaxShift leaves room for.
struct EightLaneScale
{
    __m256i m_Even, m_Odd;             ///< multipliers
    __m256i m_EvenAddend, m_OddAddend; ///< 64 bits each

    /// For lanes [c, c + 8) of the columns.
    HWY_INLINE EightLaneScale(const RequantizeColumns& columns, size_t c)
        : m_Even(_mm256_load_si256(reinterpret_cast<const __m256i*>(columns.m_Multiplier + c))),
          m_Odd(_mm256_srli_epi64(m_Even, 32))
    {
        const __m256i right = LoadRight(columns, c);
        const __m256i half = _mm256_set1_epi64x(int64_t{1} << 30);
        const __m256i last = _mm256_set1_epi64x((int64_t{1} + 2 * columns.m_ZeroPoint) * (int64_t{1} << 30));
        const __m256i evens = _mm256_and_si256(right, _mm256_set1_epi64x(0xFFFFFFFF));
        m_EvenAddend = _mm256_add_epi64(half, _mm256_sllv_epi64(last, evens));
        m_OddAddend = _mm256_add_epi64(half, _mm256_sllv_epi64(last, _mm256_srli_epi64(right, 32)));
    }

    static HWY_INLINE __m256i LoadRight(const RequantizeColumns& columns, size_t c)
    {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(columns.m_Right + c));
    }
    /// The addends include it.
    static HWY_INLINE __m256i AddZeroPoint(__m256i shorts) { return shorts; }
    /// Products of the even lanes.
    HWY_INLINE __m256i MultiplyEven(__m256i x) const
    {
        return _mm256_add_epi64(_mm256_mul_epi32(x, m_Even), m_EvenAddend);
    }
    /// Products of the odd lanes, which lie one lane lower.
    HWY_INLINE __m256i MultiplyOdd(__m256i x) const
    {
        return _mm256_add_epi64(_mm256_mul_epi32(x, m_Odd), m_OddAddend);
    }
};

/// For all sums.
struct AnyScale : EightLaneScale
{
    static constexpr bool EvensFirst = false; ///< of each four results: two even lanes, then two odd ones
    __m256i m_Right;

    HWY_INLINE AnyScale(const RequantizeColumns& columns, size_t c)
        : EightLaneScale(columns, c), m_Right(LoadRight(columns, c))
    {
    }

    HWY_INLINE __m256i operator()(__m256i x, __m256i lower) const
    {
        // A blend at the position where 2^31 of the product is one unit.
        const __m256i units =
            _mm256_blend_epi32(_mm256_srli_epi64(MultiplyEven(x), 31), _mm256_slli_epi64(MultiplyOdd(lower), 1), 0xAA);
        return _mm256_srav_epi32(_mm256_add_epi32(units, _mm256_srai_epi32(x, 31)), m_Right);
    }

    /// Restores the order of the bytes that PackToInt8 has packed.
    static HWY_INLINE __m128i Order(__m128i bytes) { return _mm_shuffle_epi32(bytes, _MM_SHUFFLE(3, 1, 2, 0)); }
};

/// For a clamp at or above the zero point: negative sums give at most the zero point even without the step for negative
/// products, and the clamp maps them to the same value as zero.
struct PositiveScale : EightLaneScale
{
    static constexpr bool EvensFirst = true;
    __m256i m_Right; ///< of the products' upper halves, in the order of the results

    HWY_INLINE PositiveScale(const RequantizeColumns& columns, size_t c)
        : EightLaneScale(columns, c),
          m_Right(_mm256_shuffle_epi32(_mm256_sub_epi32(LoadRight(columns, c), _mm256_set1_epi32(1)),
                                       _MM_SHUFFLE(3, 1, 2, 0)))
    {
    }

    HWY_INLINE __m256i operator()(__m256i x, __m256i lower) const
    {
        const __m256 even = _mm256_castsi256_ps(MultiplyEven(x));
        const __m256 odd = _mm256_castsi256_ps(MultiplyOdd(lower));
        return _mm256_srav_epi32(_mm256_castps_si256(_mm256_shuffle_ps(even, odd, _MM_SHUFFLE(3, 1, 3, 1))), m_Right);
    }

    static HWY_INLINE __m128i Order(__m128i bytes)
    {
        return _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 2, 1, 3, 8, 10, 9, 11, 4, 6, 5, 7, 12, 14, 13, 15));
    }
};

/// The zero point of scales whose results lack it.
struct AddedZeroPoint
{
    static constexpr bool EvensFirst = false;
    __m256i m_ZeroPoint;

    explicit HWY_INLINE AddedZeroPoint(const RequantizeColumns& columns)
        : m_ZeroPoint(_mm256_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint)))
    {
    }

    /// int8 clamps more closely than int16, in which the zero point is added.
    HWY_INLINE __m256i AddZeroPoint(__m256i shorts) const { return _mm256_adds_epi16(shorts, m_ZeroPoint); }

    static HWY_INLINE __m128i Order(__m128i bytes) { return AnyScale::Order(bytes); }
};

/// Scales in double precision, rounded half away from zero.
struct DoubleScale : AddedZeroPoint
{
    __m256d m_Lower, m_Upper;
    __m256 m_Floats;

    HWY_INLINE DoubleScale(const RequantizeColumns& columns, size_t c)
        : AddedZeroPoint(columns), m_Lower(_mm256_loadu_pd(columns.m_Scale + c)),
          m_Upper(_mm256_loadu_pd(columns.m_Scale + c + 4)),
          m_Floats(_mm256_set_m128(ToFloats(m_Upper), ToFloats(m_Lower)))
    {
    }

    /// Finite scales: an infinite one would give NaN for a sum of 0.
    static HWY_INLINE __m128 ToFloats(__m256d scales)
    {
        return _mm256_cvtpd_ps(_mm256_min_pd(scales, _mm256_set1_pd(std::numeric_limits<float>::max())));
    }

    /// Results below the range of int32 become its lowest value.
    static HWY_INLINE __m128i ScaleFour(__m128i x, __m256d scale)
    {
        const __m256d product = _mm256_mul_pd(_mm256_cvtepi32_pd(x), scale);
        const __m256d sign = _mm256_and_pd(product, _mm256_set1_pd(-0.0));
        const __m256d rounded = _mm256_add_pd(product, _mm256_or_pd(sign, _mm256_set1_pd(BelowHalf)));
        return _mm256_cvttpd_epi32(_mm256_min_pd(rounded, _mm256_set1_pd(MaxRounded)));
    }

    /// See MaxFloatProduct.
    HWY_INLINE __m256i operator()(__m256i x, __m256i) const
    {
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(x), m_Floats);
        const __m256 bounded = _mm256_min_ps(product, _mm256_set1_ps(MaxFloatProduct));
        const __m256 rounded = _mm256_round_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const __m256 distance = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(bounded, rounded));
        if (HWY_UNLIKELY(_mm256_movemask_ps(_mm256_cmp_ps(distance, _mm256_set1_ps(NearHalf), _CMP_GT_OQ)) != 0))
        {
            return ScaleByDoubles(x);
        }
        return _mm256_cvttps_epi32(rounded);
    }

    HWY_NOINLINE __m256i ScaleByDoubles(__m256i x) const
    {
        const __m128i lower = ScaleFour(_mm256_castsi256_si128(x), m_Lower);
        const __m128i upper = ScaleFour(_mm256_extracti128_si256(x, 1), m_Upper);
        return _mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1);
    }
};

/// Scales in float; the conversion rounds half to even.
struct FloatScale : AddedZeroPoint
{
    __m256 m_Factor;

    HWY_INLINE FloatScale(const RequantizeColumns& columns, size_t c)
        : AddedZeroPoint(columns), m_Factor(_mm256_load_ps(columns.m_FloatScale + c))
    {
    }

    /// Products below the range of int32 become its lowest value.
    HWY_INLINE __m256i operator()(__m256i x, __m256i) const
    {
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(x), m_Factor);
        return _mm256_cvtps_epi32(_mm256_min_ps(product, _mm256_set1_ps(MaxFloatProduct)));
    }
};

/// Sixteen bytes from two vectors of scaled accumulators, clamped.
template <typename T, bool Clamps, typename Scale>
HWY_INLINE __m128i PackToInt8(const Scale& scale, __m256i first, __m256i second, __m128i lowest, __m128i highest)
{
    // Packing works within 128-bit lanes: lane l has four channels of each vector.
    const __m256i shorts = scale.AddZeroPoint(_mm256_packs_epi32(first, second));
    const __m128i low = _mm256_castsi256_si128(shorts);
    const __m128i high = _mm256_extracti128_si256(shorts, 1);
    if constexpr (std::is_signed_v<T>)
    {
        const __m128i bytes = Scale::Order(_mm_packs_epi16(low, high));
        return Clamps ? _mm_min_epi8(_mm_max_epi8(bytes, lowest), highest) : bytes;
    }
    else
    {
        const __m128i bytes = Scale::Order(_mm_packus_epi16(low, high));
        return Clamps ? _mm_min_epu8(_mm_max_epu8(bytes, lowest), highest) : bytes;
    }
}

/// Requantizes the channels from c on of all rows, up to `Vectors` vectors of them.
template <typename T, typename Scale, size_t Vectors, bool HasTerms, bool Clamps>
void RequantizeVectors(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    constexpr size_t Second = Vectors > 1 ? 8 : 0; // vectors that do not exist are not read
    const Scale first(columns, c);
    const Scale second(columns, c + Second);
    const __m128i lowest = _mm_set1_epi8(static_cast<char>(columns.m_Min));
    const __m128i highest = _mm_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m256i term = HasTerms ? _mm256_set1_epi32(rows.m_RowCorrections[r]) : _mm256_setzero_si256();
        const auto scaled = [&](const Scale& scale, const int32_t* from) HWY_ATTR
        {
            const __m256i sum = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
            // Accumulators lie in memory: a load replaces a shift.
            static_assert(RequantizeRows::PastSums == 1);
            const __m256i lower = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 1));
            return HasTerms ? scale(_mm256_add_epi32(sum, term), _mm256_add_epi32(lower, term)) : scale(sum, lower);
        };
        const __m256i x = scaled(first, sums);
        const __m256i y = Vectors > 1 ? scaled(second, sums + Second) : _mm256_setzero_si256();
        const __m128i bytes = PackToInt8<T, Clamps>(first, x, y, lowest, highest);
        if (count >= Vectors * 8)
        {
            Vectors > 1 ? _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes) : _mm_storeu_si64(out, bytes);
        }
        else
        {
            alignas(16) uint8_t some[16];
            _mm_store_si128(reinterpret_cast<__m128i*>(some), bytes);
            std::memcpy(out, some, count);
        }
    }
}

template <typename T, typename Scale, bool HasTerms, bool Clamps>
void RequantizeAllColumns(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    size_t c = 0;
    for (; c + 8 < rows.m_Columns; c += 16)
    {
        RequantizeVectors<T, Scale, 2, HasTerms, Clamps>(rows, columns, c);
    }
    if (c < rows.m_Columns)
    {
        RequantizeVectors<T, Scale, 1, HasTerms, Clamps>(rows, columns, c);
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
