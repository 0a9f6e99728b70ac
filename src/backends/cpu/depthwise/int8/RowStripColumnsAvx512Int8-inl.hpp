// SPDX-License-Identifier: Apache-2.0
// Columns of an image for row strips of int8 with AVX-512: loads up to four rows of 1, 2 or 4 strips, one strip in each
// 512, 256 or 128 bits, and interleaves them in registers to [channel][row]; stores the pixels of all strips.
#if defined(TENON_CPU_ROW_STRIP_COLUMNS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_COLUMNS_AVX512_INT8_INL
#undef TENON_CPU_ROW_STRIP_COLUMNS_AVX512_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_COLUMNS_AVX512_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/RowStripCursorInt8-inl.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

HWY_INLINE __m128i LoadChunk128(const uint8_t* from)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

HWY_INLINE __m256i Load32(const uint8_t* from)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

HWY_INLINE void StoreChunk128(__m128i x, uint8_t* to)
{
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x);
}

HWY_INLINE void Store32(__m256i x, uint8_t* to)
{
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x);
}

/// Stores a pixel of each strip, 64 / StripCount channels each.
template <size_t StripCount>
HWY_INLINE void StorePixels(__m512i pixels, uint8_t* const (&out)[RowStripsInt8::MaxStrips], size_t at)
{
    if constexpr (StripCount == 1)
    {
        _mm512_storeu_si512(out[0] + at, pixels);
    }
    else if constexpr (StripCount == 2)
    {
        Store32(_mm512_castsi512_si256(pixels), out[0] + at);
        Store32(_mm512_extracti64x4_epi64(pixels, 1), out[1] + at);
    }
    else
    {
        StoreChunk128(_mm512_castsi512_si128(pixels), out[0] + at);
        StoreChunk128(_mm512_extracti64x2_epi64(pixels, 1), out[1] + at);
        StoreChunk128(_mm512_extracti64x2_epi64(pixels, 2), out[2] + at);
        StoreChunk128(_mm512_extracti64x2_epi64(pixels, 3), out[3] + at);
    }
}

/// Loads the columns of an image in order, with the padding on both sides, and interleaves their rows. `Rows`: rows of
/// the windows; the fourth row may have any content. `AppliesSignXor`: data may be int8, else they are uint8.
template <size_t StripCount, size_t Rows, bool AppliesSignXor = true>
class StripColumnsInt8
{
public:
    explicit HWY_INLINE StripColumnsInt8(const RowStripsInt8& strips)
        : m_Cursor(strips), m_SignXor(_mm512_set1_epi8(strips.m_IsSigned ? static_cast<char>(0x80) : 0))
    {
    }

    /// Sets data[v]: in each 128-bit lane the four rows of four channels.
    HWY_INLINE void Next(__m512i (&data)[4])
    {
        const __m512i a = Load<0>();
        const __m512i b = Load<1>();
        const __m512i c = Load<2>();
        const __m512i e = Load<Rows - 1>();
        const __m512i lowAb = _mm512_unpacklo_epi8(a, b);
        const __m512i highAb = _mm512_unpackhi_epi8(a, b);
        const __m512i lowCe = _mm512_unpacklo_epi8(c, e);
        const __m512i highCe = _mm512_unpackhi_epi8(c, e);
        data[0] = _mm512_unpacklo_epi16(lowAb, lowCe);
        data[1] = _mm512_unpackhi_epi16(lowAb, lowCe);
        data[2] = _mm512_unpacklo_epi16(highAb, highCe);
        data[3] = _mm512_unpackhi_epi16(highAb, highCe);
        m_Cursor.Advance();
    }

private:
    template <size_t Row>
    HWY_INLINE __m512i Load() const
    {
        return AppliesSignXor ? _mm512_xor_si512(LoadPixels<Row>(), m_SignXor) : LoadPixels<Row>();
    }

    /// Loads a row of each strip.
    template <size_t Row>
    HWY_INLINE __m512i LoadPixels() const
    {
        if constexpr (StripCount == 1)
        {
            return _mm512_loadu_si512(m_Cursor.Get(0, Row));
        }
        else if constexpr (StripCount == 2)
        {
            return _mm512_inserti64x4(_mm512_castsi256_si512(Load32(m_Cursor.Get(0, Row))),
                                      Load32(m_Cursor.Get(1, Row)), 1);
        }
        else
        {
            const __m256i lower = _mm256_inserti128_si256(_mm256_castsi128_si256(LoadChunk128(m_Cursor.Get(0, Row))),
                                                          LoadChunk128(m_Cursor.Get(1, Row)), 1);
            const __m256i upper = _mm256_inserti128_si256(_mm256_castsi128_si256(LoadChunk128(m_Cursor.Get(2, Row))),
                                                          LoadChunk128(m_Cursor.Get(3, Row)), 1);
            return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
        }
    }

    RowStripCursorInt8<StripCount, Rows> m_Cursor;
    __m512i m_SignXor;
};

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
