// SPDX-License-Identifier: Apache-2.0
// Batched GEMM of floats: the traits for BatchedGemm, and FewRowsF32 for products of few rows, which reads y once, in
// place ([depth][columns] by sums of scaled rows, AXPY; [columns][depth] by dot products). Used by BatchMatMul.cpp and
// RunTimeWeights.cpp.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/kernels/f32/AxpyF32.hpp"
#include "backends/cpu/gemm/kernels/f32/DotProductsF32.hpp"
#include "backends/cpu/matmul/BatchedGemm.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace tenon::cpu
{

/// Traits for BatchedGemm.
struct BatchedGemmTraitsF32
{
    using Element = float;
    using Panels = PanelsF32;
    using Gemm = GemmF32;
    static constexpr double Speedup = 1;
    static constexpr bool HasEpilogue = true;

    static size_t CountPanels(const Panels& panels) { return panels.Get().size(); }
    static size_t CountElements(const Panels& panels, const IndexRange& part)
    {
        size_t floats = 0;
        for (size_t p = part.m_Begin; p < part.m_End; ++p)
        {
            floats += panels.GetFloats(panels.Get()[p]);
        }
        return floats;
    }
    static void Pack(const Panels& panels, const IndexRange& part, const float* y, WeightOrder order, size_t stride,
                     float* to)
    {
        for (size_t p = part.m_Begin; p < part.m_End; ++p)
        {
            panels.Pack(panels.Get()[p], y, order, stride, to);
            to += panels.GetFloats(panels.Get()[p]);
        }
    }
    /// Packing takes as long as about five rows of the product. It pays if many rows pass and y does not stay in the
    /// first-level cache unpacked: vectors of neighbouring rows may be a power of two apart and share few cache sets.
    static size_t FindInPlaceStride(const ref::MatMulGeometry& g)
    {
        constexpr size_t CachedBytes = 16 * 1024; // half of a first-level cache
        constexpr size_t FewRows = 16;
        constexpr size_t SomeRows = 128;
        constexpr size_t WideBytes = 4 * LineBytes;
        const MicrokernelsF32& microkernels = GetMicrokernelsF32();
        if (g.m_Y.m_Column != 1 || g.m_Columns % microkernels.m_Lanes != 0)
        {
            return 0;
        }
        const size_t rows = g.m_Rows * g.CountBatchesOf();
        const bool isWide = microkernels.m_MaxVectors * microkernels.m_Lanes * sizeof(float) >= WideBytes;
        const bool isCached = g.m_Depth * g.m_Columns * sizeof(float) <= CachedBytes;
        return isCached || rows <= (isWide ? SomeRows : FewRows) ? g.m_Y.m_Row : 0;
    }
    static void Transpose(const float* x, size_t stride, size_t rows, size_t depth, float* to)
    {
        TransposeFloats(x, stride, rows, depth, to, depth);
    }
    static void Release(const Panels&) {}
};

/// Products of few rows: y is read once, in place.
class FewRowsF32
{
public:
    explicit FewRowsF32(const ref::MatMulGeometry& geometry, const EpilogueParamsF32& epilogue = {})
        : m_Geometry(geometry), m_Epilogue(epilogue)
    {
        const size_t bytes = geometry.m_Columns * geometry.m_Depth * sizeof(float);
        constexpr size_t MinColumns = 64; // a chunk has several cache lines of the output
        const size_t maxTasks = std::min(bytes / GetGrain(1), geometry.m_Columns / MinColumns);
        m_ColumnChunks =
            std::clamp<size_t>(DivideUp(GetFixedTasks(), geometry.m_NumBatches), 1, std::max<size_t>(maxTasks, 1));
        m_Grain = GetGrain(bytes / m_ColumnChunks);
    }

    /// Dot products are about as fast as tiles and need no packing, but with more rows they would read y from memory
    /// too often.
    static bool Takes(const ref::MatMulGeometry& g)
    {
        constexpr size_t ManyLanes = 16;
        const size_t maxRowsOfDots = GetMicrokernelsF32().m_Lanes >= ManyLanes ? 16 : 8;
        return g.m_Y.m_Column == 1
                   ? g.m_Rows <= AxpyF32::MaxRows || IsBlockedAxpyFaster(g.m_Rows, g.m_Columns, g.m_Depth)
                   : g.m_Y.m_Column == g.m_Depth && g.m_X.m_Row == g.m_Depth && g.m_Rows <= maxRowsOfDots;
    }

    void operator()(const ExecuteArgs& args) const
    {
        const auto range = [&](size_t begin, size_t end)
        {
            for (size_t item = begin; item < end; ++item)
            {
                Multiply(args, m_Geometry.GetBatch(item / m_ColumnChunks),
                         GetTaskRange(m_Geometry.m_Columns, m_ColumnChunks, item % m_ColumnChunks));
            }
        };
        RunRanges(*args.m_Parallel, m_Geometry.m_NumBatches * m_ColumnChunks, m_Grain, range);
    }

private:
    void Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, const IndexRange& columns) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const float* x = args.GetInput<float>(0) + batch.m_X;
        const float* y = args.GetInput<float>(1) + g.GetMatrixY(batch.m_MatrixY) + columns.m_Begin * g.m_Y.m_Column;
        const float* const bias = m_Epilogue.m_HasBias ? args.GetInput<float>(2) + columns.m_Begin : nullptr;
        float* out = args.GetOutput<float>(0) + batch.m_Output + columns.m_Begin;
        const size_t count = columns.m_End - columns.m_Begin;
        if (g.m_Y.m_Column == 1)
        {
            const AxpyF32 sums = {x,        g.m_X.m_Row, g.m_X.m_Column, y,   g.m_Y.m_Row,
                                  g.m_Rows, count,       g.m_Depth,      out, g.m_Output.m_Row};
            g.m_Rows <= AxpyF32::MaxRows ? RunAxpyF32(sums) : RunBlockedAxpyF32(sums);
        }
        else
        {
            RunDotProductsF32({x, y, bias, g.m_Rows, count, g.m_Depth, out, g.m_Output.m_Row});
        }
        const bool isBiasLeft = bias != nullptr && g.m_Y.m_Column == 1; // dot products have added it
        for (size_t row = 0; row < g.m_Rows; ++row, out += g.m_Output.m_Row)
        {
            if (isBiasLeft)
            {
                std::transform(out, out + count, bias, out, std::plus<>());
            }
            m_Epilogue.m_Clamp.Run(out, count);
        }
    }

    ref::MatMulGeometry m_Geometry;
    EpilogueParamsF32 m_Epilogue;
    size_t m_ColumnChunks = 1; ///< chunks of columns of a batch
    size_t m_Grain = 1;        ///< chunks that a task takes at once
};

/// Precondition: matrices that are not empty, without gaps in rows or columns. `maxThreads`: see ReshapeArgs.
inline backends::Prepared PrepareBatchedGemmF32(const ref::MatMulGeometry& g, unsigned int maxThreads,
                                                const EpilogueParamsF32& epilogue = {})
{
    if (FewRowsF32::Takes(g))
    {
        return FewRowsF32(g, epilogue);
    }
    BatchedGemm<BatchedGemmTraitsF32> products(g, maxThreads, epilogue);
    const size_t bytes = products.GetScratchBytes();
    return {std::move(products), bytes};
}

} // namespace tenon::cpu
