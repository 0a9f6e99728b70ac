// SPDX-License-Identifier: Apache-2.0
// Row strips of int8: from the image to int8 without memory in between, for windows of three columns and up to four
// rows (RowStripsInt8).
//
//   out[p][c] = requantize(bias[c] + sum over rows i, columns j of image[i][p * stride + j][c] * w[i][j][c])
//
// The algorithm is a sliding window: each image column is loaded and interleaved once, and added to the accumulators of
// all windows that it is in. Stride 1, of which windows overlap by two columns; w0, w1, w2 are the window's columns:
//
//   column:    x     x+1   x+2          out    = first  + w2 * column
//   window p   w0    w1    w2           first  = second + w1 * column
//   window p+1       w0    w1           second = bias   + w0 * column
//
// SlidingWindowStride1 and SlidingWindowStride2 are the algorithm. An instruction set is a class with the operations on
// one column:
//   RowStripAvx512Int8  vpdpbusd: four rows are one dot product; 64 channels of one row strip, 32 of two or 16 of four,
//                       one row strip in each 512, 256 or 128 bits
//   RowStripAvx2Int8    pmaddwd: two pairs of rows, widened to int16; 16 channels of one row strip
// RowStripDriverInt8 calls the microkernel for each block of channels.
#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/depthwise/int8/RowStripsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"
//
#include "backends/cpu/depthwise/int8/RowStripAvx2Int8-inl.hpp"
#include "backends/cpu/depthwise/int8/RowStripAvx512Int8-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// Stride 1, for `OutputRows` output rows: windows overlap by two columns.
template <typename Isa, size_t OutputRows>
class SlidingWindowStride1
{
public:
    explicit HWY_INLINE SlidingWindowStride1(const RowStripsInt8& strips) : m_Strips(&strips), m_Isa(strips)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            HWY_UNROLL(2)
            for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
            {
                m_First[v][outputRow] = m_Isa.GetBias(v);
                m_Second[v][outputRow] = m_Isa.GetBias(v);
            }
        }
        SkipWindow(); // the two windows before the first one are not written
        SkipWindow();
    }

    HWY_INLINE void WriteRow()
    {
        size_t left = m_Strips->m_Pixels;
        if constexpr (OutputRows == 1 && Isa::TakesPixelPairs)
        {
            for (; left >= 2; left -= 2)
            {
                WriteTwo();
            }
        }
        for (; left > 0; --left)
        {
            WriteOne();
        }
    }

private:
    using Accumulators = typename Isa::Accumulators;
    using Column = typename Isa::Column;

    HWY_INLINE void SkipWindow()
    {
        Column data;
        m_Isa.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            const Accumulators bias = m_Isa.GetBias(v);
            HWY_UNROLL(2)
            for (size_t outputRow = 0; outputRow < OutputRows; ++outputRow)
            {
                SumNext(data, v, bias, outputRow);
            }
        }
    }

    /// Returns the sums of the window that ends with this column, and adds the column to the two windows after it.
    HWY_INLINE Accumulators SumNext(const Column& data, size_t v, const Accumulators& bias, size_t outputRow)
    {
        Accumulators sums = m_First[v][outputRow];
        m_Isa.Add(sums, data, v, 2, outputRow);
        m_First[v][outputRow] = m_Second[v][outputRow];
        m_Isa.Add(m_First[v][outputRow], data, v, 1, outputRow);
        m_Second[v][outputRow] = bias;
        m_Isa.Add(m_Second[v][outputRow], data, v, 0, outputRow);
        return sums;
    }

    /// Computes a pixel of each output row.
    HWY_INLINE void WriteOne()
    {
        Column data;
        Accumulators x[Isa::Vectors];
        Accumulators y[Isa::Vectors];
        m_Isa.Next(data);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            const Accumulators bias = m_Isa.GetBias(v);
            x[v] = SumNext(data, v, bias, 0);
            if constexpr (OutputRows == 2)
            {
                y[v] = SumNext(data, v, bias, 1);
                m_Isa.ScaleSums(x[v], y[v], v);
            }
            else
            {
                m_Isa.ScaleSums(x[v], v);
            }
        }
        if constexpr (OutputRows == 2)
        {
            m_Isa.Store(y, m_Strips->m_Second, m_At, x, m_Strips->m_Out, m_At);
        }
        else
        {
            m_Isa.Store(x, m_Strips->m_Out, m_At);
        }
        m_At += m_Strips->m_OutStride;
    }

    /// Computes two pixels of the one output row, whose constants are loaded once for both.
    HWY_INLINE void WriteTwo()
    {
        Column left;
        Column right;
        Accumulators x[Isa::Vectors];
        Accumulators y[Isa::Vectors];
        m_Isa.Next(left);
        m_Isa.Next(right);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            const Accumulators w2 = m_Isa.LoadWeights(2, v);
            const Accumulators w1 = m_Isa.LoadWeights(1, v);
            const Accumulators w0 = m_Isa.LoadWeights(0, v);
            const Accumulators bias = m_Isa.GetBias(v);
            x[v] = m_First[v][0];
            m_Isa.Add(x[v], left, v, w2);
            y[v] = m_Second[v][0];
            m_Isa.Add(y[v], left, v, w1);
            m_Isa.Add(y[v], right, v, w2);
            m_First[v][0] = bias;
            m_Isa.Add(m_First[v][0], left, v, w0);
            m_Isa.Add(m_First[v][0], right, v, w1);
            m_Second[v][0] = bias;
            m_Isa.Add(m_Second[v][0], right, v, w0);
            m_Isa.ScaleSums(x[v], y[v], v);
        }
        m_Isa.Store(x, m_Strips->m_Out, m_At, y, m_Strips->m_Out, m_At + m_Strips->m_OutStride);
        m_At += 2 * m_Strips->m_OutStride;
    }

    const RowStripsInt8* m_Strips;
    Isa m_Isa;
    Accumulators m_First[Isa::Vectors][OutputRows];  ///< sums of the window whose last column is next
    Accumulators m_Second[Isa::Vectors][OutputRows]; ///< sums of the window after it
    size_t m_At = 0;                                 ///< bytes from the first output pixel to the next one
};

