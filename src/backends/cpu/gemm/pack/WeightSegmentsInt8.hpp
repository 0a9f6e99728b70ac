// SPDX-License-Identifier: Apache-2.0
// Where the columns of the weights of a product of bytes are: one constant, or several with as many columns each, as
// the gates of a recurrent layer are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

struct ColumnPieces8
{
    std::vector<const uint8_t*> m_Pieces; ///< [columns][depth]
    size_t m_Columns = 0;                 ///< of a piece
    size_t m_Depth = 0;                   ///< bytes

    /// Calls run(column, count, weights) for `count` columns from `first` on: for those of a piece at a time.
    template <typename F>
    void ForEachRun(size_t first, size_t count, const F& run) const
    {
        for (const size_t last = first + count; first < last;)
        {
            const size_t piece = first / m_Columns;
            const size_t ofPiece = std::min(last, (piece + 1) * m_Columns) - first;
            run(first, ofPiece, m_Pieces[piece] + (first - piece * m_Columns) * m_Depth);
            first += ofPiece;
        }
    }
};

} // namespace tenon::cpu
