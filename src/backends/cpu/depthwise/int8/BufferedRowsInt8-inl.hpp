// SPDX-License-Identifier: Apache-2.0
// Buffered rows of int8 to int32 sums, every instruction set: a sliding window of three columns, whose weights stay in
// registers, so that each interleaved column is loaded once (see the drawing in ../README.md). Also FindColumnStep,
// which tells whether the taps of a run are such windows.
#if defined(TENON_CPU_BUFFERED_ROWS_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_BUFFERED_ROWS_INT8_INL
#undef TENON_CPU_BUFFERED_ROWS_INT8_INL
#else
#define TENON_CPU_BUFFERED_ROWS_INT8_INL
#endif

#include "backends/cpu/depthwise/int8/DepthwiseMicrokernelsInt8.hpp"
#include "backends/cpu/gemm/kernels/DotProducts-inl.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Columns of a window.
constexpr size_t SlidingWindowColumns = 3;

/// Adds an image column, all its row groups, to the sums of the window in which it is column `Column`.
template <typename Dot, size_t Column, size_t RowGroups, size_t Weights>
HWY_INLINE void AddColumn(Vector& sums, const Vector (&data)[RowGroups], const Vector (&weights)[Weights])
{
    HWY_UNROLL(2)
    for (size_t w = 0; w < Weights / SlidingWindowColumns; ++w)
    {
        Dot::Add(sums, data[w % RowGroups], weights[w * SlidingWindowColumns + Column]);
    }
}

/// Every m_Step-th pixel of a run from m_First on: the pixels whose windows share columns.
struct SlidingPixels
{
    size_t m_ColumnStep = 0; ///< int32 from a column of the window to the next
    size_t m_First = 0;      ///< first pixel, in the run
    size_t m_Step = 1;       ///< from one pixel to the next
    size_t m_Count = 0;
};

/// A sliding window over one vector of channels at a time: its weights stay in registers, and each column is loaded
/// once for all windows that it is in. `Stride`: columns from a window to the next. `WeightTerms`: int8 terms of a
/// weight.
template <typename Dot, size_t RowGroups, size_t WeightTerms, size_t Vectors, size_t Stride>
void SlidingSums(const BufferedRunInt8& run, const SlidingPixels& pixels)
{
    const Ints d;
    const size_t lanes = hn::Lanes(d);
    const size_t sumStep = pixels.m_Step * Vectors * lanes;
    for (size_t v = 0; v < Vectors; ++v)
    {
        Vector weights[WeightTerms * RowGroups * SlidingWindowColumns];
        HWY_UNROLL(6)
        for (size_t tap = 0; tap < WeightTerms * RowGroups * SlidingWindowColumns; ++tap)
        {
            weights[tap] = hn::Load(d, static_cast<const int32_t*>(run.m_Weights) + (tap * Vectors + v) * lanes);
        }
        const Vector bias = hn::Load(d, run.m_Bias + v * lanes);
        const std::byte* const columns = run.m_Columns + pixels.m_First * run.m_PixelStep;
        const int32_t* groups[RowGroups];
        HWY_UNROLL(2)
        for (size_t g = 0; g < RowGroups; ++g)
        {
            groups[g] = reinterpret_cast<const int32_t*>(columns + run.m_Offsets[g * SlidingWindowColumns]) + v * lanes;
        }
        const auto next = [&](Vector(&data)[RowGroups]) HWY_ATTR
        {
            HWY_UNROLL(2)
            for (size_t g = 0; g < RowGroups; ++g)
            {
                data[g] = hn::Load(d, groups[g]);
                groups[g] += pixels.m_ColumnStep;
            }
        };
        int32_t* sums = run.m_Sums + (pixels.m_First * Vectors + v) * lanes;
        Vector data[RowGroups];
        next(data);
        Vector first = bias; // sums of the window whose last column is next
        AddColumn<Dot, 0>(first, data, weights);
        if constexpr (Stride == 1)
        {
            next(data);
            AddColumn<Dot, 1>(first, data, weights);
            Vector second = bias;
            AddColumn<Dot, 0>(second, data, weights);
            for (size_t i = 0; i < pixels.m_Count; ++i, sums += sumStep)
            {
                next(data);
                AddColumn<Dot, 2>(first, data, weights);
                hn::Store(first, d, sums);
                AddColumn<Dot, 1>(second, data, weights);
                first = second;
                second = bias;
                AddColumn<Dot, 0>(second, data, weights);
            }
        }
        else
        {
            for (size_t i = 0; i < pixels.m_Count; ++i, sums += sumStep)
            {
                next(data);
                AddColumn<Dot, 1>(first, data, weights);
                next(data);
                AddColumn<Dot, 2>(first, data, weights);
                hn::Store(first, d, sums);
                first = bias;
                AddColumn<Dot, 0>(first, data, weights);
            }
        }
    }
}

/// Bytes from a column of a window of `Columns` columns to the next; 0: the run has other windows.
template <size_t RowGroups, size_t WeightTerms, size_t Columns>
size_t FindColumnStep(const BufferedRunInt8& run)
{
    constexpr size_t WindowTaps = RowGroups * Columns;
    if (run.m_Taps != WeightTerms * WindowTaps)
    {
        return 0;
    }
    const size_t step = run.m_Offsets[1] - run.m_Offsets[0];
    for (size_t tap = 1; tap < run.m_Taps; ++tap)
    {
        const bool isNext = tap % Columns == 0 || run.m_Offsets[tap] - run.m_Offsets[tap - 1] == step;
        if (!isNext || run.m_Offsets[tap] != run.m_Offsets[tap % WindowTaps])
        {
            return 0;
        }
    }
    return step;
}

/// Computes all pixels of the run if its windows have three columns and share them. Otherwise returns false.
template <typename Dot, size_t RowGroups, size_t WeightTerms, size_t Vectors>
bool SumTermsBySliding(const BufferedRunInt8& run)
{
    const size_t column = FindColumnStep<RowGroups, WeightTerms, SlidingWindowColumns>(run);
    if (column == 0)
    {
        return false;
    }
    SlidingPixels pixels;
    pixels.m_ColumnStep = column / sizeof(int32_t);
    if (run.m_PixelStep == 2 * column)
    {
        pixels.m_Count = run.m_Pixels;
        SlidingSums<Dot, RowGroups, WeightTerms, Vectors, 2>(run, pixels);
        return true;
    }
    // With a dilation, every dilation-th pixel shares columns.
    const size_t step = column / run.m_PixelStep;
    if (step * run.m_PixelStep != column || 2 * step > run.m_Pixels)
    {
        return false;
    }
    pixels.m_Step = step;
    for (; pixels.m_First < step; ++pixels.m_First)
    {
        pixels.m_Count = DivideUp(run.m_Pixels - pixels.m_First, step);
        SlidingSums<Dot, RowGroups, WeightTerms, Vectors, 1>(run, pixels);
    }
    return true;
}

/// The same for each number of row groups (one or two pairs of rows, or one group of four rows) and of weight terms
/// (one or two).
template <typename Dot, size_t Vectors>
bool SumBySliding(const BufferedRunInt8& run)
{
    if constexpr (std::is_same_v<Dot, Int16x2>)
    {
        return SumTermsBySliding<Dot, 2, 1, Vectors>(run);
    }
    else
    {
        return SumTermsBySliding<Dot, 1, 1, Vectors>(run) || SumTermsBySliding<Dot, 1, 2, Vectors>(run);
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