/// Stride 2: windows of up to three rows overlap by one column.
template <typename Isa>
class SlidingWindowStride2
{
public:
    explicit HWY_INLINE SlidingWindowStride2(const RowStripsInt8& strips) : m_Strips(&strips), m_Isa(strips)
    {
        Column left;
        m_Isa.Next(left);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            m_First[v] = m_Isa.GetBias(v);
            m_Isa.AddLeft(m_First[v], left, left, v);
        }
    }

    HWY_INLINE void WriteRow()
    {
        size_t left = m_Strips->m_Pixels;
        for (; left >= 2; left -= 2)
        {
            WriteTwo();
        }
        if (left > 0)
        {
            WriteOne();
        }
    }

private:
    using Accumulators = typename Isa::Accumulators;
    using Column = typename Isa::Column;

    HWY_INLINE void SumNext(Accumulators (&x)[Isa::Vectors])
    {
        Column middle;
        m_Isa.Next(middle);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            x[v] = m_First[v];
            m_Isa.AddMiddle(x[v], middle, v);
        }
        Column right;
        m_Isa.Next(right);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            m_Isa.AddRight(x[v], middle, right, v);
            m_First[v] = m_Isa.GetBias(v);
            m_Isa.AddLeft(m_First[v], middle, right, v);
        }
    }

    HWY_INLINE void WriteTwo()
    {
        Accumulators x[Isa::Vectors];
        Accumulators y[Isa::Vectors];
        SumNext(x);
        SumNext(y);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            m_Isa.ScaleSums(x[v], y[v], v);
        }
        m_Isa.Store(x, m_Strips->m_Out, m_At, y, m_Strips->m_Out, m_At + m_Strips->m_OutStride);
        m_At += 2 * m_Strips->m_OutStride;
    }

    HWY_INLINE void WriteOne()
    {
        Accumulators x[Isa::Vectors];
        SumNext(x);
        HWY_UNROLL(4)
        for (size_t v = 0; v < Isa::Vectors; ++v)
        {
            m_Isa.ScaleSums(x[v], v);
        }
        m_Isa.Store(x, m_Strips->m_Out, m_At);
    }

    const RowStripsInt8* m_Strips;
    Isa m_Isa;
    Accumulators m_First[Isa::Vectors]; ///< sums of the next window, which overlaps in one column
    size_t m_At = 0;                    ///< bytes from the first output pixel to the next one
};

/// A function of its own for each kind of window, so that each has all registers.
template <typename Window>
HWY_NOINLINE void WriteRow(const RowStripsInt8& strips)
{
    Window(strips).WriteRow();
}

