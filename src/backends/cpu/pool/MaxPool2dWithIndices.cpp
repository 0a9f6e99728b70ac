// SPDX-License-Identifier: Apache-2.0
// Kernel rows of MaxPool2dWithIndices and MaxUnpool2d: vectors of channels. A pool keeps the largest elements of a
// window, and their indices, in registers. Unpooling writes each tap of a window, the value or 0, if windows lie side
// by side and no index leads out of its own; CpuRef's kernel runs the rest.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/PoolWindows.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <cstddef>
#include <utility>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_MAX_POOL_2D_WITH_INDICES_TYPES
#define TENON_MAX_POOL_2D_WITH_INDICES_TYPES
namespace tenon::cpu
{

namespace
{

/// The part of a window that lies in the image.
struct PoolWindow
{
    const float* m_First = nullptr;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_RowStride = 0;  ///< elements of the image
    size_t m_FirstIndex = 0; ///< in the whole window
    size_t m_RowIndices = 0;
};

/// A row of pixels whose windows lie side by side.
struct UnpoolRow
{
    const float* m_Values = nullptr;
    const float* m_Indices = nullptr;
    float* m_Image = nullptr;
    size_t m_Pixels = 0;
    size_t m_Channels = 0;
    size_t m_PoolHeight = 0;
    size_t m_PoolWidth = 0;
};

struct IndexedPoolFunctions
{
    void (*m_PoolWindow)(const PoolWindow& window, size_t channels, float* values, float* indices) = nullptr;
    void (*m_UnpoolRow)(const UnpoolRow& row) = nullptr;
    /// Whether the whole part of each index is in [0, limit).
    bool (*m_IsEachBelow)(const float* indices, size_t count, float limit) = nullptr;
};

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/pool/MaxPool2dWithIndices.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Cover-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

void PoolOneWindow(const PoolWindow& window, size_t channels, float* values, float* indices)
{
    Cover<float>(channels,
                 [&](auto d, size_t c) HWY_ATTR
                 {
                     auto best = hn::Set(d, ref::LowestPooled);
                     auto index = hn::Set(d, ref::IndexFraction);
                     const float* row = window.m_First + c;
                     for (size_t y = 0; y < window.m_Rows; ++y, row += window.m_RowStride)
                     {
                         const size_t first = window.m_FirstIndex + y * window.m_RowIndices;
                         for (size_t x = 0; x < window.m_Columns; ++x)
                         {
                             const auto value = hn::LoadU(d, row + x * channels);
                             const auto isLarger = hn::Gt(value, best); // NaN is passed over
                             const auto place = hn::Set(d, static_cast<float>(first + x) + ref::IndexFraction);
                             best = hn::IfThenElse(isLarger, value, best);
                             index = hn::IfThenElse(isLarger, place, index);
                         }
                     }
                     hn::StoreU(best, d, values + c);
                     hn::StoreU(index, d, indices + c);
                 });
}

void UnpoolOneRow(const UnpoolRow& row)
{
    const size_t width = row.m_Pixels * row.m_PoolWidth * row.m_Channels;
    for (size_t pixel = 0; pixel < row.m_Pixels; ++pixel)
    {
        const size_t element = pixel * row.m_Channels;
        float* const window = row.m_Image + element * row.m_PoolWidth;
        Cover<float>(row.m_Channels,
                     [&](auto d, size_t c) HWY_ATTR
                     {
                         const auto value = hn::LoadU(d, row.m_Values + element + c);
                         const auto index = hn::Trunc(hn::LoadU(d, row.m_Indices + element + c));
                         float tap = 0.0f;
                         for (size_t y = 0; y < row.m_PoolHeight; ++y)
                         {
                             for (size_t x = 0; x < row.m_PoolWidth; ++x, tap += 1.0f)
                             {
                                 hn::StoreU(hn::IfThenElseZero(hn::Eq(index, hn::Set(d, tap)), value), d,
                                            window + y * width + x * row.m_Channels + c);
                             }
                         }
                     });
    }
}

bool IsEachBelow(const float* indices, size_t count, float limit)
{
    bool result = true;
    Cover<float>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const auto index = hn::LoadU(d, indices + i);
                     result = result && hn::AllTrue(d, hn::And(hn::Gt(index, hn::Set(d, -1.0f)),
                                                               hn::Lt(index, hn::Set(d, limit))));
                 });
    return result;
}

IndexedPoolFunctions MakeIndexedPoolFunctions()
{
    return {PoolOneWindow, UnpoolOneRow, IsEachBelow};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow MaxPool2dWithIndicesTypes[] = {backends::SameType({DataType::Float32})};
constexpr backends::TypeRow MaxUnpool2dTypes[] = {backends::SameType({DataType::Float32}, 2)};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const IndexedPoolFunctions& GetIndexedPoolFunctions()
{
    static constinit PerIsa<IndexedPoolFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeIndexedPoolFunctions)(); });
}

