// SPDX-License-Identifier: Apache-2.0
// OutputLines: what is done about cache lines of an output before tiles write them in part. What else such a line holds
// has to come from memory first, and tiles that have little to compute wait for it.
#pragma once

#include "backends/cpu/gemm/NextWeights.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tenon::cpu
{

/// Of an output whose rows lie one after the other.
class OutputLines
{
public:
    OutputLines(size_t bytes, size_t rowBytes) : m_Bytes(bytes), m_RowBytes(rowBytes) {}

    /// Whether lines are best fetched a tile ahead, where tiles write more than they read.
    bool AreFetched() const
    {
        return m_Bytes > SecondLevelBytes && !AreZeroed() && m_RowBytes > MostSeenRowBytes && RowsShareLines();
    }

    /// Whether rows are best filled with zeros before: lines that are written whole, one after the other, need not come
    /// from memory. Products take 0.5 to 0.95 of their time by it where the output comes from memory, the more the less
    /// they compute, and up to 1.2 of it where it comes from a cache.
    bool AreZeroed() const { return m_Bytes > ThirdLevelBytes && m_RowBytes >= LeastRowBytes && RowsShareLines(); }

    /// Rows that are computed together, `least` at least, or zeros would be back in memory by then.
    size_t LimitRows(size_t rows, size_t least) const
    {
        return AreZeroed() ? std::min(rows, std::max(ZeroedBytes / m_RowBytes, least)) : rows;
    }

    /// Before whole rows are computed, from this one on; what they held is lost.
    void Prepare(void* first, size_t rows) const
    {
        if (AreZeroed())
        {
            std::memset(first, 0, rows * m_RowBytes);
        }
    }

private:
    /// Bytes of an output that may be in the second-level cache, and in what a core has of the third.
    static constexpr size_t SecondLevelBytes = size_t{1} << 20;
    static constexpr size_t ThirdLevelBytes = size_t{8} << 20;
    /// Shorter rows lie within a few lines, which tiles write soon after each other.
    static constexpr size_t LeastRowBytes = 256;
    /// Where five rows or more lie in a page, processors see by themselves which lines come next, and fetching these
    /// takes up to half as long again.
    static constexpr size_t MostSeenRowBytes = 816;
    static constexpr size_t ZeroedBytes = SecondLevelBytes / 2;

    /// Lines hold ends of two rows, and are written in part at least twice.
    bool RowsShareLines() const { return m_RowBytes % LineBytes != 0; }

    size_t m_Bytes;    ///< of the output
    size_t m_RowBytes; ///< from one row to the next one
};

} // namespace tenon::cpu
