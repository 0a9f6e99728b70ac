// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes to bytes by doubles, as FullyConnected rounds, with AVX-512. Part of Requantize8-inl.hpp.
#if defined(TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INL
#undef TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INL
#else
#define TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INL
#endif

#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#include <hwy/highway.h>

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Eight sums by their scales: half away from zero. What is too low for an integer becomes the lowest one.
HWY_INLINE __m256i RescaleEight(__m256i x, __m512d scale)
{
    const __m512d product = _mm512_mul_pd(_mm512_cvtepi32_pd(x), scale);
    const __m512i sign = _mm512_set1_epi64(INT64_MIN);
    const __m512i half = _mm512_castpd_si512(_mm512_set1_pd(BelowHalf));
    constexpr int FirstAndSecondOrThird = 0xEA;
    const __m512i signedHalf =
        _mm512_ternarylogic_epi64(_mm512_castpd_si512(product), sign, half, FirstAndSecondOrThird);
    const __m512d rounded = _mm512_add_pd(product, _mm512_castsi512_pd(signedHalf));
    return _mm512_cvttpd_epi32(_mm512_min_pd(rounded, _mm512_set1_pd(MostRounded)));
}

/// Columns from c on of all rows: those of `Vectors` vectors, as far as there are.
template <typename T, size_t Vectors, bool HasTerms>
void RequantizeDoublesOf(const RequantizeRows& rows, const RequantizeColumns& columns, size_t c)
{
    __m512d scales[2 * Vectors];
    HWY_UNROLL(8)
    for (size_t i = 0; i < 2 * Vectors; ++i)
    {
        scales[i] = _mm512_loadu_pd(columns.m_Scale + c + 8 * i);
    }
    const __m512i zeroPoint = _mm512_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint));
    const __m512i least = _mm512_set1_epi8(static_cast<char>(columns.m_Min));
    const __m512i most = _mm512_set1_epi8(static_cast<char>(columns.m_Max));
    const size_t count = rows.m_Columns - c;
    const __mmask64 mask = count >= 64 ? ~__mmask64{0} : (__mmask64{1} << count) - 1;
    auto* out = static_cast<uint8_t*>(rows.m_Out) + c;
    const int32_t* sums = rows.m_Sums + c;
    for (size_t r = 0; r < rows.m_Rows; ++r, out += rows.m_OutStride, sums += rows.m_SumStride)
    {
        const __m256i term = HasTerms ? _mm256_set1_epi32(rows.m_RowTerms[r]) : _mm256_setzero_si256();
        const auto rescale = [&](size_t i) HWY_ATTR
        {
            const __m256i x = _mm256_load_si256(reinterpret_cast<const __m256i*>(sums + 8 * i));
            return RescaleEight(HasTerms ? _mm256_add_epi32(x, term) : x, scales[i]);
        };
        __m512i x[4] = {};
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            x[v] = _mm512_inserti64x4(_mm512_castsi256_si512(rescale(2 * v)), rescale(2 * v + 1), 1);
        }
        // Bytes clamp more closely than the sixteen bits that zero points are added in.
        const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(x[0], x[1]), zeroPoint);
        const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(x[2], x[3]), zeroPoint);
        const __m512i bytes = PackShorts64<T, false, true>(low, high, least, most);
        _mm512_mask_storeu_epi8(out, mask, bytes);
    }
}

template <typename T, bool HasTerms>
void RequantizeDoublesWith(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    size_t c = 0;
    for (; c + 48 < rows.m_Columns; c += 64)
    {
        RequantizeDoublesOf<T, 4, HasTerms>(rows, columns, c);
    }
    if (c + 32 < rows.m_Columns)
    {
        RequantizeDoublesOf<T, 3, HasTerms>(rows, columns, c);
    }
    else if (c + 16 < rows.m_Columns)
    {
        RequantizeDoublesOf<T, 2, HasTerms>(rows, columns, c);
    }
    else if (c < rows.m_Columns)
    {
        RequantizeDoublesOf<T, 1, HasTerms>(rows, columns, c);
    }
}

template <typename T>
void RequantizeDoubles(const RequantizeRows& rows, const RequantizeColumns& columns)
{
    rows.m_RowTerms != nullptr ? RequantizeDoublesWith<T, true>(rows, columns)
                               : RequantizeDoublesWith<T, false>(rows, columns);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
