// SPDX-License-Identifier: Apache-2.0
// Loops that split weights (SplitWeightsInt8.hpp): sums of pairs of weights, separately for positive and negative ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Largest sum of the weights of one sign that share an int16 sum, as 255 * 128 < 2^15 and data are at most 255. A
/// single positive weight is at most 127.
constexpr int MaxPairSum = 128;

struct SplitLoopsInt8
{
    /// For each pair of `count` values (an even number), raises `maxSums` and lowers `minSums` to the pair's sums, at
    /// the index of its first value. The result at the second index has no meaning.
    void (*m_RaisePairSums)(const int16_t* values, size_t count, int16_t* maxSums, int16_t* minSums) = nullptr;
    /// sums[i], sums[i + 1] = the magnitudes of the pair sums of `term`[i, i + 1], whole vectors of int8. Returns the
    /// largest.
    uint8_t (*m_FindPairSums)(const std::byte* term, size_t bytes, uint8_t* sums) = nullptr;
    /// Whether no two of them add up to more than MaxPairSum; whole vectors.
    bool (*m_FitTogether)(const uint8_t* some, const uint8_t* others, size_t bytes) = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
const SplitLoopsInt8& GetSplitLoopsInt8();

} // namespace tenon::cpu
