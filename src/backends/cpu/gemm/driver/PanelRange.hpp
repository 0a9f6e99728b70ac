// SPDX-License-Identifier: Apache-2.0
// How a product is split over threads.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

/// What one thread computes of a product: some rows of the output by some panels of its columns.
struct PanelRange
{
    size_t m_FirstRow = 0;
    size_t m_LastRow = 0;
    size_t m_FirstPanel = 0;
    size_t m_LastPanel = 0;

    /// Whether it has all of so many panels.
    bool HasPanels(size_t count) const { return m_FirstPanel == 0 && m_LastPanel == count; }
};

/// What is split.
struct PanelShape
{
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Panels = 0; ///< of the columns
    size_t m_TileRows = 1;
};

/// Whether rows are split, where each part gets a tile of them or there are too few panels; else panels are. That is
/// better too where there are many more weights than data: each thread then reads weights of its own, which may come
/// from a cache that threads share, or fit into one that is its own.
inline bool SplitsRows(const PanelShape& shape, size_t parts)
{
    constexpr size_t ManyMore = 2;
    constexpr size_t Even = 8; // panels of a thread, or the threads' shares are of unlike sizes
    if (shape.m_Panels < parts)
    {
        return true;
    }
    const bool areEven = shape.m_Panels % parts == 0 || shape.m_Panels >= parts * Even;
    return shape.m_Rows >= parts * shape.m_TileRows && !(shape.m_Columns >= ManyMore * shape.m_Rows && areEven);
}

/// Calls body(part, range), on several threads, for at most `parts` ranges that make up the product. Where rows are
/// split, it is at multiples of `rowUnit`.
template <typename F>
void RunPanelRanges(IParallelFor& parallel, size_t parts, const PanelShape& shape, size_t rowUnit, const F& body)
{
    const size_t rows = shape.m_Rows;
    const size_t panels = shape.m_Panels;
    const bool splitsRows = SplitsRows(shape, parts);
    const size_t used = splitsRows ? std::min(parts, rows) : parts;
    RunParts(parallel, used,
             [&](size_t index)
             {
                 PanelRange range{0, rows, 0, panels};
                 const Part part = GetPart(splitsRows ? rows : panels, used, index, splitsRows ? rowUnit : 1);
                 (splitsRows ? range.m_FirstRow : range.m_FirstPanel) = part.m_Begin;
                 (splitsRows ? range.m_LastRow : range.m_LastPanel) = part.m_End;
                 body(index, range);
             });
}

} // namespace tenon::cpu
