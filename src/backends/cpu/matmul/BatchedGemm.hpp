// SPDX-License-Identifier: Apache-2.0
// Batched GEMM of two matrices that both change from run to run: out[b] = x[b] * y[b] (+ bias, clamp). Panels of y are
// packed while the layer runs, as many at a time as half of a second-level cache holds, and all rows of x pass before
// the next ones are packed (Goto and van de Geijn, 2008). A work item is (batch, group of panels, chunk of rows);
// neighbouring items share the packed group.
//
//   y [depth x columns]:  | panel 0 | panel 1 | panel 2 | panel 3 |      packed panel: [depth][vectors * lanes]
//                         |----- group 0 -----|----- group 1 -----|
//
// Used by BatchMatMul (F32, Bf16) and by layers with run-time weights.
#pragma once

#include "backends/common/FusedActivation.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"
#include "backends/cpu/im2col/Im2col.hpp"
#include "backends/cpu/matmul/BatchedGemmTasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

/// Epilogue: bias and clamp.
struct EpilogueParamsF32
{
    bool m_HasBias = false; ///< input 2: one element for each column
    backends::FloatClamp m_Clamp;
};

/// The GEMMs of all batches, cut into work items. `Traits` name the types of elements, panels and GEMM, and their
/// differences:
///   Element, Panels, Gemm
///   Speedup                                  of a multiplication compared to float32
///   HasEpilogue                              whether the GEMM takes a bias, which changes from run to run, too
///   CountPanels(panels)
///   CountElements(panels, range)             packed elements of a range of panels
///   Pack(panels, range, y, order, stride, to) packs one panel of the range after the other
///   FindInPlaceStride(geometry)              elements from one row of y to the next where y is not packed, else 0
///   Transpose(x, stride, rows, depth, to)    transposes rows of a column-major x
///   Release(panels)                          called when a thread is done
template <typename Traits>
class BatchedGemm
{
public:
    /// `maxThreads`: see ReshapeArgs.
    BatchedGemm(const ref::MatMulGeometry& geometry, unsigned int maxThreads, const EpilogueParamsF32& epilogue = {})
        : m_Geometry(geometry), m_HasBias(epilogue.m_HasBias), m_InPlaceStride(Traits::FindInPlaceStride(geometry)),
          m_Panels(std::make_shared<Panels>(WeightSizes{1, geometry.m_Columns, geometry.m_Depth, 0, m_InPlaceStride})),
          m_NumPanels(Traits::CountPanels(*m_Panels)), m_TransposesX(geometry.m_X.m_Column != 1),
          m_Gemm(*m_Panels, MakeRows(), DivideUp(geometry.m_Rows, PlanTasks(maxThreads)), maxThreads)
    {
        OutputLayout place;
        place.m_PixelStride = geometry.m_Output.m_Row;
        m_Gemm.SetOutputLayout(place);
        m_Gemm.SetClamp(epilogue.m_Clamp);
        if constexpr (requires { m_Gemm.SetOutputBytes(size_t{}); })
        {
            m_Gemm.SetOutputBytes(geometry.m_NumBatches * geometry.m_Rows * geometry.m_Columns * sizeof(Element));
        }

        backends::Scratch part;
        size_t packed = 0;
        for (size_t group = 0; group < m_Groups; ++group)
        {
            packed = std::max(packed, Traits::CountElements(*m_Panels, GetTaskRange(m_NumPanels, m_Groups, group)));
        }
        part.Add<Element>(IsInPlace() ? 0 : packed);
        m_TransposedOffset =
            part.Add<Element>(m_TransposesX ? DivideUp(geometry.m_Rows, m_RowChunks) : 0, geometry.m_Depth);
        m_GemmOffset = part.Add<std::byte>(m_Gemm.GetTaskBytes());
        m_TaskBytes = part.GetBytes();
        m_Tasks = std::clamp<size_t>(MaxScratchBytes / std::max<size_t>(m_TaskBytes, 1), 1, m_Tasks);
        m_Scratch.AddPerTask(part, m_Tasks);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        RunWorkItems(args, CountWorkItems(), m_Tasks, m_TaskBytes,
                     [&](const IndexRange& items, std::byte* scratch) { RunTask(args, items, scratch); });
    }

private:
    using Element = typename Traits::Element;
    using Panels = typename Traits::Panels;

    /// Bytes of packed panels of a thread: half of a second-level cache of 1 MiB.
    static constexpr size_t PackedBytes = 512 * 1024;
    /// Bytes of x that a thread transposes at a time: chunks for a third-level cache, as each chunk packs y again.
    static constexpr size_t TransposedBytes = 8 * 1024 * 1024;
    /// Upper limit of all scratch memory: a few columns of a great depth take many times their memory when they are
    /// packed, so that fewer tasks run then.
    static constexpr size_t MaxScratchBytes = 64 * 1024 * 1024;

    size_t CountWorkItems() const { return m_Geometry.m_NumBatches * m_Groups * m_RowChunks; }

    Im2col MakeRows() const
    {
        Im2col rows = MakeMatrixIm2col(m_Geometry.m_Rows, m_Geometry.m_Depth);
        rows.m_Channels = static_cast<int64_t>(m_TransposesX ? m_Geometry.m_Depth : m_Geometry.m_X.m_Row);
        return rows;
    }

