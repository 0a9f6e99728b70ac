// SPDX-License-Identifier: Apache-2.0
// Buffered rows of int8 to int8 with AVX-512 VNNI, requantized in registers.
//   three columns, one row group: the sliding window of BufferedRowsInt8-inl.hpp for all vectors of a block
//   five or seven columns, two row groups (five to eight rows): four pixels at a time, each column loaded once for all
//   of them
#if defined(TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#undef TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#else
#define TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/BufferedRowsInt8-inl.hpp"
#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

/// Stores the scaled vectors of two neighbouring pixels, or of the first one if `count` is 1.
template <size_t Vectors>
HWY_INLINE void StorePixels(const __m512i (&x)[Vectors], const __m512i (&y)[Vectors], const BufferedOutputInt8& bytes,
                            uint8_t* out, size_t count)
{
    const PreparedRequantizationInt8& columns = *bytes.m_Requantization;
    const uint64_t first = columns.m_Mask;
    const uint64_t second = count > 1 ? first : 0;
    uint8_t* const next = out + bytes.m_OutStride;
    if constexpr (Vectors == 1)
    {
        const __m512i shorts = SixteenLaneScale::Pack(x[0], y[0]);
        const __m512i packed = PackInt8<false>(shorts, shorts, columns);
        _mm_mask_storeu_epi8(out, static_cast<__mmask16>(first), _mm512_castsi512_si128(packed));
        _mm_mask_storeu_epi8(next, static_cast<__mmask16>(second), _mm512_extracti64x2_epi64(packed, 1));
    }
    else if constexpr (Vectors == 2)
    {
        const __m512i packed =
            PackInt8<false>(SixteenLaneScale::Pack(x[0], x[1]), SixteenLaneScale::Pack(y[0], y[1]), columns);
        _mm256_mask_storeu_epi8(out, static_cast<__mmask32>(first), _mm512_castsi512_si256(packed));
        _mm256_mask_storeu_epi8(next, static_cast<__mmask32>(second), _mm512_extracti64x4_epi64(packed, 1));
    }
    else
    {
        constexpr bool IsWhole = Vectors == 4;
        const __m512i none = _mm512_setzero_si512();
        const auto pack = [&](const __m512i(&v)[Vectors]) HWY_ATTR
        {
            return PackInt8<IsWhole>(SixteenLaneScale::Pack(v[0], v[1]),
                                     SixteenLaneScale::Pack(v[2], IsWhole ? v[Vectors - 1] : none), columns);
        };
        _mm512_mask_storeu_epi8(out, first, pack(x));
        _mm512_mask_storeu_epi8(next, second, pack(y));
    }
}

/// Slide of BufferedRowsInt8-inl.hpp, for all vectors of the block at once, two pixels at a time.
template <typename Dot, typename Scale, size_t WeightTerms, size_t Vectors, size_t Stride>
class SlidingWindowInt8
{
public:
    HWY_INLINE SlidingWindowInt8(const BufferedRunInt8& run, const BufferedOutputInt8& bytes, size_t columnStep)
        : m_Bytes(&bytes), m_Weights(static_cast<const int32_t*>(run.m_Weights)),
          m_Next(reinterpret_cast<const int32_t*>(run.m_Columns + run.m_Offsets[0])), m_Step(columnStep)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            if constexpr (WeightTerms == 1)
            {
                HWY_UNROLL(3)
                for (size_t column = 0; column < SlidingWindowColumns; ++column)
                {
                    m_Held[v][column] = Load(m_Weights + (column * Vectors + v) * Lanes);
                }
            }
            const Vector data = Load(m_Next + v * Lanes);
            m_First[v] = GetBias(v);
            Add<0>(v, m_First[v], data);
            if constexpr (Stride == 1)
            {
                const Vector next = Load(m_Next + m_Step + v * Lanes);
                Add<1>(v, m_First[v], next);
                m_Second[v] = GetBias(v);
                Add<0>(v, m_Second[v], next);
            }
        }
        m_Next += Stride == 1 ? 2 * m_Step : m_Step;
    }

    HWY_INLINE void WriteTwo(uint8_t* out)
    {
        __m512i x[Vectors];
        __m512i y[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Scale& scale = reinterpret_cast<const Scale*>(m_Bytes->m_Requantization->m_Scales)[v];
            x[v] = SumNext(v, m_Next + v * Lanes).raw;
            y[v] = SumNext(v, m_Next + Stride * m_Step + v * Lanes).raw;
            ScaleTwo(scale, x[v], y[v]);
        }
        m_Next += 2 * Stride * m_Step;
        StorePixels(x, y, *m_Bytes, out, 2);
    }

    HWY_INLINE void WriteLast(uint8_t* out)
    {
        __m512i x[Vectors];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const Scale& scale = reinterpret_cast<const Scale*>(m_Bytes->m_Requantization->m_Scales)[v];
            x[v] = ScaleOne(scale, SumNext(v, m_Next + v * Lanes).raw);
        }
        StorePixels(x, x, *m_Bytes, out, 1);
    }

