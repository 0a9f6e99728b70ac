// SPDX-License-Identifier: Apache-2.0
// The SIMD loops of PoolVectors.hpp: overlapping windows of one row (SlideWindows), and windows one by one
// (PoolWindows).
#include "backends/cpu/pool/PoolVectors.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <tenon/Types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/PoolVectors.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/pool/PoolOperations-inl.hpp"
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

// Overlapping windows of one row. Each column of the image is combined over the window's rows once and stays in
// registers for all windows that see it:
//     registers [c0 c1 c2] -> window 0, shift by the stride, load c3 -> [c1 c2 c3] -> window 1

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

namespace
{

/// PoolVectors for windows of more floats than one sum takes; `row` is the first pixel. Not inlined: its sums are
/// spilled to memory now and then, and those of PoolVectors should stay in registers.
template <typename Pool, size_t Vectors, class D>
HWY_NOINLINE void PoolLongWindow(D d, const PooledWindow& window, const typename Pool::Data* row,
                                 typename Pool::Data* out)
{
    constexpr size_t Lanes = hn::MaxLanes(D());
    BlockTotalsF32<Vectors, D> totals;
    hn::Vec<D> sums[Vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        sums[v] = Pool::First(d, window);
    }
    size_t left = SumBlock;
    for (size_t y = 0; y < window.m_Rows; ++y, row += window.m_RowStride)
    {
        const auto* pixel = row;
        for (size_t x = 0; x < window.m_Columns;)
        {
            const size_t end = x + std::min(left, window.m_Columns - x);
            left -= end - x;
            for (; x < end; ++x, pixel += window.m_PixelStride)
            {
                HWY_UNROLL(8)
                for (size_t v = 0; v < Vectors; ++v)
                {
                    sums[v] = Pool::Step(d, sums[v], pixel + v * Lanes);
                }
            }
            if (left == 0)
            {
                totals.Take(d, sums);
                left = SumBlock;
            }
        }
    }
    totals.Take(d, sums);
    totals.Give(d, sums);
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        Pool::Finish(d, sums[v], window, out + v * Lanes);
    }
}

/// Computes `Vectors` vectors of channels from channel c on.
template <typename Pool, size_t Vectors, class D>
HWY_INLINE void PoolVectors(D d, const PooledWindow& window, size_t c, typename Pool::Data* out)
{
    using T = typename Pool::Data;
    constexpr size_t Lanes = hn::MaxLanes(D());
    const T* row = static_cast<const T*>(window.m_First) + c;
    if constexpr (std::is_same_v<typename Pool::Lane, float> && std::is_base_of_v<SumPool, Pool>)
    {
        if (HWY_UNLIKELY(window.m_Rows * window.m_Columns > SumBlock))
        {
            PoolLongWindow<Pool, Vectors>(d, window, row, out + c);
            return;
        }
    }
    hn::Vec<D> acc[Vectors];
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        acc[v] = Pool::First(d, window);
    }
    for (size_t y = 0; y < window.m_Rows; ++y, row += window.m_RowStride)
    {
        const T* pixel = row;
        for (size_t x = 0; x < window.m_Columns; ++x, pixel += window.m_PixelStride)
        {
            HWY_UNROLL(8)
            for (size_t v = 0; v < Vectors; ++v)
            {
                acc[v] = Pool::Step(d, acc[v], pixel + v * Lanes);
            }
        }
    }
    HWY_UNROLL(8)
    for (size_t v = 0; v < Vectors; ++v)
    {
        Pool::Finish(d, acc[v], window, out + c + v * Lanes);
    }
}

template <typename Pool>
HWY_INLINE void PoolWindow(const PooledWindow& window, size_t channels, typename Pool::Data* out)
{
    using Lane = typename Pool::Lane;
    constexpr size_t Lanes = HWY_LANES(Lane);
    size_t c = 0;
    if constexpr (std::is_same_v<Pool, MeanPoolF32<false>>)
    {
        // Windows of whole images wait for memory, which is read faster in longer segments.
        for (; c + 8 * Lanes <= channels; c += 8 * Lanes)
        {
            PoolVectors<Pool, 8>(hn::CappedTag<Lane, Lanes>(), window, c, out);
        }
    }
    for (; c + 4 * Lanes <= channels; c += 4 * Lanes)
    {
        PoolVectors<Pool, 4>(hn::CappedTag<Lane, Lanes>(), window, c, out);
    }
    if (c != channels)
    {
        Cover<Lane>(channels - c, [&](auto d, size_t i) { PoolVectors<Pool, 1>(d, window, c + i, out); });
    }
}

