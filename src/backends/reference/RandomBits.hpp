// SPDX-License-Identifier: Apache-2.0
// Counter-based generators of random bits: a block of numbers is a function of a key and a counter. The algorithms are
// from "Parallel Random Numbers: As Easy as 1, 2, 3" (Salmon, Moraes, Dror, Shaw; SC 2011). Used by Random, Multinomial
// and RngBitGenerator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

using RandomKey = std::array<uint32_t, 2>;

/// Philox4x32 with 10 rounds.
inline std::array<uint32_t, 4> Philox(RandomKey key, std::array<uint32_t, 4> counter)
{
    constexpr int Rounds = 10;
    for (int round = 0; round < Rounds; ++round)
    {
        const uint64_t first = uint64_t{0xD2511F53U} * counter[0];
        const uint64_t second = uint64_t{0xCD9E8D57U} * counter[2];
        counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(second),
                   static_cast<uint32_t>(first >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(first)};
        key[0] += 0x9E3779B9U;
        key[1] += 0xBB67AE85U;
    }
    return counter;
}

/// ThreeFry2x32 with 20 rounds.
inline std::array<uint32_t, 2> ThreeFry(RandomKey key, std::array<uint32_t, 2> counter)
{
    constexpr std::array<std::array<int, 4>, 2> Rotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
    const std::array<uint32_t, 3> keys = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAU};
    counter[0] += keys[0];
    counter[1] += keys[1];
    for (uint32_t group = 0; group < 5; ++group) // four rounds each, then a key
    {
        for (const int rotation : Rotations[group % 2])
        {
            counter[0] += counter[1];
            counter[1] = (counter[1] << rotation | counter[1] >> (32 - rotation)) ^ counter[0];
        }
        counter[0] += keys[(group + 1) % 3];
        counter[1] += keys[(group + 2) % 3] + group + 1;
    }
    return counter;
}

/// TensorFlow's sequence of numbers for two seeds: Philox with the first seed as key, and a 128-bit counter whose upper
/// half is the second seed. The numbers come in blocks of four.
class PhiloxSequence
{
public:
    PhiloxSequence(int64_t seed, int64_t seed2)
        : m_Key{static_cast<uint32_t>(seed), static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32)},
          m_Counter{0, 0, static_cast<uint32_t>(seed2), static_cast<uint32_t>(static_cast<uint64_t>(seed2) >> 32)}
    {
    }

    std::array<uint32_t, 4> Next()
    {
        const std::array<uint32_t, 4> block = Philox(m_Key, m_Counter);
        for (uint32_t& word : m_Counter) // + 1, with carry
        {
            if (++word != 0)
            {
                break;
            }
        }
        return block;
    }

private:
    RandomKey m_Key;
    std::array<uint32_t, 4> m_Counter;
};

} // namespace tenon::ref