private:
    static constexpr size_t Lanes = 16;

    static HWY_INLINE Vector Load(const int32_t* from) { return Vector{LoadOnce(from)}; }
    HWY_INLINE Vector GetBias(size_t v) const { return Load(m_Bytes->m_Requantization->m_Bias + v * Lanes); }

    template <size_t Column>
    HWY_INLINE void Add(size_t v, Vector& sums, const Vector& data) const
    {
        if constexpr (WeightTerms == 1)
        {
            Dot::Add(sums, data, m_Held[v][Column]);
        }
        else
        {
            HWY_UNROLL(2)
            for (size_t term = 0; term < WeightTerms; ++term)
            {
                Dot::Add(sums, data, Load(m_Weights + ((term * SlidingWindowColumns + Column) * Vectors + v) * Lanes));
            }
        }
    }

    /// Returns the sums of the window that ends with this column (stride 1) or with the next one (stride 2), and adds
    /// the column to the windows that follow.
    HWY_INLINE Vector SumNext(size_t v, const int32_t* columns)
    {
        Vector data = Load(columns);
        Vector sums = m_First[v];
        if constexpr (Stride == 1)
        {
            Add<2>(v, sums, data);
            m_First[v] = m_Second[v];
            Add<1>(v, m_First[v], data);
            m_Second[v] = GetBias(v);
            Add<0>(v, m_Second[v], data);
        }
        else
        {
            Add<1>(v, sums, data);
            data = Load(columns + m_Step);
            Add<2>(v, sums, data);
            m_First[v] = GetBias(v);
            Add<0>(v, m_First[v], data);
        }
        return sums;
    }

    const BufferedOutputInt8* m_Bytes;
    const int32_t* m_Weights;
    const int32_t* m_Next; ///< next column
    size_t m_Step;         ///< int32 from a column to the next
    Vector m_Held[Vectors][SlidingWindowColumns];
    Vector m_First[Vectors];  ///< sums of the window whose last column is next
    Vector m_Second[Vectors]; ///< sums of the window after it, where windows overlap by two columns
};

template <typename Dot, typename Scale, size_t WeightTerms, size_t Vectors, size_t Stride>
void SlideToInt8(const BufferedRunInt8& run, const BufferedOutputInt8& bytes, size_t columnStep)
{
    SlidingWindowInt8<Dot, Scale, WeightTerms, Vectors, Stride> slide(run, bytes, columnStep);
    uint8_t* out = bytes.m_Out;
    for (size_t left = run.m_Pixels / 2; left > 0; --left, out += 2 * bytes.m_OutStride)
    {
        slide.WriteTwo(out);
    }
    if (run.m_Pixels % 2 != 0)
    {
        slide.WriteLast(out);
    }
}

/// Calls write(stride as a constant, int32 from a column to the next) if windows are one or two columns apart. Returns
/// false for other windows (FindColumnStep).
template <size_t RowGroups, size_t WeightTerms, size_t Columns, typename F>
bool WriteByStride(const BufferedRunInt8& run, const F& write)
{
    const size_t column = FindColumnStep<RowGroups, WeightTerms, Columns>(run);
    const size_t step = column / sizeof(int32_t);
    if (column != 0 && run.m_PixelStep == column)
    {
        write(std::integral_constant<size_t, 1>(), step);
        return true;
    }
    if (column != 0 && run.m_PixelStep == 2 * column)
    {
        write(std::integral_constant<size_t, 2>(), step);
        return true;
    }
    return false;
}

template <typename Dot, typename Scale, size_t WeightTerms, size_t Vectors>
bool SlideTermsToInt8(const BufferedRunInt8& run, const BufferedOutputInt8& bytes)
{
    return WriteByStride<1, WeightTerms, SlidingWindowColumns>(
        run, [&](auto stride, size_t step)
        { SlideToInt8<Dot, Scale, WeightTerms, Vectors, decltype(stride)::value>(run, bytes, step); });
}

/// Output pixels that are computed together.
constexpr size_t BufferedWindowPixels = 4;
/// Row groups under a window: five to eight rows.
constexpr size_t WindowRowGroups = 2;

