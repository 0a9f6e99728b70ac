// SPDX-License-Identifier: Apache-2.0
// Depthwise windows of three columns and up to four rows over 64 channels of bytes, from the image to bytes without
// memory in between, with AVX-512 (DepthwiseStrip8), for sources that are compiled for each target (Foreach.hpp):
// DepthwiseLoops8.cpp. Included once a target.
#if defined(TENON_CPU_DEPTHWISE_STRIP_AVX512_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#undef TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#else
#define TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#endif

#include "backends/cpu/gemm/bytes/ByteScalesAvx512-inl.hpp"
#include "backends/cpu/kernels/DepthwiseLoops8.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Columns of an image one after the other, with those before it and behind it, each with its rows beside each other.
/// `IsEven`: all rows have the same step.
template <bool IsEven>
class StripColumns
{
public:
    explicit HWY_INLINE StripColumns(const DepthwiseStrip8& strip)
        : m_Strip(&strip), m_Flip(_mm512_set1_epi8(strip.m_IsSigned ? static_cast<char>(0x80) : 0)),
          m_Left(strip.m_Before)
    {
        if (m_Left != 0)
        {
            ReadPadding();
        }
        else
        {
            Turn();
        }
    }

    /// data[v] has of each 128-bit lane the four rows of four channels.
    HWY_INLINE void Next(__m512i (&data)[4])
    {
        const __m512i a = Load<0>();
        const __m512i b = Load<1>();
        const __m512i c = Load<2>();
        const __m512i e = Load<3>();
        const __m512i lowAb = _mm512_unpacklo_epi8(a, b);
        const __m512i highAb = _mm512_unpackhi_epi8(a, b);
        const __m512i lowCe = _mm512_unpacklo_epi8(c, e);
        const __m512i highCe = _mm512_unpackhi_epi8(c, e);
        data[0] = _mm512_unpacklo_epi16(lowAb, lowCe);
        data[1] = _mm512_unpackhi_epi16(lowAb, lowCe);
        data[2] = _mm512_unpacklo_epi16(highAb, highCe);
        data[3] = _mm512_unpackhi_epi16(highAb, highCe);
        m_At += m_Step;
        if (--m_Left == 0)
        {
            Turn();
        }
    }

private:
    template <size_t Row>
    HWY_INLINE __m512i Load() const
    {
        const size_t at = IsEven ? m_At : m_At & m_Strip->m_InImage[Row];
        return _mm512_xor_si512(_mm512_loadu_si512(m_Rows[Row] + at), m_Flip);
    }

    HWY_INLINE void ReadPadding()
    {
        HWY_UNROLL(4)
        for (size_t row = 0; row < 4; ++row)
        {
            m_Rows[row] = m_Strip->m_Padding;
        }
        m_At = 0;
        m_Step = 0;
    }

    /// From what is before the image to the image, and from that to what is behind it.
    HWY_INLINE void Turn()
    {
        if (m_Step != 0 || m_Strip->m_Inside == 0)
        {
            ReadPadding();
            m_Left = std::numeric_limits<size_t>::max();
            return;
        }
        HWY_UNROLL(4)
        for (size_t row = 0; row < 4; ++row)
        {
            m_Rows[row] = m_Strip->m_Rows[row];
        }
        m_Left = m_Strip->m_Inside;
        m_Step = m_Strip->m_Step;
    }

    const DepthwiseStrip8* m_Strip;
    __m512i m_Flip;
    const uint8_t* m_Rows[4];
    size_t m_At = 0; ///< from there on, bytes
    size_t m_Step = 0;
    size_t m_Left; ///< until what follows is something else
};

HWY_INLINE void AddDots(__m512i& sums, const __m512i& data, const __m512i& weights)
{
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data), "vm"(weights));
}

/// What does not change from column to column.
template <typename Scale>
class StripConstants
{
public:
    explicit HWY_INLINE StripConstants(const DepthwiseStrip8& strip)
        : m_Weights(static_cast<const __m512i*>(strip.m_Weights)), m_Columns(strip.m_Columns)
    {
    }

    HWY_INLINE __m512i GetBias(size_t v) const { return LoadOnce(m_Columns->m_Bias + 16 * v); }
    /// Of a column of the windows.
    HWY_INLINE const __m512i& GetWeights(size_t column, size_t v) const { return m_Weights[column * 4 + v]; }
    HWY_INLINE const Scale& GetScale(size_t v) const { return reinterpret_cast<const Scale*>(m_Columns->m_Scales)[v]; }

    HWY_INLINE void Store(const __m512i (&x)[4], uint8_t* out) const
    {
        _mm512_storeu_si512(out, PackBytes<true>(Scale16::Pack(x[0], x[1]), Scale16::Pack(x[2], x[3]), *m_Columns));
    }

private:
    const __m512i* m_Weights;
    const ByteColumns8* m_Columns;
};

