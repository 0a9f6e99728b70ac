// SPDX-License-Identifier: Apache-2.0
// Damaged files, for tests of readers: each byte by itself, or several places at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <set>
#include <vector>

namespace tenon::test
{

/// The file with one to `maxChanges` of its bytes or words replaced: by a random byte, by another of the file's aligned
/// words (an offset or a length that means something elsewhere), or by eight bytes from anywhere. The file must be
/// longer than eight bytes.
inline std::vector<uint8_t> MutateBytes(const std::vector<uint8_t>& file, std::mt19937& random, size_t maxChanges)
{
    std::vector<uint8_t> mutated = file;
    const size_t places = 1 + random() % maxChanges;
    for (size_t i = 0; i < places; ++i)
    {
        const size_t to = random() % (mutated.size() - 8);
        const size_t from = random() % (mutated.size() - 8);
        switch (random() % 3)
        {
        case 0: mutated[to] = static_cast<uint8_t>(random()); break;
        case 1: std::memcpy(mutated.data() + to / 4 * 4, file.data() + from / 4 * 4, 4); break;
        default: std::memmove(mutated.data() + to, mutated.data() + from, 8); break;
        }
    }
    return mutated;
}

/// Calls `test` with each of the values in the place of one byte of the file. Equal values, and the byte's own, are
/// left out: bytes are mostly 0.
template <typename Test>
void BendByte(std::vector<uint8_t>& file, size_t at, std::initializer_list<int> values, const Test& test)
{
    const uint8_t byte = file[at];
    std::set<uint8_t> bent;
    for (const int value : values)
    {
        bent.insert(static_cast<uint8_t>(value));
    }
    bent.erase(byte);
    for (const uint8_t value : bent)
    {
        file[at] = value;
        test();
    }
    file[at] = byte;
}

} // namespace tenon::test
