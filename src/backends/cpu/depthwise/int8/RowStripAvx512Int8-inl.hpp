// SPDX-License-Identifier: Apache-2.0
// Row strips of int8, from the image to int8 without memory in between, with AVX-512 VNNI: windows of three columns and
// up to four rows over 64 channels of one strip, 32 of two or 16 of four (RowStripsInt8). A sliding window: each column
// is loaded and interleaved once (StripColumnsInt8), and added to the sums of the windows that it is in. Stride 1:
//   out = first + w2 * column;   first = second + w1 * column;   second = bias + w0 * column
//
// A column has the pixels of 1, 2 or 4 strips, one strip in each 512, 256 or 128 bits; up to four rows are interleaved
// in registers to [channel][row].
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

HWY_INLINE void AddDots(__m512i& sums, const __m512i& data, const __m512i& weights)
{
#if defined(__clang__) // with "vm", clang copies the weights to the stack and reads them there
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data), "v"(weights));
#else
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data), "vm"(weights));
#endif
}

/// See DepthwiseMicrokernelsInt8::m_PrepareStripRequantization.
void PrepareStripRequantizationAvx512(const RequantizeColumns& columns, const int32_t* bias, bool isSigned,
                                      std::byte* prepared)
{
    static_assert(sizeof(PreparedRequantizationInt8) % ArenaAlignment == 0);
    constexpr size_t Channels = DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels;
    GetMicrokernelsInt8().m_PrepareRequantization(columns, bias, Channels, isSigned,
                                                  *new (prepared) PreparedRequantizationInt8);
}

/// Weights, bias and scales: constants of all columns.
template <typename Scale, size_t StripCount>
class StripConstantsInt8
{
public:
    explicit HWY_INLINE StripConstantsInt8(const RowStripsInt8& strips)
        : m_Weights(static_cast<const __m512i*>(strips.m_Weights)),
          m_Requantization(static_cast<const PreparedRequantizationInt8*>(strips.m_Requantization))
    {
    }

    HWY_INLINE __m512i GetBias(size_t v) const { return LoadOnce(m_Requantization->m_Bias + 16 * v); }
    /// Weights of a window column. `outputRow`: 1 for the second output row, whose windows begin one row lower.
    HWY_INLINE const __m512i& GetWeights(size_t column, size_t v, size_t outputRow = 0) const
    {
        return m_Weights[(outputRow * 3 + column) * 4 + v];
    }
    HWY_INLINE const Scale& GetScale(size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Requantization->m_Scales)[v];
    }

    HWY_INLINE void Store(const __m512i (&x)[4], uint8_t* const (&out)[RowStripsInt8::MaxStrips], size_t at) const
    {
        StorePixels<StripCount>(
            PackInt8<true>(SixteenLaneScale::Pack(x[0], x[1]), SixteenLaneScale::Pack(x[2], x[3]), *m_Requantization),
            out, at);
    }

private:
    const __m512i* m_Weights;
    const PreparedRequantizationInt8* m_Requantization;
};

/// Stride 1, for `OutputRows` output rows: windows overlap by two columns.
template <typename Scale, size_t StripCount, size_t OutputRows>
class SlidingStripStride1Int8
{
public:
    explicit HWY_INLINE SlidingStripStride1Int8(const RowStripsInt8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        __m512i data[4];
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            HWY_UNROLL(2)
            for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
            {
                m_Second[v][outputRow] = m_Constants.GetBias(v);
                AddDots(m_Second[v][outputRow], data[v], m_Constants.GetWeights(0, v, outputRow));
            }
        }
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            HWY_UNROLL(2)
            for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
            {
                m_First[v][outputRow] = m_Second[v][outputRow];
                AddDots(m_First[v][outputRow], data[v], m_Constants.GetWeights(1, v, outputRow));
                m_Second[v][outputRow] = m_Constants.GetBias(v);
                AddDots(m_Second[v][outputRow], data[v], m_Constants.GetWeights(0, v, outputRow));
            }
        }
    }

    /// Computes a pixel of each output row.
    HWY_INLINE void WriteOne()
    {
        __m512i data[4];
        __m512i x[4];
        __m512i y[4];
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            const __m512i bias = m_Constants.GetBias(v);
            x[v] = SumNext<0>(v, data[v], bias);
            if constexpr (OutputRows == 2)
            {
                y[v] = SumNext<1>(v, data[v], bias);
                ScaleTwo(m_Constants.GetScale(v), x[v], y[v]);
            }
            else
            {
                x[v] = ScaleOne(m_Constants.GetScale(v), x[v]);
            }
        }
        if constexpr (OutputRows == 2)
        {
            m_Constants.Store(y, m_Strips->m_Second, m_At);
        }
        m_Constants.Store(x, m_Strips->m_Out, m_At);
        m_At += m_Strips->m_OutStride;
    }

    /// Computes two pixels of the one output row, whose constants are loaded once for both.
    HWY_INLINE void WriteTwo()
    {
        static_assert(OutputRows == 1);
        __m512i left[4];
        __m512i right[4];
        __m512i x[4];
        __m512i y[4];
        m_Columns.Next(left);
        m_Columns.Next(right);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            const __m512i old = LoadOnce(&m_Constants.GetWeights(2, v));
            const __m512i middle = LoadOnce(&m_Constants.GetWeights(1, v));
            const __m512i fresh = LoadOnce(&m_Constants.GetWeights(0, v));
            const __m512i bias = m_Constants.GetBias(v);
            x[v] = m_First[v][0];
            AddDots(x[v], left[v], old);
            y[v] = m_Second[v][0];
            AddDots(y[v], left[v], middle);
            AddDots(y[v], right[v], old);
            m_First[v][0] = bias;
            AddDots(m_First[v][0], left[v], fresh);
            AddDots(m_First[v][0], right[v], middle);
            m_Second[v][0] = bias;
            AddDots(m_Second[v][0], right[v], fresh);
            ScaleTwo(m_Constants.GetScale(v), x[v], y[v]);
        }
        m_Constants.Store(x, m_Strips->m_Out, m_At);
        m_Constants.Store(y, m_Strips->m_Out, m_At + m_Strips->m_OutStride);
        m_At += 2 * m_Strips->m_OutStride;
    }