/// The rows of the second output row's windows, in the order that the weights have them: they begin one row lower.
HWY_INLINE __m512i TurnRows(__m512i data)
{
    return _mm512_ror_epi32(data, 8);
}

/// Windows that overlap by two columns, of `Phases` output rows.
template <typename Scale, bool IsEven, size_t Phases>
void WriteStripOfStride1(const DepthwiseStrip8& strip)
{
    const StripConstants<Scale> constants(strip);
    StripColumns<IsEven> columns(strip);
    __m512i first[4][Phases];  // of the window that has seen the most columns
    __m512i second[4][Phases]; // of the next one
    uint8_t* out = strip.m_Out[0];
    uint8_t* lower = strip.m_Out[1];
    __m512i data[4];
    columns.Next(data);
    HWY_UNROLL(4)
    for (size_t v = 0; v < 4; ++v)
    {
        HWY_UNROLL(2)
        for (size_t p = 0; p < Phases; ++p)
        {
            second[v][p] = constants.GetBias(v);
            AddDots(second[v][p], p == 0 ? data[v] : TurnRows(data[v]), constants.GetWeights(0, v));
        }
    }
    columns.Next(data);
    HWY_UNROLL(4)
    for (size_t v = 0; v < 4; ++v)
    {
        HWY_UNROLL(2)
        for (size_t p = 0; p < Phases; ++p)
        {
            const __m512i column = p == 0 ? data[v] : TurnRows(data[v]);
            first[v][p] = second[v][p];
            AddDots(first[v][p], column, constants.GetWeights(1, v));
            second[v][p] = constants.GetBias(v);
            AddDots(second[v][p], column, constants.GetWeights(0, v));
        }
    }
    for (size_t left = strip.m_Pixels; left > 0; --left)
    {
        columns.Next(data);
        __m512i x[4];
        __m512i y[4];
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            const __m512i old = LoadOnce(&constants.GetWeights(2, v));
            const __m512i middle = LoadOnce(&constants.GetWeights(1, v));
            const __m512i fresh = LoadOnce(&constants.GetWeights(0, v));
            const __m512i bias = constants.GetBias(v);
            x[v] = first[v][0];
            AddDots(x[v], data[v], old);
            first[v][0] = second[v][0];
            AddDots(first[v][0], data[v], middle);
            second[v][0] = bias;
            AddDots(second[v][0], data[v], fresh);
            if constexpr (Phases == 2)
            {
                const __m512i turned = TurnRows(data[v]);
                y[v] = first[v][1];
                AddDots(y[v], turned, old);
                first[v][1] = second[v][1];
                AddDots(first[v][1], turned, middle);
                second[v][1] = bias;
                AddDots(second[v][1], turned, fresh);
                ScaleTwo(constants.GetScale(v), x[v], y[v]);
            }
            else
            {
                x[v] = ScaleOne(constants.GetScale(v), x[v]);
            }
        }
        constants.Store(x, out);
        out += strip.m_OutStride;
        if constexpr (Phases == 2)
        {
            constants.Store(y, lower);
            lower += strip.m_OutStride;
        }
    }
}

/// Windows that overlap by one column: two at a time.
template <typename Scale, bool IsEven>
class StripOfStride2
{
public:
    explicit HWY_INLINE StripOfStride2(const DepthwiseStrip8& strip)
        : m_Constants(strip), m_Columns(strip), m_Out(strip.m_Out[0]), m_OutStride(strip.m_OutStride)
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
        m_Constants.Store(x, m_Out);
        m_Out += m_OutStride;
    }

    StripConstants<Scale> m_Constants;
    StripColumns<IsEven> m_Columns;
    __m512i m_First[4]; ///< of the next window, which has seen one column
    uint8_t* m_Out;
    size_t m_OutStride;
};

template <typename Scale, bool IsEven>
void WriteStripOf(const DepthwiseStrip8& strip)
{
    if (strip.m_Stride == 1)
    {
        strip.m_Out[1] != nullptr ? WriteStripOfStride1<Scale, IsEven, 2>(strip)
                                  : WriteStripOfStride1<Scale, IsEven, 1>(strip);
        return;
    }
    StripOfStride2<Scale, IsEven> windows(strip);
    for (size_t left = strip.m_Pixels / 2; left > 0; --left)
    {
        windows.WriteTwo();
    }
    if (strip.m_Pixels % 2 != 0)
    {
        windows.WriteOne();
    }
}

template <typename Scale>
void WriteStripOf(const DepthwiseStrip8& strip)
{
    bool isEven = true;
    for (const size_t inImage : strip.m_InImage)
    {
        isEven = isEven && inImage != 0;
    }
    isEven ? WriteStripOf<Scale, true>(strip) : WriteStripOf<Scale, false>(strip);
}

/// See DepthwiseEngine8::m_WriteStrip.
void WriteStrip(const DepthwiseStrip8& strip)
{
    strip.m_IsPositive ? WriteStripOf<PlainScale>(strip) : WriteStripOf<OffsetScale>(strip);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
