// SPDX-License-Identifier: Apache-2.0
// Partition of a GEMM over threads, for all GEMM drivers: RunPanelRanges gives each task a range of rows or a range of
// panels. OutputCacheLines decides whether the cache lines of such a range's output are zeroed or prefetched before
// tiles write parts of them: a partial write of a line first reads the line from memory (write-allocate), and shallow
// tiles wait for it.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

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

/// The cache lines of a range of rows of an output, for GemmF32, GemmBf16 and GemmInt8.
class OutputCacheLines
{
public:
    /// `bytes`: the whole output; `rowBytes`: the row pitch; `blockRows`: most rows computed together. `isWhole`: the
    /// range covers all columns of its rows, the rows are contiguous and computed in order, and their old content is
    /// not read.
    OutputCacheLines(size_t bytes, size_t rowBytes, size_t blockRows, bool isWhole)
        : m_Bytes(bytes), m_RowBytes(rowBytes), m_BlockRows(blockRows),
          m_IsZeroed(isWhole && bytes > ThirdLevelBytes && rowBytes >= MinRowBytes &&
                     rowBytes <= ZeroedBytes / DivideUp(blockRows, MaxSegments) && HasSharedLines())
    {
    }

    /// Whether an output of `bytes` is in a cache close by, so that its lines need no preparation.
    static bool IsInCache(size_t bytes) { return bytes <= SecondLevelBytes; }

    /// Whether lines are prefetched a tile ahead, for tiles that write more than they read.
    bool IsPrefetched() const
    {
        return !m_IsZeroed && !IsInCache(m_Bytes) && m_RowBytes > MaxHardwarePrefetchedRowBytes && HasSharedLines();
    }

    /// The number of rows to compute together.
    size_t GetBlockRows() const { return m_IsZeroed ? std::min(m_BlockRows, ZeroedBytes / m_RowBytes) : m_BlockRows; }

    /// Zeroes `rows` rows from `first` on where that pays; called before they are computed. A memset writes whole
    /// lines, so they need not be read from memory. Measured: products take 0.5 to 0.95 of the time where the output
    /// comes from memory (the less they compute, the larger the gain), up to 1.2 where it comes from a cache, and up to
    /// 2 where the zeros are evicted before the rows are written.
    void Prepare(void* first, size_t rows) const
    {
        if (m_IsZeroed && rows * m_RowBytes <= ZeroedBytes)
        {
            std::memset(first, 0, rows * m_RowBytes);
        }
    }

private:
    /// Bytes of an output that may be in the second-level cache, and in a core's share of the third.
    static constexpr size_t SecondLevelBytes = size_t{1} << 20;
    static constexpr size_t ThirdLevelBytes = size_t{8} << 20;
    /// Zeros that stay in the second-level cache until the last tile has written its columns of the rows.
    static constexpr size_t ZeroedBytes = SecondLevelBytes / 4 * 3;
    /// Segments of zeros in a block. With more of them, as for long rows, the weights would be read too often.
    static constexpr size_t MaxSegments = 6;
    /// Shorter rows lie within a few lines, which tiles write soon after each other.
    static constexpr size_t MinRowBytes = 256;
    /// With five or more rows in a page the hardware prefetcher finds the next lines; software prefetches then cost up
    /// to 1.5 times the time.
    static constexpr size_t MaxHardwarePrefetchedRowBytes = 816;

    /// Whether rows begin within cache lines, so that neighbouring rows share a line.
    bool HasSharedLines() const { return m_RowBytes % LineBytes != 0; }

    size_t m_Bytes;
    size_t m_RowBytes;
    size_t m_BlockRows;
    bool m_IsZeroed;
};

} // namespace tenon::cpu
