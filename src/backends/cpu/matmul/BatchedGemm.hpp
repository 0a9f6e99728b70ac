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
struct ProductEnds
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
template <typename Matrices>
class MatMulProducts
{
public:
    /// `maxThreads`: see ReshapeArgs.
    MatMulProducts(const ref::MatMulGeometry& geometry, unsigned int maxThreads, const ProductEnds& ends = {})
        : m_Geometry(geometry), m_HasBias(ends.m_HasBias), m_InPlaceStride(Matrices::FindStride(geometry)),
          m_Panels(std::make_shared<Panels>(WeightSizes{1, geometry.m_Columns, geometry.m_Depth, 0, m_InPlaceStride})),
          m_NumPanels(Matrices::CountPanels(*m_Panels)), m_TurnsX(geometry.m_X.m_Column != 1),
          m_Product(*m_Panels, MakeRows(), DivideUp(geometry.m_Rows, Cut(maxThreads)), maxThreads)
    {
        OutputPlace place;
        place.m_PixelStride = geometry.m_Output.m_Row;
        m_Product.SetPlace(place);
        m_Product.SetClamp(ends.m_Clamp);
        if constexpr (requires { m_Product.SetOutputBytes(size_t{}); })
        {
            m_Product.SetOutputBytes(geometry.m_NumBatches * geometry.m_Rows * geometry.m_Columns * sizeof(Element));
        }

        backends::Scratch part;
        size_t packed = 0;
        for (size_t group = 0; group < m_Groups; ++group)
        {
            packed = std::max(packed, Matrices::CountElements(*m_Panels, GetPart(m_NumPanels, m_Groups, group)));
        }
        part.Add<Element>(IsInPlace() ? 0 : packed);
        m_TurnedOffset = part.Add<Element>(m_TurnsX ? DivideUp(geometry.m_Rows, m_RowParts) : 0, geometry.m_Depth);
        m_ProductOffset = part.Add<std::byte>(m_Product.GetPartBytes());
        m_PartBytes = part.GetBytes();
        m_Parts = std::clamp<size_t>(MostScratchBytes / std::max<size_t>(m_PartBytes, 1), 1, m_Parts);
        m_Scratch.AddParts(part, m_Parts);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        RunUnits(args, GetUnits(), m_Parts, m_PartBytes,
                 [&](const Part& units, std::byte* scratch) { RunPart(args, units, scratch); });
    }

private:
    using Element = typename Matrices::Element;
    using Panels = typename Matrices::Panels;

    /// Bytes of packed panels of a thread: half of a second-level cache of 1 MiB.
    static constexpr size_t PackedBytes = 512 * 1024;
    /// Bytes of x that a thread transposes at a time: chunks for a third-level cache, as each chunk packs y again.
    static constexpr size_t TurnedBytes = 8 * 1024 * 1024;
    /// Upper limit of all scratch memory: a few columns of a great depth take many times their memory when they are
    /// packed, so that fewer tasks run then.
    static constexpr size_t MostScratchBytes = 64 * 1024 * 1024;

    size_t GetUnits() const { return m_Geometry.m_NumBatches * m_Groups * m_RowParts; }

    Windows MakeRows() const
    {
        Windows rows = MakeRowWindows(m_Geometry.m_Rows, m_Geometry.m_Depth);
        rows.m_Channels = static_cast<int64_t>(m_TurnsX ? m_Geometry.m_Depth : m_Geometry.m_X.m_Row);
        return rows;
    }

