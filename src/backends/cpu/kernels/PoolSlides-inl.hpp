// SPDX-License-Identifier: Apache-2.0
// Largest integers of windows that overlap, for PoolVectors.cpp: those of each column of the image are found once and
// kept in registers for the windows that see it. (Of zeros of floats the first one counts, in the order of rows.)
// Included after simd/Foreach.hpp, once for each target.
#if defined(TENON_POOL_SLIDES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_POOL_SLIDES_INL
#undef TENON_POOL_SLIDES_INL
#else
#define TENON_POOL_SLIDES_INL
#endif

#include "backends/cpu/kernels/PoolVectors.hpp"
#include "backends/cpu/simd/Spans-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// `Vectors` vectors of channels of all windows of a row, which have `Size` columns each. `rows`: as many rows, from
/// the first column on.
template <size_t Size, size_t Stride, size_t Vectors, class D, typename T>
HWY_INLINE void SlideVectors(D d, const T* const* rows, size_t channel, const PoolRow& row, size_t windows, T* out)
{
    constexpr size_t Lanes = hn::MaxLanes(D());
    const size_t pixel = row.m_PixelStride;
    size_t offset = channel;
    hn::Vec<D> columns[Size][Vectors];
    const auto findColumns = [&](size_t begin, size_t end) HWY_ATTR
    {
        HWY_UNROLL(5)
        for (size_t i = begin; i < end; ++i, offset += pixel)
        {
            HWY_UNROLL(2)
            for (size_t v = 0; v < Vectors; ++v)
            {
                columns[i][v] = hn::LoadU(d, rows[0] + offset + v * Lanes);
                HWY_UNROLL(5)
                for (size_t r = 1; r < Size; ++r)
                {
                    columns[i][v] = hn::Max(columns[i][v], hn::LoadU(d, rows[r] + offset + v * Lanes));
                }
            }
        }
    };
    findColumns(0, Size - Stride);
    for (size_t w = 0; w < windows; ++w, out += row.m_OutPixelStride)
    {
        findColumns(Size - Stride, Size);
        HWY_UNROLL(2)
        for (size_t v = 0; v < Vectors; ++v)
        {
            auto most = columns[0][v];
            HWY_UNROLL(5)
            for (size_t i = 1; i < Size; ++i)
            {
                most = hn::Max(most, columns[i][v]);
            }
            hn::StoreU(most, d, out + channel + v * Lanes);
            HWY_UNROLL(5)
            for (size_t i = 0; i + Stride < Size; ++i)
            {
                columns[i][v] = columns[i + Stride][v];
            }
        }
    }
}

/// The even windows of a row, see PoolRow, of `Size` columns and not more rows.
template <typename T, size_t Size, size_t Stride>
void SlideWindows(const PoolRow& row)
{
    // The pixels that some windows see stay in the cache for all of their channels.
    constexpr size_t PartBytes = 16 * 1024;
    constexpr size_t LeastWindows = 8;
    const size_t windowBytes = Size * Stride * row.m_PixelStride * sizeof(T);
    const size_t part = std::max(LeastWindows, PartBytes / windowBytes);
    for (size_t first = row.m_Even.m_Begin; first < row.m_Even.m_End; first += part)
    {
        const size_t windows = std::min(part, row.m_Even.m_End - first);
        const T* rows[Size];
        for (size_t r = 0; r < Size; ++r)
        {
            // A row that is there twice changes nothing.
            rows[r] = static_cast<const T*>(row.m_In) + std::min(r, row.m_Y.m_Count - 1) * row.m_RowStride +
                      row.m_X[first].m_First * row.m_PixelStride;
        }
        T* out = static_cast<T*>(row.m_Out) + first * row.m_OutPixelStride;
        // Two vectors where there are as many, which are whole lines with AVX2.
        constexpr size_t Lanes = HWY_LANES(T);
        size_t c = 0;
        for (; c + 2 * Lanes <= row.m_Channels; c += 2 * Lanes)
        {
            SlideVectors<Size, Stride, 2>(hn::CappedTag<T, Lanes>(), rows, c, row, windows, out);
        }
        Cover<T>(row.m_Channels - c,
                 [&](auto d, size_t i) HWY_ATTR { SlideVectors<Size, Stride, 1>(d, rows, c + i, row, windows, out); });
    }
}

/// Null where its pixels are too large: those far from each other share few places in the cache, which the many that
/// channels go along evict from each other. Larger windows gain more.
template <typename T, size_t Size, size_t Stride>
PoolFunction SlideNearPixels(const PoolRow& row)
{
    constexpr size_t MostBytes = Stride > 1 ? 256 : Size > 3 ? 2048 : 1024;
    return row.m_PixelStride * sizeof(T) <= MostBytes ? SlideWindows<T, Size, Stride> : PoolFunction();
}

/// Null where there is none for the windows of the row.
template <typename T>
PoolFunction ChooseSlide(const PoolRow& row)
{
    if (row.m_Even.m_End - row.m_Even.m_Begin < 2 || row.m_Y.m_Count == 0)
    {
        return nullptr;
    }
    const PoolSpan* const x = row.m_X + row.m_Even.m_Begin;
    const size_t columns = x[0].m_Count;
    const size_t stride = x[1].m_First - x[0].m_First;
    if (row.m_Y.m_Count > columns)
    {
        return nullptr;
    }
    return columns == 3 && stride == 1   ? SlideNearPixels<T, 3, 1>(row)
           : columns == 3 && stride == 2 ? SlideNearPixels<T, 3, 2>(row)
           : columns == 2 && stride == 1 ? SlideNearPixels<T, 2, 1>(row)
           : columns == 2 && stride == 2 ? SlideNearPixels<T, 2, 2>(row)
           : columns == 5 && stride == 1 ? SlideNearPixels<T, 5, 1>(row)
                                         : nullptr;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
