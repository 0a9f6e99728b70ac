// SPDX-License-Identifier: Apache-2.0
// AllPairsInt8: the results of a loop for all 65,536 pairs of bytes, and whether another loop gives the same. This is
// the proof by exhaustion that lets BinaryInt8 use float loops. Called when a layer is prepared.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tenon::cpu
{

/// The results of a loop for all pairs of bytes. Neither input is a single element.
class BytePairs
{
public:
    BytePairs(const ByteBinary& numbers, ByteBinary::Loop loop) : BytePairs()
    {
        for (size_t a = 0; a < Values; ++a)
        {
            RunRow(numbers, loop, a, m_Results.data() + a * Values);
        }
    }

    BytePairs(const ByteBinary& numbers, ByteBinary::AllPairs run) : BytePairs() { run(numbers, m_Results.data()); }

    /// True if the other loop gives the same results.
    bool Agrees(const ByteBinary& numbers, ByteBinary::Loop loop) const
    {
        std::array<uint8_t, Values> row{};
        for (size_t a = 0; a < Values; ++a)
        {
            RunRow(numbers, loop, a, row.data());
            if (!std::equal(row.begin(), row.end(), m_Results.data() + a * Values))
            {
                return false;
            }
        }
        return true;
    }

private:
    static constexpr size_t Values = 256;

    BytePairs() : m_Results(Values * Values) { std::iota(m_All.begin(), m_All.end(), uint8_t{0}); }

    void RunRow(const ByteBinary& numbers, ByteBinary::Loop loop, size_t a, uint8_t* out) const
    {
        std::array<uint8_t, Values> same{};
        same.fill(m_All[a]);
        loop(numbers, same.data(), m_All.data(), out, Values);
    }

    std::array<uint8_t, Values> m_All{};
    std::vector<uint8_t> m_Results;
};

} // namespace tenon::cpu
