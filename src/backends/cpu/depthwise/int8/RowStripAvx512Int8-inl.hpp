// SPDX-License-Identifier: Apache-2.0
// Row strips of int8, from the image to int8 without memory in between, with AVX-512 VNNI: windows of three columns and
// up to four rows over 64 channels of one strip, 32 of two or 16 of four (RowStripsInt8). A sliding window: each column
// is loaded and interleaved once, and added to the sums of the windows that it is in. Stride 1:
//   out = first + w2 * column;   first = second + w1 * column;   second = bias + w0 * column
#if defined(TENON_CPU_DEPTHWISE_STRIP_AVX512_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#undef TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#else
#define TENON_CPU_DEPTHWISE_STRIP_AVX512_INL
#endif

#include "backends/cpu/depthwise/int8/RowStripColumnsAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeInRegistersAvx512Int8-inl.hpp"
#include "common/AlignedMemory.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <new>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

HWY_INLINE void AddDots(__m512i& sums, const __m512i& data, const __m512i& weights)
{
#if defined(__clang__) // with "vm", clang copies the weights to the stack and reads them there
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data), "v"(weights));
#else
    asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(data), "vm"(weights));
#endif
}

/// See DepthwiseEngine8::m_PrepareStrips.
void PrepareStripColumns(const RequantizeColumns& columns, const int32_t* bias, bool isSigned, std::byte* prepared)
{
    static_assert(sizeof(ByteColumns8) % ArenaAlignment == 0);
    constexpr size_t Channels = DepthwiseEngine8::MostPieces * DepthwiseEngine8::PieceChannels;
    GetEngine8().m_PrepareColumns(columns, bias, Channels, isSigned, *new (prepared) ByteColumns8);
}

/// Weights, bias and scales: constants of all columns.
template <typename Scale, size_t Parts>
class StripConstants
{
public:
    explicit HWY_INLINE StripConstants(const DepthwiseStrips8& strips)
        : m_Weights(static_cast<const __m512i*>(strips.m_Weights)),
          m_Requantization(static_cast<const ByteColumns8*>(strips.m_Requantization))
    {
    }

    HWY_INLINE __m512i GetBias(size_t v) const { return LoadOnce(m_Requantization->m_Bias + 16 * v); }
    /// Weights of a window column. `outputRow`: 1 for the second output row, whose windows begin one row lower.
    HWY_INLINE const __m512i& GetWeights(size_t column, size_t v, size_t phase = 0) const
    {
        return m_Weights[(phase * 3 + column) * 4 + v];
    }
    HWY_INLINE const Scale& GetScale(size_t v) const
    {
        return reinterpret_cast<const Scale*>(m_Requantization->m_Scales)[v];
    }

    HWY_INLINE void Store(const __m512i (&x)[4], uint8_t* const (&out)[DepthwiseStrips8::MostParts], size_t at) const
    {
        StorePixels<Parts>(PackBytes<true>(Scale16::Pack(x[0], x[1]), Scale16::Pack(x[2], x[3]), *m_Requantization),
                           out, at);
    }

private:
    const __m512i* m_Weights;
    const ByteColumns8* m_Requantization;
};

