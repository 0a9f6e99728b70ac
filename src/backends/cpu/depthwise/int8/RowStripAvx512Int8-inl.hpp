// SPDX-License-Identifier: Apache-2.0
// Row strips of int8 with AVX-512 VNNI: the operations of RowStripsInt8.cpp on one image column.
//
// clang-format off
//   rows a, b, c, e, one 128-bit lane:        | a0 a1 .. a15 |
//                                             | b0 b1 .. b15 |
//                                             | c0 c1 .. c15 |
//                                             | e0 e1 .. e15 |
//   interleaved, vector 0, channels 0-3:      | a0 b0 c0 e0 | a1 b1 c1 e1 | a2 b2 c2 e2 | a3 b3 c3 e3 |
//                vector 1, channels 4-7:      | a4 b4 c4 e4 | ..
//                vector 2, channels 8-11, and vector 3, channels 12-15, likewise
//   one vpdpbusd adds all four rows of a channel
// clang-format on
//
// A column has the pixels of 1, 2 or 4 row strips, one row strip in each 512, 256 or 128 bits.
#if defined(TENON_CPU_ROW_STRIP_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_ROW_STRIP_AVX512_INT8_INL
#undef TENON_CPU_ROW_STRIP_AVX512_INT8_INL
#else
#define TENON_CPU_ROW_STRIP_AVX512_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/RowStripCursorInt8-inl.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeAvx512Int8-inl.hpp"
#include "common/AlignedMemory.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <new>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

HWY_INLINE __m128i Load128(const uint8_t* from)
{
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

HWY_INLINE __m256i Load256(const uint8_t* from)
{
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

HWY_INLINE void Store128(__m128i x, uint8_t* to)
{
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), x);
}

HWY_INLINE void Store256(__m256i x, uint8_t* to)
{
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x);
}

/// The operations with AVX-512 VNNI. `Rows`: rows of the windows; the fourth row may have any content.
/// `AppliesSignXor`: data may be int8, else they are uint8.
template <typename Scale, size_t StripCount, size_t Rows, bool AppliesSignXor = true>
class RowStripAvx512Int8
{
public:
    using Accumulators = __m512i;
    static constexpr size_t Vectors = 4;
    /// Registers are left for the weights of two pixels.
    static constexpr bool TakesPixelPairs = true;

    /// One image column: in each 128-bit lane of vector v the four rows of four channels.
    struct Column
    {
        __m512i m_Data[Vectors];
    };

    explicit HWY_INLINE RowStripAvx512Int8(const RowStripsInt8& strips)
        : m_Cursor(strips), m_SignXor(_mm512_set1_epi8(strips.m_IsSigned ? static_cast<char>(0x80) : 0)),
          m_Weights(static_cast<const __m512i*>(strips.m_Weights)),
          m_Requantization(static_cast<const PreparedRequantizationInt8*>(strips.m_Requantization))
    {
    }

    HWY_INLINE void Next(Column& column)
    {
        const __m512i a = Load<0>();
        const __m512i b = Load<1>();
        const __m512i c = Load<2>();
        const __m512i e = Load<Rows - 1>();
        const __m512i lowAb = _mm512_unpacklo_epi8(a, b);
        const __m512i highAb = _mm512_unpackhi_epi8(a, b);
        const __m512i lowCe = _mm512_unpacklo_epi8(c, e);
        const __m512i highCe = _mm512_unpackhi_epi8(c, e);
        column.m_Data[0] = _mm512_unpacklo_epi16(lowAb, lowCe);
        column.m_Data[1] = _mm512_unpackhi_epi16(lowAb, lowCe);
        column.m_Data[2] = _mm512_unpacklo_epi16(highAb, highCe);
        column.m_Data[3] = _mm512_unpackhi_epi16(highAb, highCe);
        m_Cursor.Advance();
    }

    HWY_INLINE __m512i GetBias(size_t v) const { return LoadOnce(m_Requantization->m_Bias + 16 * v); }

    /// Loads weights of a window column to a register.
    HWY_INLINE __m512i LoadWeights(size_t column, size_t v) const { return LoadOnce(&GetWeights(column, v)); }

    HWY_INLINE void Add(__m512i& sums, const Column& data, size_t v, const __m512i& weights) const
    {
#if defined(__clang__) // with "vm", clang copies the weights to the stack and reads them there
        asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data.m_Data[v]), "v"(weights));
#else
        asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data.m_Data[v]), "vm"(weights));
