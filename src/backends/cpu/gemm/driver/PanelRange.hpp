// SPDX-License-Identifier: Apache-2.0
// Partition of a GEMM over threads, for all GEMM drivers: PanelPartition cuts the output into ranges of rows by ranges
// of panels. OutputCacheLines decides whether the cache lines of such a range's output are zeroed or prefetched before
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
    size_t m_RowUnit = 1;     ///< boundaries between ranges of rows are multiples of it
    size_t m_MaxRanges = 1;   ///< the number of ranges that pays
    bool m_PacksRows = false; ///< each range packs its rows, as im2col does
};

/// A grid of ranges: ranges of rows by ranges of panels.
struct PanelGrid
{
    size_t m_RowRanges = 1;
    size_t m_PanelRanges = 1;
};

/// The grid for `tasks` threads that draw about `ranges` ranges.
PanelGrid FindPanelGrid(const PartitionShape& shape, size_t tasks, size_t ranges);

/// A product cut into ranges for several threads.
class PanelPartition
{
public:
    PanelPartition() = default;
    PanelPartition(const PartitionShape& shape, unsigned int maxThreads)
        : PanelPartition(shape,
                         std::min({GetMaxTasks(maxThreads), shape.m_MaxRanges, std::max(shape.m_Rows, shape.m_Panels)}))
    {
    }
    /// `tasks`: the maximum number of threads.
    PanelPartition(const PartitionShape& shape, size_t tasks)
        : m_Shape(shape), m_Tasks(tasks),
          m_Grid(tasks > 1 ? FindPanelGrid(shape, tasks, CountChunks(tasks, tasks, shape.m_MaxRanges)) : PanelGrid())
    {
    }

    size_t GetTasks() const { return m_Tasks; }

    /// Calls body(task, range), on several threads, for ranges that cover the product; see RunChunks.
    template <typename F>
    void Run(IParallelFor& parallel, const F& body) const
    {
        const size_t threads = parallel.GetNumThreads();
        const size_t tasks = std::min(m_Tasks, threads);
        if (tasks <= 1)
        {
            body(size_t{0}, PanelRange{0, m_Shape.m_Rows, 0, m_Shape.m_Panels});
            return;
        }
        const PanelGrid grid = threads == m_Tasks
                                   ? m_Grid
                                   : FindPanelGrid(m_Shape, tasks, CountChunks(threads, tasks, m_Shape.m_MaxRanges));
        const size_t ranges = grid.m_RowRanges * grid.m_PanelRanges;
        RunChunks(parallel, std::min(tasks, ranges), ranges,
                  [&](size_t task, size_t index)
                  {
                      // Ranges of the same panels follow each other: a thread reads its weights once.
                      const IndexRange rows =
                          GetTaskRange(m_Shape.m_Rows, grid.m_RowRanges, index % grid.m_RowRanges, m_Shape.m_RowUnit);
                      const IndexRange panels =
                          GetTaskRange(m_Shape.m_Panels, grid.m_PanelRanges, index / grid.m_RowRanges);
                      body(task, PanelRange{rows.m_Begin, rows.m_End, panels.m_Begin, panels.m_End});
                  });
    }

private:
    PartitionShape m_Shape;
    size_t m_Tasks = 1;
    PanelGrid m_Grid; ///< for m_Tasks threads
};

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
