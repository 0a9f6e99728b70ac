// SPDX-License-Identifier: Apache-2.0
// How a product is cut into ranges: see PanelRange.hpp.
//
// With R ranges of rows and P ranges of panels, a thread that computes q of them reads the weights of one range of
// panels (or of several) and the data of q ranges of rows:
//
//                 P = 2
//            | 0       | 3       |
//     R = 3  | 1       | 4       |      ranges of a thread follow each other: 0 1 2, 3 4 5
//            | 2       | 5       |
//
//     cost = rows * columns / threads / balance + ElementCost * (rows read + columns read)
//
// in multiplications for each element of the depth. Data come from the caches of other cores. Weights come from the
// thread's own second-level cache if its part of all layers fits there, since a thread gets the same ranges in each
// run.
#include "backends/cpu/gemm/driver/PanelRange.hpp"

namespace tenon::cpu
{

namespace
{

/// Multiplications in the time in which a core reads an element from a shared cache.
constexpr double ElementCost = 24;
/// Writing a row of im2col, in reads.
constexpr double PackedRowCost = 3;

double ToDouble(size_t value)
{
    return static_cast<double>(value);
}

/// The share of `count` units in `parts` parts that the largest part would have, if all were equal, by its real one.
double GetBalance(size_t count, size_t parts)
{
    return ToDouble(count) / ToDouble(parts * DivideUp(count, parts));
}

double GetCost(const PartitionShape& shape, const PanelGrid& grid, size_t tasks)
{
    const size_t ranges = grid.m_RowRanges * grid.m_PanelRanges;
    const size_t threads = std::min(tasks, ranges);
    const double ofThread = ToDouble(DivideUp(ranges, threads));
    const double rows = ToDouble(shape.m_Rows) / ToDouble(grid.m_RowRanges);
    const double columns = ToDouble(shape.m_Columns) / ToDouble(grid.m_PanelRanges);
    // A tile of fewer rows takes more than its share of time.
    const double tiles = ToDouble(DivideUp(DivideUp(shape.m_Rows, grid.m_RowRanges), shape.m_TileRows));
    const double filled = rows / (tiles * ToDouble(shape.m_TileRows));
    const double balance = GetBalance(std::max<size_t>(shape.m_Panels, 1), grid.m_PanelRanges) * (1 + filled) / 2;
    const double rowCost = shape.m_PacksRows ? 1 + PackedRowCost : 1;
    const double readRows = std::min(ofThread, ToDouble(grid.m_RowRanges)) * rows;
    const double readColumns = std::max(1.0, ofThread / ToDouble(grid.m_RowRanges)) * columns;
    return ofThread * rows * columns / balance + ElementCost * (rowCost * readRows + readColumns);
}

} // namespace

PanelGrid FindPanelGrid(const PartitionShape& shape, size_t tasks, size_t ranges)
{
    PanelGrid best;
    double bestCost = 0;
    const size_t units = std::max<size_t>(DivideUp(shape.m_Rows, shape.m_RowUnit), 1);
    const size_t maxPanelRanges =
        std::clamp<size_t>(shape.m_Panels, 1, ranges); // weights that are not packed: no panels
    for (size_t panelRanges = 1; panelRanges <= maxPanelRanges; panelRanges *= 2)
    {
        for (size_t wanted = tasks; wanted <= ranges; wanted += tasks)
        {
            const PanelGrid grid = {std::clamp<size_t>(wanted / panelRanges, 1, units), panelRanges};
            const double cost = GetCost(shape, grid, tasks);
            if (bestCost == 0 || cost < bestCost)
            {
                best = grid;
                bestCost = cost;
            }
        }
    }
    return best;
}

} // namespace tenon::cpu
