// SPDX-License-Identifier: Apache-2.0
// The steps of Requantize8-inl.hpp with AVX2, for sums that are shifted to the right after the multiplication.
#if defined(TENON_CPU_REQUANTIZE8_AVX2_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE8_AVX2_INL
#undef TENON_CPU_REQUANTIZE8_AVX2_INL
#else
#define TENON_CPU_REQUANTIZE8_AVX2_INL
#endif

#include "backends/cpu/gemm/Tiles8.hpp"

#include <hwy/highway.h>

#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX2

/// Multipliers and shifts, at least 1, of the eight lanes of a vector.
///
/// Both rounding steps merge into one floor division: with 2^31 taken away from negative products before it (half away
/// from zero), (x * m + 2^30 + 2^(30 + s)) >> (31 + s). The product's upper half is what the last shift works on.
struct Scale8
{
    __m256i m_Even, m_Odd;             ///< multipliers
    __m256i m_EvenAddend, m_OddAddend; ///< 64 bits each
    __m256i m_Right;

    /// For products that are doubled, or not.
    HWY_INLINE Scale8(const int32_t* multiplier, const int32_t* right, bool isDoubled)
        : m_Even(_mm256_load_si256(reinterpret_cast<const __m256i*>(multiplier))), m_Odd(_mm256_srli_epi64(m_Even, 32))
    {
        const __m256i shift = _mm256_load_si256(reinterpret_cast<const __m256i*>(right));
        const __m256i half = _mm256_set1_epi64x(int64_t{1} << (isDoubled ? 31 : 30));
        const __m256i evens = _mm256_and_si256(shift, _mm256_set1_epi64x(0xFFFFFFFF));
        m_EvenAddend = _mm256_add_epi64(half, _mm256_sllv_epi64(half, evens));
        m_OddAddend = _mm256_add_epi64(half, _mm256_sllv_epi64(half, _mm256_srli_epi64(shift, 32)));
        m_Right = isDoubled ? shift : _mm256_sub_epi32(shift, _mm256_set1_epi32(1));
    }

    /// The upper halves of the products.
    HWY_INLINE __m256i Multiply(__m256i x) const
    {
        const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(x, m_Even), m_EvenAddend);
        const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(x, 32), m_Odd), m_OddAddend);
        return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
    }
};

/// For all sums. Doubled, a product has 2^31 as one unit of its upper half.
struct AnyScale : Scale8
{
    HWY_INLINE AnyScale(const int32_t* multiplier, const int32_t* right) : Scale8(multiplier, right, true) {}

    HWY_INLINE __m256i operator()(__m256i x) const
    {
        return _mm256_srav_epi32(_mm256_add_epi32(Multiply(_mm256_add_epi32(x, x)), _mm256_srai_epi32(x, 31)), m_Right);
    }
};

/// Where the clamp, at the zero point or above, makes the same of negative sums as of zero.
struct PositiveScale : Scale8
{
    HWY_INLINE PositiveScale(const int32_t* multiplier, const int32_t* right) : Scale8(multiplier, right, false) {}

    HWY_INLINE __m256i operator()(__m256i x) const
    {
        return _mm256_srav_epi32(Multiply(_mm256_max_epi32(x, _mm256_setzero_si256())), m_Right);
    }
};

/// Sixteen bytes of two vectors of scaled sums: zero point and clamp.
template <typename T>
HWY_INLINE __m128i Pack16(__m256i first, __m256i second, __m256i zeroPoint, __m128i least, __m128i most)
{
    // Packing works within 128-bit lanes: lane l has four channels of each vector.
    const __m256i shorts = _mm256_adds_epi16(_mm256_packs_epi32(first, second), zeroPoint);
    const __m128i low = _mm256_castsi256_si128(shorts);
    const __m128i high = _mm256_extracti128_si256(shorts, 1);
    if constexpr (std::is_signed_v<T>)
    {
        const __m128i bytes = _mm_shuffle_epi32(_mm_packs_epi16(low, high), _MM_SHUFFLE(3, 1, 2, 0));
        return _mm_min_epi8(_mm_max_epi8(bytes, least), most);
    }
    else
    {
        const __m128i bytes = _mm_shuffle_epi32(_mm_packus_epi16(low, high), _MM_SHUFFLE(3, 1, 2, 0));
        return _mm_min_epu8(_mm_max_epu8(bytes, least), most);
    }
}

/// Channels from c on of all rows: those of `Vectors` vectors, as far as there are.
template <typename T, typename Scale, size_t Vectors, bool HasTerms>
void RequantizeVectors(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    constexpr size_t Second = Vectors > 1 ? 8 : 0; // what there is not is not read
    const Scale first(columns.m_Multiplier + c, columns.m_Right + c);
    const Scale second(columns.m_Multiplier + c + Second, columns.m_Right + c + Second);
    const __m256i zeroPoint = _mm256_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint));
    const __m128i least = _mm_set1_epi8(static_cast<char>(columns.m_Min));
    const __m128i most = _mm_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m256i term = HasTerms ? _mm256_set1_epi32(rows.m_RowTerms[r]) : _mm256_setzero_si256();
        const auto scaled = [&](const Scale& scale, const int32_t* from) HWY_ATTR
        {
            const __m256i sum = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
            return scale(HasTerms ? _mm256_add_epi32(sum, term) : sum);
        };
        const __m256i x = scaled(first, sums);
        const __m256i y = Vectors > 1 ? scaled(second, sums + Second) : _mm256_setzero_si256();
        const __m128i bytes = Pack16<T>(x, y, zeroPoint, least, most);
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

template <typename T, typename Scale, bool HasTerms>
void RequantizeShifted(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    size_t c = 0;
    for (; c + 8 < rows.m_Columns; c += 16)
    {
        RequantizeVectors<T, Scale, 2, HasTerms>(rows, columns, c);
    }
    if (c < rows.m_Columns)
    {
        RequantizeVectors<T, Scale, 1, HasTerms>(rows, columns, c);
    }
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
