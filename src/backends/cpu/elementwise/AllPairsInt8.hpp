// SPDX-License-Identifier: Apache-2.0
// What a loop gives for all pairs of bytes, for comparison with what another one gives.
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

/// The results of a loop for two inputs that move.
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

    /// Whether another one gives the same.
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
