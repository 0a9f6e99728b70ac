// SPDX-License-Identifier: Apache-2.0
// Requantization in double precision with AVX-512, as FullyConnected rounds: a scale class for
// RequantizeAvx512Int8-inl.hpp.
#if defined(TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INT8_INL
#undef TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INT8_INL
#else
#define TENON_CPU_REQUANTIZE_DOUBLES_AVX512_INT8_INL
#endif

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/FixedPoint-inl.hpp"

#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Eight sums by their scales, rounded half away from zero. Results below the range of int32 become its lowest value.
HWY_INLINE __m256i RescaleEight(__m256i x, __m512d scale)
{
    const __m512d product = _mm512_mul_pd(_mm512_cvtepi32_pd(x), scale);
    const __m512i sign = _mm512_set1_epi64(INT64_MIN);
    const __m512i half = _mm512_castpd_si512(_mm512_set1_pd(BelowHalf));
    constexpr int FirstAndSecondOrThird = 0xEA;
    const __m512i signedHalf =
        _mm512_ternarylogic_epi64(_mm512_castpd_si512(product), sign, half, FirstAndSecondOrThird);
    const __m512d rounded = _mm512_add_pd(product, _mm512_castsi512_pd(signedHalf));
    return _mm512_cvttpd_epi32(_mm512_min_pd(rounded, _mm512_set1_pd(MaxRounded)));
}

/// The scales of the sixteen lanes of a vector, and the zero point; replaces SixteenLaneScale.
struct DoubleScale
{
    __m512d m_Lower, m_Upper;
    __m512 m_Floats;
    __m512i m_ZeroPoint;

    HWY_INLINE DoubleScale(const RequantizeColumns& columns, size_t c)
        : m_Lower(_mm512_loadu_pd(columns.m_Scale + c)), m_Upper(_mm512_loadu_pd(columns.m_Scale + c + 8)),
          m_Floats(Join(ToFloats(m_Lower), ToFloats(m_Upper))),
          m_ZeroPoint(_mm512_set1_epi16(static_cast<int16_t>(columns.m_ZeroPoint)))
    {
    }

    /// Finite scales: an infinite one would give NaN for a sum of 0.
    static HWY_INLINE __m256 ToFloats(__m512d scales)
    {
        return _mm512_cvtpd_ps(_mm512_min_pd(scales, _mm512_set1_pd(std::numeric_limits<float>::max())));
    }

    static HWY_INLINE __m512 Join(__m256 lower, __m256 upper)
    {
        return _mm512_castpd_ps(
            _mm512_insertf64x4(_mm512_castps_pd(_mm512_castps256_ps512(lower)), _mm256_castps_pd(upper), 1));
    }

    /// int8 clamps more closely than int16, in which the zero point is added.
    HWY_INLINE __m512i Pack(__m512i a, __m512i b) const
    {
        return _mm512_adds_epi16(_mm512_packs_epi32(a, b), m_ZeroPoint);
    }
};

inline HWY_NOINLINE __m512i RescaleSixteen(const DoubleScale& scale, __m512i x)
{
    const __m256i lower = RescaleEight(_mm512_castsi512_si256(x), scale.m_Lower);
    const __m256i upper = RescaleEight(_mm512_extracti64x4_epi64(x, 1), scale.m_Upper);
    return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
}

/// Scales one vector of accumulators, without the zero point. See MaxFloatProduct.
template <bool HasTerm>
HWY_INLINE __m512i ScaleSums(const DoubleScale& scale, const int32_t* sums, __m512i term)
{
    const __m512i loaded = _mm512_load_si512(sums);
    const __m512i x = HasTerm ? _mm512_add_epi32(loaded, term) : loaded;
    const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(x), scale.m_Floats);
    const __m512 bounded = _mm512_min_ps(product, _mm512_set1_ps(MaxFloatProduct));
    const __m512 rounded = _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 distance = _mm512_abs_ps(_mm512_sub_ps(bounded, rounded));
    if (HWY_UNLIKELY(_mm512_cmp_ps_mask(distance, _mm512_set1_ps(NearHalf), _CMP_GT_OQ) != 0))
    {
        return RescaleSixteen(scale, x);
    }
    return _mm512_cvttps_epi32(rounded);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