template <typename Isa>
void RunStride1(const RowStripsInt8& strips)
{
    strips.m_HasSecond ? WriteRow<SlidingWindowStride1<Isa, 2>>(strips)
                       : WriteRow<SlidingWindowStride1<Isa, 1>>(strips);
}

#endif

#if HWY_TARGET == HWY_AVX3

template <typename Scale, size_t StripCount>
void RunStrips(const RowStripsInt8& strips)
{
    if (strips.m_Stride == 1)
    {
        RunStride1<RowStripAvx512Int8<Scale, StripCount, 4>>(strips);
        return;
    }
    // Windows of stride 2 read four times as many pixels as they write: each signedness has a loop of its own.
    strips.m_IsSigned ? WriteRow<SlidingWindowStride2<RowStripAvx512Int8<Scale, StripCount, 3, true>>>(strips)
                      : WriteRow<SlidingWindowStride2<RowStripAvx512Int8<Scale, StripCount, 3, false>>>(strips);
}

template <typename Scale>
void RunStripsOf(const RowStripsInt8& strips)
{
    strips.m_StripCount == 1   ? RunStrips<Scale, 1>(strips)
    : strips.m_StripCount == 2 ? RunStrips<Scale, 2>(strips)
                               : RunStrips<Scale, 4>(strips);
}

/// See DepthwiseMicrokernelsInt8::m_RunRowStrips.
void RunRowStrips(const RowStripsInt8& strips)
{
    switch (strips.m_Scale)
    {
    case ScaleInt8::Any: return RunStripsOf<OffsetScale>(strips);
    case ScaleInt8::Positive: return RunStripsOf<PlainScale>(strips);
    case ScaleInt8::Float: return RunStripsOf<FloatScale>(strips);
    }
}

#elif HWY_TARGET == HWY_AVX2

template <typename T, typename Scale>
void RunStrips(const RowStripsInt8& strips)
{
    strips.m_Stride == 1 ? RunStride1<RowStripAvx2Int8<T, Scale, 4>>(strips)
                         : WriteRow<SlidingWindowStride2<RowStripAvx2Int8<T, Scale, 3>>>(strips);
}

template <typename T>
void RunStripsOf(const RowStripsInt8& strips)
{
    switch (strips.m_Scale)
    {
    case ScaleInt8::Any: return RunStrips<T, AnyScale>(strips);
    case ScaleInt8::Positive: return RunStrips<T, PositiveScale>(strips);
    case ScaleInt8::Float: return RunStrips<T, FloatScale>(strips);
    }
}

/// See DepthwiseMicrokernelsInt8::m_RunRowStrips.
void RunRowStrips(const RowStripsInt8& strips)
{
    strips.m_IsSigned ? RunStripsOf<int8_t>(strips) : RunStripsOf<uint8_t>(strips);
}

#endif

/// See UseRowStrips.
void SetRowStrips([[maybe_unused]] DepthwiseMicrokernelsInt8& kernels)
{
#if HWY_TARGET == HWY_AVX3
    if (GetCpuFeatures().m_Avx512Vnni)
    {
        kernels.m_RunRowStrips = RunRowStrips;
        kernels.m_MaxStripBlockChannels =
            DepthwiseMicrokernelsInt8::MaxChunks * DepthwiseMicrokernelsInt8::ChunkChannels;
        kernels.m_MaxStripCount = RowStripsInt8::MaxStripCount;
        kernels.m_StripRowGroups = 1;
        kernels.m_StripRequantizationBytes = sizeof(PreparedRequantizationInt8);
        kernels.m_PrepareStripRequantization = PrepareStripRequantization;
    }
#elif HWY_TARGET == HWY_AVX2
    if (!GetCpuFeatures().m_AvxVnni)
    {
        kernels.m_RunRowStrips = RunRowStrips;
        kernels.m_MaxStripBlockChannels = DepthwiseMicrokernelsInt8::ChunkChannels;
        kernels.m_MaxStripCount = 1;
        kernels.m_StripRowGroups = StripRowPairs;
        kernels.m_StripRequantizationBytes = sizeof(StripRequantizationAvx2);
        kernels.m_PrepareStripRequantization = PrepareStripRequantization;
    }
#endif
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

void UseRowStrips(DepthwiseMicrokernelsInt8& kernels)
{
    TENON_CHOOSE(SetRowStrips)(kernels);
}

} // namespace tenon::cpu
#endif