template <typename Pool>
void PoolWindows(const PoolRow& row)
{
    using T = typename Pool::Data;
    const T* in = static_cast<const T*>(row.m_In);
    T* out = static_cast<T*>(row.m_Out);
    PooledWindow window;
    window.m_Rows = row.m_Y.m_Count;
    window.m_RowStride = row.m_RowStride;
    window.m_PixelStride = row.m_PixelStride;
    size_t divisor = 0;
    for (size_t i = 0; i < row.m_Windows; ++i, out += row.m_OutPixelStride)
    {
        const PoolSpan x = row.m_X[i];
        window.m_Columns = x.m_Count;
        const size_t inside = window.m_Rows * window.m_Columns;
        if (inside == 0)
        {
            std::fill_n(out, row.m_Channels, static_cast<T>(row.m_Output.m_ZeroPoint)); // padding alone: real zeros
            continue;
        }
        const size_t counted = row.m_Y.m_Divisor * x.m_Divisor;
        if (counted != divisor)
        {
            divisor = counted;
            Pool::SetDivisor(row, divisor, window);
        }
        window.m_Padding = static_cast<int32_t>(counted - inside) * row.m_Input.m_ZeroPoint;
        window.m_First = in + x.m_First * row.m_PixelStride;
        PoolWindow<Pool>(window, row.m_Channels, out);
    }
}

template <typename Pool>
void PoolRowOf(const PoolRow& row)
{
    if constexpr (Pool::Slides)
    {
        const SlideFunction slide = ChooseSlide<Pool>(row);
        if (slide != nullptr)
        {
            PooledWindow window;
            Pool::SetDivisor(row, row.m_Y.m_Divisor * row.m_X[row.m_Uniform.m_Begin].m_Divisor, window);
            slide(row, window);
            PoolRow others = row;
            others.m_Windows = row.m_Uniform.m_Begin;
            PoolWindows<Pool>(others);
            others.m_X += row.m_Uniform.m_End;
            others.m_Windows = row.m_Windows - row.m_Uniform.m_End;
            others.m_Out = static_cast<typename Pool::Data*>(row.m_Out) + row.m_Uniform.m_End * row.m_OutPixelStride;
            PoolWindows<Pool>(others);
            return;
        }
    }
    PoolWindows<Pool>(row);
}

PoolFunctions MakePoolFunctions()
{
    PoolFunctions functions;
    constexpr auto Max = static_cast<size_t>(PoolingAlgorithm::Max);
    constexpr auto Average = static_cast<size_t>(PoolingAlgorithm::Average);
    constexpr auto L2 = static_cast<size_t>(PoolingAlgorithm::L2);
    static_assert(Max < 2 && Average < 2 && L2 == 2);
    functions.m_F32[Max] = PoolRowOf<MaxPool<float>>;
    functions.m_F32[Average] = PoolRowOf<MeanPoolF32<false>>;
    functions.m_F32[L2] = PoolRowOf<MeanPoolF32<true>>;
    functions.m_Bf16[Max] = PoolRowOf<MaxPool16BitFloat<0x7F80>>;
    functions.m_Bf16[Average] = PoolRowOf<MeanPoolBf16>;
    functions.m_F16[Max] = PoolRowOf<MaxPool16BitFloat<0x7C00>>;
    functions.m_Int8[Max] = PoolRowOf<MaxPool<int8_t>>;
    functions.m_Int8[Average] = PoolRowOf<MeanPoolInt8<int8_t>>;
    functions.m_Uint8[Max] = PoolRowOf<MaxPool<uint8_t>>;
    functions.m_Uint8[Average] = PoolRowOf<MeanPoolInt8<uint8_t>>;
    functions.m_Int16[Max] = PoolRowOf<MaxPool<int16_t>>;
    functions.m_Int16[Average] = PoolRowOf<MeanPoolInt16>;
    return functions;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const PoolFunctions& GetPoolFunctions()
{
    static constinit PerIsa<PoolFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakePoolFunctions)(); });
}

} // namespace tenon::cpu
#endif
