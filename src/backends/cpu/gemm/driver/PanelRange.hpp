// SPDX-License-Identifier: Apache-2.0
// Partition of a GEMM over threads: RunPanelRanges gives each task a range of rows or a range of panels. Used by all
// GEMM drivers.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

/// The block of the output that one task computes: rows [m_FirstRow, m_LastRow) by panels [m_FirstPanel, m_LastPanel).
struct PanelRange
{
    size_t m_FirstRow = 0;
    size_t m_LastRow = 0;
    size_t m_FirstPanel = 0;
    size_t m_LastPanel = 0;

    /// Whether the range has all `count` panels.
    bool HasPanels(size_t count) const { return m_FirstPanel == 0 && m_LastPanel == count; }
};

/// The sizes that a partition depends on.
struct PartitionShape
{
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Panels = 0; ///< of the columns
    size_t m_TileRows = 1;
};

/// Whether tasks get ranges of rows (true) or of panels (false). Rows are split where there are fewer panels than
/// tasks, or where each task gets at least one full tile of rows. Panels are split where the weights are much larger
/// than the data: each thread then reads weights of its own, from a shared cache or its private one.
inline bool IsSplitByRows(const PartitionShape& shape, size_t tasks)
{
    constexpr size_t ManyMore = 2;
    constexpr size_t Even = 8; // panels per task, below which the shares of the tasks are uneven
    if (shape.m_Panels < tasks)
    {
        return true;
    }
    const bool isEven = shape.m_Panels % tasks == 0 || shape.m_Panels >= tasks * Even;
    return shape.m_Rows >= tasks * shape.m_TileRows && !(shape.m_Columns >= ManyMore * shape.m_Rows && isEven);
}

/// Calls body(task, range), on several threads, for at most `tasks` ranges that cover the product. Boundaries between
/// ranges of rows are multiples of `rowUnit`.
template <typename F>
void RunPanelRanges(IParallelFor& parallel, size_t tasks, const PartitionShape& shape, size_t rowUnit, const F& body)
{
    const size_t rows = shape.m_Rows;
    const size_t panels = shape.m_Panels;
    const bool isSplitByRows = IsSplitByRows(shape, tasks);
    const size_t used = isSplitByRows ? std::min(tasks, rows) : tasks;
    RunTasks(parallel, used,
             [&](size_t index)
             {
                 PanelRange range{0, rows, 0, panels};
                 const IndexRange task =
                     GetTaskRange(isSplitByRows ? rows : panels, used, index, isSplitByRows ? rowUnit : 1);
                 (isSplitByRows ? range.m_FirstRow : range.m_FirstPanel) = task.m_Begin;
                 (isSplitByRows ? range.m_LastRow : range.m_LastPanel) = task.m_End;
                 body(index, range);
             });
}

} // namespace tenon::cpu