private:
    /// Returns the sums of the window that ends with this column, and adds the column to the two windows after it.
    template <size_t OutputRow>
    HWY_INLINE __m512i SumNext(size_t v, __m512i data, __m512i bias)
    {
        __m512i sums = m_First[v][OutputRow];
        AddDots(sums, data, m_Constants.GetWeights(2, v, OutputRow));
        m_First[v][OutputRow] = m_Second[v][OutputRow];
        AddDots(m_First[v][OutputRow], data, m_Constants.GetWeights(1, v, OutputRow));
        m_Second[v][OutputRow] = bias;
        AddDots(m_Second[v][OutputRow], data, m_Constants.GetWeights(0, v, OutputRow));
        return sums;
    }

    const RowStripsInt8* m_Strips;
    StripConstantsInt8<Scale, StripCount> m_Constants;
    StripColumnsInt8<StripCount, 4> m_Columns;
    __m512i m_First[4][OutputRows];  ///< sums of the window whose last column is next
    __m512i m_Second[4][OutputRows]; ///< sums of the window after it
    size_t m_At = 0;                 ///< bytes from the first output pixel to the next one
};

/// Stride 2: windows of up to three rows overlap by one column. They read four times as many pixels as they write, so
/// each signedness of the data has a loop of its own.
template <typename Scale, size_t StripCount, bool IsSigned>
class SlidingStripStride2Int8
{
public:
    explicit HWY_INLINE SlidingStripStride2Int8(const RowStripsInt8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        __m512i data[4];
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            m_First[v] = m_Constants.GetBias(v);
            AddDots(m_First[v], data[v], m_Constants.GetWeights(0, v));
        }
    }

    HWY_INLINE void WriteTwo()
    {
        __m512i x[4];
        __m512i y[4];
        SumNext(x);
        SumNext(y);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            ScaleTwo(m_Constants.GetScale(v), x[v], y[v]);
        }
        Write(x);
        Write(y);
    }

    HWY_INLINE void WriteOne()
    {
        __m512i x[4];
        SumNext(x);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            x[v] = ScaleOne(m_Constants.GetScale(v), x[v]);
        }
        Write(x);
    }

private:
    HWY_INLINE void SumNext(__m512i (&x)[4])
    {
        __m512i data[4];
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            x[v] = m_First[v];
            AddDots(x[v], data[v], m_Constants.GetWeights(1, v));
        }
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            AddDots(x[v], data[v], m_Constants.GetWeights(2, v));
            m_First[v] = m_Constants.GetBias(v);
            AddDots(m_First[v], data[v], m_Constants.GetWeights(0, v));
        }
    }

    HWY_INLINE void Write(const __m512i (&x)[4])
    {
        m_Constants.Store(x, m_Strips->m_Out, m_At);
        m_At += m_Strips->m_OutStride;
    }

    const RowStripsInt8* m_Strips;
    StripConstantsInt8<Scale, StripCount> m_Constants;
    StripColumnsInt8<StripCount, 3, IsSigned> m_Columns;
    __m512i m_First[4]; ///< sums of the next window, which overlaps in one column
    size_t m_At = 0;    ///< bytes from the first output pixel to the next one
};

/// Runs pixel by pixel, or by pairs of pixels.
template <typename Strips, bool IsPixelPairs>
void WriteRow(const RowStripsInt8& strips)
{
    Strips windows(strips);
    size_t left = strips.m_Pixels;
    if constexpr (IsPixelPairs)
    {
        for (; left >= 2; left -= 2)
        {
            windows.WriteTwo();
        }
    }
    for (; left > 0; --left)
    {
        windows.WriteOne();
    }
}

template <typename Scale, size_t StripCount>
void RunRowStripsOfInt8(const RowStripsInt8& strips)
{
    if (strips.m_Stride == 2)
    {
        strips.m_IsSigned ? WriteRow<SlidingStripStride2Int8<Scale, StripCount, true>, true>(strips)
                          : WriteRow<SlidingStripStride2Int8<Scale, StripCount, false>, true>(strips);
        return;
    }
    strips.m_HasSecond ? WriteRow<SlidingStripStride1Int8<Scale, StripCount, 2>, false>(strips)
                       : WriteRow<SlidingStripStride1Int8<Scale, StripCount, 1>, true>(strips);
}

template <typename Scale>
void RunRowStripsOfInt8(const RowStripsInt8& strips)
{
    strips.m_StripCount == 1   ? RunRowStripsOfInt8<Scale, 1>(strips)
    : strips.m_StripCount == 2 ? RunRowStripsOfInt8<Scale, 2>(strips)
                               : RunRowStripsOfInt8<Scale, 4>(strips);
}

/// See DepthwiseMicrokernelsInt8::m_RunRowStrips.
void RunRowStripsAvx512(const RowStripsInt8& strips)
{
    strips.m_ClampsNegatives ? RunRowStripsOfInt8<PlainScale>(strips) : RunRowStripsOfInt8<OffsetScale>(strips);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
