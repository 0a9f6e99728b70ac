// SPDX-License-Identifier: Apache-2.0
// OutputLines: what is done about cache lines of an output before tiles write them in part. What else such a line holds
// has to come from memory first, and tiles that have little to compute wait for it.
#pragma once

#include "backends/cpu/gemm/kernels/WeightPrefetcher.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tenon::cpu
{

/// Of a range of the rows of an output.
class OutputLines
{
public:
    /// Bytes of the whole output, and from one row to the next one; rows that are computed together, at most.
    /// `areWhole`: the range has all columns of its rows, which hold nothing yet that counts, lie one after the other
    /// without gaps, and are computed in that order.
    OutputLines(size_t bytes, size_t rowBytes, size_t blockRows, bool areWhole)
        : m_Bytes(bytes), m_RowBytes(rowBytes), m_BlockRows(blockRows),
          m_AreZeroed(areWhole && bytes > ThirdLevelBytes && rowBytes >= LeastRowBytes &&
                      rowBytes <= ZeroedBytes / DivideUp(blockRows, MostPieces) && ShareLines())
    {
    }

    /// Whether an output of so many bytes is in a cache close by, so that nothing is done about its lines.
    static bool AreNear(size_t bytes) { return bytes <= SecondLevelBytes; }

    /// Whether lines are best fetched a tile ahead, where tiles write more than they read.
    bool AreFetched() const
    {
        return !m_AreZeroed && !AreNear(m_Bytes) && m_RowBytes > MostSeenRowBytes && ShareLines();
    }

    /// How many rows are best computed together.
    size_t GetBlockRows() const { return m_AreZeroed ? std::min(m_BlockRows, ZeroedBytes / m_RowBytes) : m_BlockRows; }

    /// To be called before rows of the range are computed, of which this is the first one. Fills them with zeros where
    /// that is best: lines that are written whole, one after the other, need not come from memory. Products take 0.5 to
    /// 0.95 of their time by it where the output comes from memory, the more the less they compute, but up to 1.2 of it
    /// where it comes from a cache, and up to twice of it where zeros are no longer in one when the rows are written.
    void Prepare(void* first, size_t rows) const
    {
        if (m_AreZeroed && rows * m_RowBytes <= ZeroedBytes)
        {
            std::memset(first, 0, rows * m_RowBytes);
        }
    }

private:
    /// Bytes of an output that may be in the second-level cache, and in what a core has of the third.
    static constexpr size_t SecondLevelBytes = size_t{1} << 20;
    static constexpr size_t ThirdLevelBytes = size_t{8} << 20;
    /// Zeros that stay in the second level until the last tile has written its part of the rows.
    static constexpr size_t ZeroedBytes = SecondLevelBytes / 4 * 3;
    /// Of a block. With more, as of long rows, all weights would pass too often.
    static constexpr size_t MostPieces = 6;
    /// Shorter rows lie within a few lines, which tiles write soon after each other.
    static constexpr size_t LeastRowBytes = 256;
    /// Where five rows or more lie in a page, processors see by themselves which lines come next, and fetching these
    /// takes up to half as long again.
    static constexpr size_t MostSeenRowBytes = 816;

    /// Whether rows begin within lines, so that these hold ends of two rows.
    bool ShareLines() const { return m_RowBytes % LineBytes != 0; }

    size_t m_Bytes;
    size_t m_RowBytes;
    size_t m_BlockRows;
    bool m_AreZeroed;
};

} // namespace tenon::cpu
