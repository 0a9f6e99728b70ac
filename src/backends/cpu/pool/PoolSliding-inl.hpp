// SPDX-License-Identifier: Apache-2.0
// Overlapping windows of one row, for PoolVectors.cpp. Each column of the image is combined over the window's rows once
// and stays in registers for all windows that see it:
//     registers [c0 c1 c2] -> window 0, shift by the stride, load c3 -> [c1 c2 c3] -> window 1
// Included after simd/Foreach.hpp, once for each target.
#if defined(TENON_POOL_SLIDING_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_POOL_SLIDING_INL
#undef TENON_POOL_SLIDING_INL
#else
#define TENON_POOL_SLIDING_INL
#endif

#include "backends/cpu/pool/PoolOperations-inl.hpp"
#include "backends/cpu/pool/PoolVectors.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

/// Computes `Vectors` vectors of channels of all windows of a row. A window has `Size` columns and `Size` rows; `rows`:
/// the addresses of the rows, from the first column on.
template <class Pool, size_t Size, size_t Stride, size_t Vectors, class D>
HWY_INLINE void SlideVectors(D d, const typename Pool::Data* const* rows, size_t channel, const PoolRow& row,
                             const PooledWindow& window, size_t windows, typename Pool::Data* out)
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
                columns[i][v] = Pool::First(d, window);
                HWY_UNROLL(5)
                for (size_t r = 0; r < Size; ++r)
                {
                    columns[i][v] = Pool::Step(d, columns[i][v], rows[r] + offset + v * Lanes);
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
            auto all = columns[0][v];
            HWY_UNROLL(5)
            for (size_t i = 1; i < Size; ++i)
            {
                all = Pool::Join(all, columns[i][v]);
            }
            Pool::Finish(d, all, window, out + channel + v * Lanes);
            HWY_UNROLL(5)
            for (size_t i = 0; i + Stride < Size; ++i)
            {
                columns[i][v] = columns[i + Stride][v];
            }
        }
    }
}

using SlideFunction = void (*)(const PoolRow& row, const PooledWindow& window);

/// Computes the windows of m_Uniform (see PoolRow), which have `Size` columns and as many rows, or fewer if the
/// operation may count a row twice (IsMax). `window`: the values that all of them share.
template <class Pool, size_t Size, size_t Stride>
void SlideWindows(const PoolRow& row, const PooledWindow& window)
{
    using T = typename Pool::Data;
    using Lane = typename Pool::Lane;
    // The pixels of a block of windows stay in the cache for all of their channels.
    constexpr size_t BlockBytes = 16 * 1024;
    constexpr size_t MinWindows = 8;
    const size_t windowBytes = Size * Stride * row.m_PixelStride * sizeof(T);
    const size_t block = std::max(MinWindows, BlockBytes / windowBytes);
    for (size_t first = row.m_Uniform.m_Begin; first < row.m_Uniform.m_End; first += block)
    {
        const size_t windows = std::min(block, row.m_Uniform.m_End - first);
        const T* rows[Size];
        for (size_t r = 0; r < Size; ++r)
        {
            rows[r] = static_cast<const T*>(row.m_In) + std::min(r, row.m_Y.m_Count - 1) * row.m_RowStride +
                      row.m_X[first].m_First * row.m_PixelStride;
        }
        T* out = static_cast<T*>(row.m_Out) + first * row.m_OutPixelStride;
        // Two vectors at a time if there are enough channels: with AVX2, two vectors of 8-bit elements are a cache
        // line.
        constexpr size_t Lanes = HWY_LANES(Lane);
        size_t c = 0;
        for (; c + 2 * Lanes <= row.m_Channels; c += 2 * Lanes)
        {
            SlideVectors<Pool, Size, Stride, 2>(hn::CappedTag<Lane, Lanes>(), rows, c, row, window, windows, out);
        }
        Cover<Lane>(row.m_Channels - c, [&](auto d, size_t i) HWY_ATTR
                    { SlideVectors<Pool, Size, Stride, 1>(d, rows, c + i, row, window, windows, out); });
    }
}

/// Null if pixels are too large: pixels far apart share few sets of the cache, and the pixels of a sweep along the
/// channels evict each other. Larger windows gain more.
template <class Pool, size_t Size, size_t Stride>
SlideFunction SlideNearPixels(const PoolRow& row)
{
    constexpr size_t MaxPixelBytes = Stride > 1 ? 256 : Size > 3 ? 2048 : 1024;
    return row.m_PixelStride * sizeof(typename Pool::Data) <= MaxPixelBytes ? SlideWindows<Pool, Size, Stride>
                                                                            : nullptr;
}

/// The sliding function of the windows of a row, or null. The choice must not depend on the number of windows of a
/// task, as sliding adds in another order.
template <class Pool>
SlideFunction ChooseSlide(const PoolRow& row)
{
    if (row.m_Uniform.m_Begin == row.m_Uniform.m_End || row.m_Y.m_Count == 0)
    {
        return nullptr;
    }
    const PoolSpan& x = row.m_X[row.m_Uniform.m_Begin];
    const size_t stride = row.m_UniformStride;
    const size_t columns = x.m_Count;
    const bool isWhole = row.m_Y.m_Count == columns && row.m_Y.m_Divisor == columns && x.m_Divisor == columns;
    if (!isWhole && !(Pool::IsMax && row.m_Y.m_Count < columns))
    {
        return nullptr;
    }
    return columns == 3 && stride == 1   ? SlideNearPixels<Pool, 3, 1>(row)
           : columns == 3 && stride == 2 ? SlideNearPixels<Pool, 3, 2>(row)
           : columns == 2 && stride == 1 ? SlideNearPixels<Pool, 2, 1>(row)
           : columns == 2 && stride == 2 ? SlideNearPixels<Pool, 2, 2>(row)
           : columns == 5 && stride == 1 ? SlideNearPixels<Pool, 5, 1>(row)
                                         : nullptr;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