    /// Chooses groups of panels and chunks of rows: as few as keep packed panels in the cache and all threads busy.
    /// Returns m_RowChunks.
    size_t PlanTasks(unsigned int maxThreads)
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const double multiplications = static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) *
                                       static_cast<double>(g.m_Columns) * static_cast<double>(g.m_Depth);
        m_Tasks = std::min(GetFixedTasks(), GetWorthwhileTasks(multiplications / Traits::Speedup));
        m_Groups = CountGroups(DivideUp(m_Tasks, g.m_NumBatches));
        const size_t rowsForThreads = DivideUp(m_Tasks, g.m_NumBatches * m_Groups);
        const size_t rowsForCache =
            m_TransposesX ? DivideUp(g.m_Rows * g.m_Depth * sizeof(Element), TransposedBytes) : 1;
        m_RowChunks = CountRowChunks(std::max(rowsForThreads, rowsForCache), g.m_Rows, GetMinRows());
        m_Tasks = std::min({m_Tasks, CountWorkItems(), GetMaxTasks(maxThreads)});
        return m_RowChunks;
    }

    /// Panels of a y that is read in place are wide and few: if they give no equal shares, rows are divided instead.
    size_t CountGroups(size_t forThreads) const
    {
        constexpr size_t Even = 4; // panels of a thread, for nearly equal shares
        if (IsInPlace())
        {
            const bool isEven = m_NumPanels % forThreads == 0 || m_NumPanels >= Even * forThreads;
            return isEven || m_Geometry.m_Rows < forThreads * GetMinRows() ? std::min(m_NumPanels, forThreads) : 1;
        }
        const size_t elements = Traits::CountElements(*m_Panels, IndexRange{0, m_NumPanels});
        return std::min(m_NumPanels, std::max(DivideUp(elements * sizeof(Element), PackedBytes), forThreads));
    }
    bool IsInPlace() const { return m_InPlaceStride != 0; }
    size_t GetMinRows() const { return IsInPlace() ? MinRowsInPlace : MinRowsPacked; }

    void RunTask(const ExecuteArgs& args, const IndexRange& items, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        auto* const packed = backends::Scratch::At<Element>(scratch, 0);
        auto* const transposed = backends::Scratch::At<Element>(scratch, m_TransposedOffset);
        size_t packedMatrix = SIZE_MAX;
        size_t packedGroup = SIZE_MAX;
        const Element* transposedX = nullptr;
        size_t rowChunk = items.m_Begin % m_RowChunks;
        size_t group = items.m_Begin / m_RowChunks % m_Groups;
        size_t index = items.m_Begin / (m_Groups * m_RowChunks);
        for (size_t item = items.m_Begin; item < items.m_End; ++item)
        {
            const ref::MatMulGeometry::Batch batch = g.GetBatch(index);
            const IndexRange panels = GetTaskRange(m_NumPanels, m_Groups, group);
            const IndexRange rows = GetTaskRange(g.m_Rows, m_RowChunks, rowChunk);
            const size_t count = rows.m_End - rows.m_Begin;
            const Element* const y = args.GetInput<Element>(1) + g.GetMatrixY(batch.m_MatrixY);
            if (!IsInPlace() && (packedMatrix != batch.m_MatrixY || packedGroup != group))
            {
                Pack(y, panels, packed);
                packedMatrix = batch.m_MatrixY;
                packedGroup = group;
            }
            const Element* x = args.GetInput<Element>(0) + batch.m_X + rows.m_Begin * g.m_X.m_Row;
            if (m_TransposesX && transposedX != x)
            {
                Traits::Transpose(x, g.m_X.m_Column, count, g.m_Depth, transposed);
                transposedX = x;
            }
            const Element* const data = m_TransposesX ? transposed : x;
            const Element* const weights = IsInPlace() ? y : packed;
            Element* const out = args.GetOutput<Element>(0) + batch.m_Output + rows.m_Begin * g.m_Output.m_Row;
            const PanelRange range{0, count, panels.m_Begin, panels.m_End};
            if constexpr (Traits::HasEpilogue)
            {
                const Element* const bias = m_HasBias ? args.GetInput<Element>(2) : nullptr;
                m_Gemm.RunRange(data, weights, bias, out, range, scratch + m_GemmOffset);
            }
            else
            {
                m_Gemm.RunRange(data, weights, out, range, scratch + m_GemmOffset);
            }
            rowChunk = rowChunk + 1 == m_RowChunks ? 0 : rowChunk + 1;
            group = rowChunk != 0 ? group : group + 1 == m_Groups ? 0 : group + 1;
            index += rowChunk == 0 && group == 0 ? 1 : 0;
        }
        Traits::Release(*m_Panels);
    }

    WeightOrder GetOrder() const { return m_Geometry.m_Y.m_Column == 1 ? WeightOrder::Depth : WeightOrder::Columns; }
    size_t GetStride() const { return m_Geometry.m_Y.m_Column == 1 ? m_Geometry.m_Y.m_Row : m_Geometry.m_Y.m_Column; }

    void Pack(const Element* y, const IndexRange& panels, Element* packed) const
    {
        Traits::Pack(*m_Panels, panels, y, GetOrder(), GetStride(), packed);
    }

    ref::MatMulGeometry m_Geometry;
    bool m_HasBias;
    size_t m_InPlaceStride; ///< of y: see Traits::FindInPlaceStride
    std::shared_ptr<const Panels> m_Panels;
    size_t m_NumPanels;
    bool m_TransposesX;
    size_t m_Groups = 1;          ///< groups of panels
    size_t m_RowChunks = 1;       ///< chunks of rows of a batch
    size_t m_Tasks = 1;           ///< tasks, each with scratch memory of its own
    typename Traits::Gemm m_Gemm; ///< of one work item
    size_t m_TransposedOffset = 0;
    size_t m_GemmOffset = 0;
    size_t m_TaskBytes = 0;
    backends::Scratch m_Scratch;
};

} // namespace tenon::cpu
