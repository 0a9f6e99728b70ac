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
class AllPairsInt8
{
public:
    AllPairsInt8(const BinaryInt8& numbers, BinaryInt8::Loop loop) : AllPairsInt8()
    {
        for (size_t a = 0; a < Values; ++a)
        {
            RunRow(numbers, loop, a, m_Results.data() + a * Values);
        }
    }

    AllPairsInt8(const BinaryInt8& numbers, BinaryInt8::AllPairs run) : AllPairsInt8()
    {
        run(numbers, m_Results.data());
    }

    /// True if the other loop gives the same results.
    bool Agrees(const BinaryInt8& numbers, BinaryInt8::Loop loop) const
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

    AllPairsInt8() : m_Results(Values * Values) { std::iota(m_All.begin(), m_All.end(), uint8_t{0}); }

    void RunRow(const BinaryInt8& numbers, BinaryInt8::Loop loop, size_t a, uint8_t* out) const
    {
        std::array<uint8_t, Values> same{};
        same.fill(m_All[a]);
        loop(numbers, same.data(), m_All.data(), out, Values);
    }

    std::array<uint8_t, Values> m_All{};
    std::vector<uint8_t> m_Results;
};

} // namespace tenon::cpu
