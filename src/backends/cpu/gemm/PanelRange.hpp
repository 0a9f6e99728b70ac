// SPDX-License-Identifier: Apache-2.0
// How a product is split over threads.
#pragma once

#include "backends/cpu/Parts.hpp"

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
};

/// Calls body(part, range), on several threads, for at most `parts` ranges that make up the product. Rows are split, at
/// multiples of `rowUnit`, where each part gets `tileRows` of them or there are too few panels; else panels are: then
/// each thread reads weights of its own.
template <typename F>
void RunPanelRanges(IParallelFor& parallel, size_t parts, size_t rows, size_t panels, size_t tileRows, size_t rowUnit,
                    const F& body)
{
    const bool splitsRows = rows >= parts * tileRows || panels < parts;
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
