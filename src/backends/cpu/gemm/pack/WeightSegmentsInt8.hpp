// SPDX-License-Identifier: Apache-2.0
// WeightSegmentsInt8: addresses of the columns of int8 weights, which are one constant, or several with equal numbers
// of columns, as for the gates of a recurrent layer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

struct WeightSegmentsInt8
{
    std::vector<const uint8_t*> m_Segments; ///< [columns][depth]
    size_t m_Columns = 0;                   ///< of a segment
    size_t m_Depth = 0;                     ///< in bytes

    /// Calls run(column, count, weights) for the columns [first, first + count), cut at the bounds of segments.
    template <typename F>
    void ForEachRun(size_t first, size_t count, const F& run) const
    {
        for (const size_t last = first + count; first < last;)
        {
            const size_t segment = first / m_Columns;
            const size_t ofSegment = std::min(last, (segment + 1) * m_Columns) - first;
            run(first, ofSegment, m_Segments[segment] + (first - segment * m_Columns) * m_Depth);
            first += ofSegment;
        }
    }
};

} // namespace tenon::cpu