#endif
    }

    HWY_INLINE void Add(__m512i& sums, const Column& data, size_t v, size_t column, size_t outputRow) const
    {
        Add(sums, data, v, GetWeights(column, v, outputRow));
    }

    // Stride 2: the right column of a window is the left one of the next window.
    HWY_INLINE void AddLeft(__m512i& sums, const Column& /*before*/, const Column& left, size_t v) const
    {
        Add(sums, left, v, GetWeights(0, v));
    }
    HWY_INLINE void AddMiddle(__m512i& sums, const Column& middle, size_t v) const
    {
        Add(sums, middle, v, GetWeights(1, v));
    }
    HWY_INLINE void AddRight(__m512i& sums, const Column& /*middle*/, const Column& right, size_t v) const
    {
        Add(sums, right, v, GetWeights(2, v));
    }

    HWY_INLINE void ScaleSums(__m512i& x, size_t v) const
    {
        x = ScaleOne(GetScale(v), x);
    }
    HWY_INLINE void ScaleSums(__m512i& x, __m512i& y, size_t v) const
    {
        ScaleTwo(GetScale(v), x, y);
    }

    /// Packs scaled sums to bytes and stores a pixel of each row strip, 64 / StripCount channels each.
    HWY_INLINE void Store(const __m512i (&x)[Vectors], uint8_t* const (&out)[RowStripsInt8::MaxStripCount],
                          size_t at) const
    {
        const __m512i pixels =
            PackInt8<true>(SixteenLaneScale::Pack(x[0], x[1]), SixteenLaneScale::Pack(x[2], x[3]), *m_Requantization);
        if constexpr (StripCount == 1)
        {
            _mm512_storeu_si512(out[0] + at, pixels);
        }
        else if constexpr (StripCount == 2)
        {
            Store256(_mm512_castsi512_si256(pixels), out[0] + at);
            Store256(_mm512_extracti64x4_epi64(pixels, 1), out[1] + at);
        }
        else
        {
            Store128(_mm512_castsi512_si128(pixels), out[0] + at);
            Store128(_mm512_extracti64x2_epi64(pixels, 1), out[1] + at);
            Store128(_mm512_extracti64x2_epi64(pixels, 2), out[2] + at);
            Store128(_mm512_extracti64x2_epi64(pixels, 3), out[3] + at);
        }
    }

    /// Stores two pixels; x first, as the second output row of a row strip without one is the first row.
    HWY_INLINE void Store(const __m512i (&x)[Vectors], uint8_t* const (&xOut)[RowStripsInt8::MaxStripCount], size_t xAt,
                          const __m512i (&y)[Vectors], uint8_t* const (&yOut)[RowStripsInt8::MaxStripCount],
                          size_t yAt) const
    {
        Store(x, xOut, xAt);
        Store(y, yOut, yAt);
    }

private:
    /// Weights of a window column. `outputRow`: 1 for the second output row, whose windows begin one row lower.
    HWY_INLINE const __m512i& GetWeights(size_t column, size_t v, size_t outputRow = 0) const
    {
        return m_Weights[(outputRow * 3 + column) * Vectors + v];
    }

    template <size_t Row>
    HWY_INLINE __m512i Load() const
    {
        return AppliesSignXor ? _mm512_xor_si512(LoadPixels<Row>(), m_SignXor) : LoadPixels<Row>();
    }

    /// Loads a row of each row strip.
    template <size_t Row>
    HWY_INLINE __m512i LoadPixels() const
    {
        if constexpr (StripCount == 1)
        {
            return _mm512_loadu_si512(m_Cursor.Get(0, Row));
        }
        else if constexpr (StripCount == 2)
        {
            return _mm512_inserti64x4(_mm512_castsi256_si512(Load256(m_Cursor.Get(0, Row))),
                                      Load256(m_Cursor.Get(1, Row)), 1);
        }
        else
        {
            const __m256i lower = _mm256_inserti128_si256(_mm256_castsi128_si256(Load128(m_Cursor.Get(0, Row))),
                                                          Load128(m_Cursor.Get(1, Row)), 1);
            const __m256i upper = _mm256_inserti128_si256(_mm256_castsi128_si256(Load128(m_Cursor.Get(2, Row))),
                                                          Load128(m_Cursor.Get(3, Row)), 1);
            return _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
        }
    }

    HWY_INLINE const Scale& GetScale(size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Requantization->m_Scales)[v];
    }

    RowStripCursorInt8<StripCount, Rows> m_Cursor;
    __m512i m_SignXor;
    const __m512i* m_Weights;
    const PreparedRequantizationInt8* m_Requantization;
};

/// See DepthwiseMicrokernelsInt8::m_PrepareStripRequantization.
void PrepareStripRequantization(const RequantizeColumns& columns, const int32_t* bias, bool isSigned,
                                std::byte* prepared)
{
    static_assert(sizeof(PreparedRequantizationInt8) % ArenaAlignment == 0);
    constexpr size_t Channels = DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels;
    GetMicrokernelsInt8().m_PrepareRequantization(columns, bias, Channels, isSigned,
                                                  *new (prepared) PreparedRequantizationInt8);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