/// Stride 1, for `OutputRows` output rows: windows overlap by two columns.
template <typename Scale, size_t Parts, size_t Phases>
class StripsOfStride1
{
public:
    explicit HWY_INLINE StripsOfStride1(const DepthwiseStrips8& strips)
        : m_Strips(&strips), m_Constants(strips), m_Columns(strips)
    {
        __m512i data[4];
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            HWY_UNROLL(2)
            for (size_t phase = 0; phase < Phases; ++phase)
            {
                m_Second[v][phase] = m_Constants.GetBias(v);
                AddDots(m_Second[v][phase], data[v], m_Constants.GetWeights(0, v, phase));
            }
        }
        m_Columns.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < 4; ++v)
        {
            HWY_UNROLL(2)
            for (size_t phase = 0; phase < Phases; ++phase)
            {
                m_First[v][phase] = m_Second[v][phase];
                AddDots(m_First[v][phase], data[v], m_Constants.GetWeights(1, v, phase));
                m_Second[v][phase] = m_Constants.GetBias(v);
                AddDots(m_Second[v][phase], data[v], m_Constants.GetWeights(0, v, phase));
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
            if constexpr (Phases == 2)
            {
                y[v] = SumNext<1>(v, data[v], bias);
                ScaleTwo(m_Constants.GetScale(v), x[v], y[v]);
            }
            else
            {
                x[v] = ScaleOne(m_Constants.GetScale(v), x[v]);
            }
        }
        if constexpr (Phases == 2)
        {
            m_Constants.Store(y, m_Strips->m_Second, m_At);
        }
        m_Constants.Store(x, m_Strips->m_Out, m_At);
        m_At += m_Strips->m_OutStride;
    }

    /// Computes two pixels of the one output row, whose constants are loaded once for both.
    HWY_INLINE void WriteTwo()
    {
        static_assert(Phases == 1);
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
    template <size_t Phase>
    HWY_INLINE __m512i SumNext(size_t v, __m512i data, __m512i bias)
    {
        __m512i sums = m_First[v][Phase];
        AddDots(sums, data, m_Constants.GetWeights(2, v, Phase));
        m_First[v][Phase] = m_Second[v][Phase];
        AddDots(m_First[v][Phase], data, m_Constants.GetWeights(1, v, Phase));
        m_Second[v][Phase] = bias;
        AddDots(m_Second[v][Phase], data, m_Constants.GetWeights(0, v, Phase));
        return sums;
    }

    const DepthwiseStrips8* m_Strips;
    StripConstants<Scale, Parts> m_Constants;
    StripColumns<Parts, 4> m_Columns;
    __m512i m_First[4][Phases];  ///< sums of the window whose last column is next
    __m512i m_Second[4][Phases]; ///< sums of the window after it
    size_t m_At = 0;             ///< bytes from the first output pixel to the next one
};

/// Stride 2: windows of up to three rows overlap by one column. They read four times as many pixels as they write, so
/// each signedness of the data has a loop of its own.
template <typename Scale, size_t Parts, bool IsSigned>
class StripsOfStride2
{
public:
    explicit HWY_INLINE StripsOfStride2(const DepthwiseStrips8& strips)
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

    const DepthwiseStrips8* m_Strips;
    StripConstants<Scale, Parts> m_Constants;
    StripColumns<Parts, 3, IsSigned> m_Columns;
    __m512i m_First[4]; ///< sums of the next window, which overlaps in one column
    size_t m_At = 0;    ///< bytes from the first output pixel to the next one
};

/// Runs pixel by pixel, or by pairs of pixels.
template <typename Strips, bool ByTwos>
void WriteAll(const DepthwiseStrips8& strips)
{
    Strips windows(strips);
    size_t left = strips.m_Pixels;
    if constexpr (ByTwos)
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

template <typename Scale, size_t Parts>
void WriteStripsOf(const DepthwiseStrips8& strips)
{
    if (strips.m_Stride == 2)
    {
        strips.m_IsSigned ? WriteAll<StripsOfStride2<Scale, Parts, true>, true>(strips)
                          : WriteAll<StripsOfStride2<Scale, Parts, false>, true>(strips);
        return;
    }
    strips.m_HasSecond ? WriteAll<StripsOfStride1<Scale, Parts, 2>, false>(strips)
                       : WriteAll<StripsOfStride1<Scale, Parts, 1>, true>(strips);
}

template <typename Scale>
void WriteStripsOf(const DepthwiseStrips8& strips)
{
    strips.m_Parts == 1   ? WriteStripsOf<Scale, 1>(strips)
    : strips.m_Parts == 2 ? WriteStripsOf<Scale, 2>(strips)
                          : WriteStripsOf<Scale, 4>(strips);
}

/// See DepthwiseEngine8::m_WriteStrips.
void WriteStrips(const DepthwiseStrips8& strips)
{
    strips.m_IsPositive ? WriteStripsOf<PlainScale>(strips) : WriteStripsOf<OffsetScale>(strips);
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