    /// Chooses groups of panels and chunks of rows: as few as keep packed panels in the cache and all threads busy.
    /// Returns m_RowChunks.
    size_t Cut(unsigned int maxThreads)
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const double multiplications = static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) *
                                       static_cast<double>(g.m_Columns) * static_cast<double>(g.m_Depth);
        m_Parts = std::min(GetCutParts(), GetWorthwhileParts(multiplications / Matrices::Speedup));
        m_Groups = CountGroups(DivideUp(m_Parts, g.m_NumBatches));
        const size_t rowsForThreads = DivideUp(m_Parts, g.m_NumBatches * m_Groups);
        const size_t rowsForCache = m_TurnsX ? DivideUp(g.m_Rows * g.m_Depth * sizeof(Element), TurnedBytes) : 1;
        m_RowParts = CountRowParts(std::max(rowsForThreads, rowsForCache), g.m_Rows, GetLeastRows());
        m_Parts = std::min({m_Parts, GetUnits(), GetMaxParts(maxThreads)});
        return m_RowParts;
    }

    /// Panels of a y that is read in place are wide and few: if they give no equal shares, rows are divided instead.
    size_t CountGroups(size_t forThreads) const
    {
        constexpr size_t Even = 4; // panels of a thread, for nearly equal shares
        if (IsInPlace())
        {
            const bool areEven = m_NumPanels % forThreads == 0 || m_NumPanels >= Even * forThreads;
            return areEven || m_Geometry.m_Rows < forThreads * GetLeastRows() ? std::min(m_NumPanels, forThreads) : 1;
        }
        const size_t elements = Matrices::CountElements(*m_Panels, Part{0, m_NumPanels});
        return std::min(m_NumPanels, std::max(DivideUp(elements * sizeof(Element), PackedBytes), forThreads));
    }
    bool IsInPlace() const { return m_InPlaceStride != 0; }
    size_t GetLeastRows() const { return IsInPlace() ? LeastRowsInPlace : LeastRowsOfPacked; }

    void RunPart(const ExecuteArgs& args, const Part& units, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        auto* const packed = backends::Scratch::At<Element>(scratch, 0);
        auto* const turned = backends::Scratch::At<Element>(scratch, m_TurnedOffset);
        size_t packedMatrix = SIZE_MAX;
        size_t packedGroup = SIZE_MAX;
        const Element* turnedX = nullptr;
        size_t rowPart = units.m_Begin % m_RowParts;
        size_t group = units.m_Begin / m_RowParts % m_Groups;
        size_t index = units.m_Begin / (m_Groups * m_RowParts);
        for (size_t unit = units.m_Begin; unit < units.m_End; ++unit)
        {
            const ref::MatMulGeometry::Batch batch = g.GetBatch(index);
            const Part panels = GetPart(m_NumPanels, m_Groups, group);
            const Part rows = GetPart(g.m_Rows, m_RowParts, rowPart);
            const size_t count = rows.m_End - rows.m_Begin;
            const Element* const y = args.GetInput<Element>(1) + g.GetMatrixY(batch.m_MatrixY);
            if (!IsInPlace() && (packedMatrix != batch.m_MatrixY || packedGroup != group))
            {
                Pack(y, panels, packed);
                packedMatrix = batch.m_MatrixY;
                packedGroup = group;
            }
            const Element* x = args.GetInput<Element>(0) + batch.m_X + rows.m_Begin * g.m_X.m_Row;
            if (m_TurnsX && turnedX != x)
            {
                Matrices::Turn(x, g.m_X.m_Column, count, g.m_Depth, turned);
                turnedX = x;
            }
            const Element* const data = m_TurnsX ? turned : x;
            const Element* const weights = IsInPlace() ? y : packed;
            Element* const out = args.GetOutput<Element>(0) + batch.m_Output + rows.m_Begin * g.m_Output.m_Row;
            const PanelRange range{0, count, panels.m_Begin, panels.m_End};
            if constexpr (Matrices::HasEnds)
            {
                const Element* const bias = m_HasBias ? args.GetInput<Element>(2) : nullptr;
                m_Product.RunRange(data, weights, bias, out, range, scratch + m_ProductOffset);
            }
            else
            {
                m_Product.RunRange(data, weights, out, range, scratch + m_ProductOffset);
            }
            rowPart = rowPart + 1 == m_RowParts ? 0 : rowPart + 1;
            group = rowPart != 0 ? group : group + 1 == m_Groups ? 0 : group + 1;
            index += rowPart == 0 && group == 0 ? 1 : 0;
        }
        Matrices::Release(*m_Panels);
    }

    WeightOrder GetOrder() const { return m_Geometry.m_Y.m_Column == 1 ? WeightOrder::Depth : WeightOrder::Columns; }
    size_t GetStride() const { return m_Geometry.m_Y.m_Column == 1 ? m_Geometry.m_Y.m_Row : m_Geometry.m_Y.m_Column; }

    void Pack(const Element* y, const Part& panels, Element* packed) const
    {
        Matrices::Pack(*m_Panels, panels, y, GetOrder(), GetStride(), packed);
    }

    ref::MatMulGeometry m_Geometry;
    bool m_HasBias;
    size_t m_InPlaceStride; ///< of y: see Traits::FindInPlaceStride
    std::shared_ptr<const Panels> m_Panels;
    size_t m_NumPanels;
    bool m_TurnsX;
    size_t m_Groups = 1;                  ///< groups of panels
    size_t m_RowParts = 1;                ///< chunks of rows of a batch
    size_t m_Parts = 1;                   ///< tasks, each with scratch memory of its own
    typename Matrices::Product m_Product; ///< of one work item
    size_t m_TurnedOffset = 0;
    size_t m_ProductOffset = 0;
    size_t m_PartBytes = 0;
    backends::Scratch m_Scratch;
};

} // namespace tenon::cpu