struct MaxPoolRun
{
    ref::PoolWindows m_Windows;
    const IndexedPoolFunctions* m_Functions = nullptr;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t rowTaps = m_Windows.m_X.m_Output * std::min(m_Windows.m_Y.m_Kernel, m_Windows.m_Y.m_Input) *
                               std::min(m_Windows.m_X.m_Kernel, m_Windows.m_X.m_Input);
        const size_t rowBytes = (rowTaps + 2 * m_Windows.m_X.m_Output) * m_Windows.m_Channels * sizeof(float);
        RunRanges(*run.m_Parallel, m_Windows.m_Batches * m_Windows.m_Y.m_Output, GetGrain(rowBytes),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          PoolRow(run, row);
                      }
                  });
    }

    /// `row`: of all images.
    void PoolRow(const ExecuteArgs& run, size_t row) const
    {
        const ref::WindowAxis& down = m_Windows.m_Y;
        const ref::WindowAxis& across = m_Windows.m_X;
        const int64_t top = down.Origin(row % down.m_Output);
        const size_t firstY = down.FirstTap(top);
        PoolWindow window;
        window.m_Rows = down.EndTap(top) - firstY;
        window.m_RowStride = across.m_Input * m_Windows.m_Channels;
        window.m_RowIndices = across.m_Kernel;
        size_t element = row * across.m_Output * m_Windows.m_Channels;
        for (size_t column = 0; column < across.m_Output; ++column, element += m_Windows.m_Channels)
        {
            const int64_t left = across.Origin(column);
            const size_t firstX = across.FirstTap(left);
            window.m_Columns = across.EndTap(left) - firstX;
            window.m_FirstIndex = firstY * across.m_Kernel + firstX;
            window.m_First = run.GetInput<float>(0) + m_Windows.FindPixel(row / down.m_Output,
                                                                          static_cast<size_t>(top + int64_t(firstY)),
                                                                          static_cast<size_t>(left + int64_t(firstX)));
            m_Functions->m_PoolWindow(window, m_Windows.m_Channels, run.GetOutput<float>(0) + element,
                                      run.GetOutput<float>(1) + element);
        }
    }
};

Prepared RefineMaxPool2dWithIndices(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    return MaxPoolRun{ref::PoolWindows(args.GetInput(0).GetShape(), args.GetOutput(0).GetShape(),
                                       args.GetDescriptor<MaxPool2dWithIndicesDescriptor>()),
                      &GetIndexedPoolFunctions()};
}

struct MaxUnpoolRun
{
    ref::PoolWindows m_Windows;
    backends::Executor m_Reference;
    const IndexedPoolFunctions* m_Functions = nullptr;

    void operator()(const ExecuteArgs& run) const
    {
        const size_t rowElements = m_Windows.m_X.m_Output * m_Windows.m_Channels;
        const size_t rows = m_Windows.m_Batches * m_Windows.m_Y.m_Output;
        const size_t taps = m_Windows.m_Y.m_Kernel * m_Windows.m_X.m_Kernel;
        if (!m_Functions->m_IsEachBelow(run.GetInput<float>(1), rows * rowElements, static_cast<float>(taps)))
        {
            m_Reference(run);
            return;
        }
        RunRanges(*run.m_Parallel, rows, GetGrain(rowElements * (taps + 2) * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          const size_t first = row * rowElements;
                          m_Functions->m_UnpoolRow({run.GetInput<float>(0) + first, run.GetInput<float>(1) + first,
                                                    run.GetOutput<float>(0) + first * taps, m_Windows.m_X.m_Output,
                                                    m_Windows.m_Channels, m_Windows.m_Y.m_Kernel,
                                                    m_Windows.m_X.m_Kernel});
                      }
                  });
    }
};

Prepared RefineMaxUnpool2d(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    constexpr uint32_t MaxTaps = 1U << 24; // floats have all indices up to it
    const auto& pool = args.GetDescriptor<MaxUnpool2dDescriptor>();
    if (pool.m_StrideX != pool.m_PoolWidth || pool.m_StrideY != pool.m_PoolHeight ||
        uint64_t{pool.m_PoolWidth} * pool.m_PoolHeight > MaxTaps)
    {
        return Prepared::Declined("its windows do not lie side by side, or are very large");
    }
    MaxUnpoolRun run{ref::PoolWindows(args.GetOutput(0).GetShape(), args.GetInput(0).GetShape(), pool), reference.m_Run,
                     &GetIndexedPoolFunctions()};
    return {std::move(run), reference.m_ScratchBytes};
}

} // namespace

extern const backends::Kernel CpuMaxPool2dWithIndicesKernel = {.m_Name = "CpuMaxPool2dWithIndices",
                                                               .m_Types = MaxPool2dWithIndicesTypes,
                                                               .m_Reference = &ref::RefMaxPool2dWithIndicesKernel,
                                                               .m_Refine = RefineMaxPool2dWithIndices};
extern const backends::Kernel CpuMaxUnpool2dKernel = {.m_Name = "CpuMaxUnpool2d",
                                                      .m_Types = MaxUnpool2dTypes,
                                                      .m_Reference = &ref::RefMaxUnpool2dKernel,
                                                      .m_Refine = RefineMaxUnpool2d};

} // namespace tenon::cpu
#endif