/// Windows of `Columns` columns, `Stride` columns apart, in two row groups; or other windows with as many taps at such
/// offsets. A column of the image is loaded once for all windows of the pixels that are computed together.
template <typename Dot, typename Scale, size_t Columns, size_t Stride, size_t Vectors>
class BufferedWindowsInt8
{
public:
    BufferedWindowsInt8(const BufferedRunInt8& run, const BufferedOutputInt8& bytes, size_t columnStep)
        : m_Run(&run), m_Bytes(&bytes), m_Step(columnStep)
    {
    }

    /// `pixel`: index in the run of the first of the pixels.
    HWY_INLINE void Write(size_t pixel) const
    {
        Vector sums[Vectors][BufferedWindowPixels];
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            Sum(pixel, v, sums[v]);
        }
        uint8_t* const out = m_Bytes->m_Out + pixel * m_Bytes->m_OutStride;
        HWY_UNROLL(2)
        for (size_t p = 0; p < BufferedWindowPixels; p += 2)
        {
            __m512i x[Vectors];
            __m512i y[Vectors];
            HWY_UNROLL(4)
            for (size_t v = 0; v < Vectors; ++v)
            {
                x[v] = sums[v][p].raw;
                y[v] = sums[v][p + 1].raw;
                ScaleTwo(reinterpret_cast<const Scale*>(m_Bytes->m_Requantization->m_Scales)[v], x[v], y[v]);
            }
            StorePixels(x, y, *m_Bytes, out + p * m_Bytes->m_OutStride, 2);
        }
    }

private:
    static constexpr size_t Lanes = 16;

    static HWY_INLINE Vector Load(const int32_t* from) { return Vector{LoadOnce(from)}; }

    HWY_INLINE void Sum(size_t pixel, size_t v, Vector (&sums)[BufferedWindowPixels]) const
    {
        HWY_UNROLL(4)
        for (size_t p = 0; p < BufferedWindowPixels; ++p)
        {
            sums[p] = Load(m_Bytes->m_Requantization->m_Bias + v * Lanes);
        }
        const std::byte* const columns = m_Run->m_Columns + pixel * m_Run->m_PixelStep;
        HWY_UNROLL(2)
        for (size_t group = 0; group < WindowRowGroups; ++group)
        {
            const auto* weights =
                static_cast<const int32_t*>(m_Run->m_Weights) + (group * Columns * Vectors + v) * Lanes;
            const auto* data =
                reinterpret_cast<const int32_t*>(columns + m_Run->m_Offsets[group * Columns]) + v * Lanes;
            Vector held[Columns];
            HWY_UNROLL(8)
            for (size_t column = 0; column < Columns; ++column)
            {
                held[column] = Load(weights + column * Vectors * Lanes);
            }
            HWY_UNROLL(16)
            for (size_t column = 0; column < (BufferedWindowPixels - 1) * Stride + Columns; ++column, data += m_Step)
            {
                const Vector bytes = Load(data);
                HWY_UNROLL(4)
                for (size_t p = 0; p < BufferedWindowPixels; ++p)
                {
                    if (p * Stride <= column && column < p * Stride + Columns)
                    {
                        Dot::Add(sums[p], bytes, held[column - p * Stride]);
                    }
                }
            }
        }
    }

    const BufferedRunInt8* m_Run;
    const BufferedOutputInt8* m_Bytes;
    size_t m_Step; ///< int32 from a column to the next
};

template <typename Dot, typename Scale, size_t Columns, size_t Stride, size_t Vectors>
void WriteBufferedWindows(const BufferedRunInt8& run, const BufferedOutputInt8& bytes, size_t columnStep)
{
    const BufferedWindowsInt8<Dot, Scale, Columns, Stride, Vectors> windows(run, bytes, columnStep);
    for (size_t pixel = 0; pixel < run.m_Pixels; pixel += BufferedWindowPixels)
    {
        // The last step overlaps the one before where fewer pixels are left.
        windows.Write(std::min(pixel, run.m_Pixels - BufferedWindowPixels));
    }
}

/// Returns false without effect for windows of another width, of a stride other than 1 or 2 columns, or for fewer than
/// BufferedWindowPixels pixels.
template <typename Dot, typename Scale, size_t Columns, size_t Vectors>
bool WriteBufferedWindowsOf(const BufferedRunInt8& run, const BufferedOutputInt8& bytes)
{
    return run.m_Pixels >= BufferedWindowPixels &&
           WriteByStride<WindowRowGroups, 1, Columns>(
               run, [&](auto stride, size_t step)
               { WriteBufferedWindows<Dot, Scale, Columns, decltype(stride)::value, Vectors>(run, bytes, step); });
}

#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
