// SPDX-License-Identifier: Apache-2.0
// Buffered rows of int8 to int8 with AVX-512 VNNI, windows of five or seven columns and two row groups (five to eight
// rows): four pixels at a time, each column loaded once for all of them, requantized in registers.
#if defined(TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#undef TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#else
#define TENON_CPU_BUFFERED_ROWS_AVX512_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/BufferedSlideAvx512Int8-inl.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3

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
