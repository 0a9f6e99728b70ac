// SPDX-License-Identifier: Apache-2.0
// What splitting of weights (SplitWeightsInt8.hpp) spends its time in: the sums of pairs of weights, of the positive
// ones and of the negative ones apart.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The most that weights of one sign may add up to that share a sum of 16 bits, less at the positive end where one has
/// it alone: bytes of data are at most 255, and 255 * 128 < 2^15.
constexpr int MostPairSum = 128;

struct SplitLoops8
{
    /// Where `count` values, an even number, have sums beyond those of `most` and `least`, at the place of the pair's
    /// first one, these become theirs. What stands at the second one has no meaning.
    void (*m_RaisePairSums)(const int16_t* values, size_t count, int16_t* most, int16_t* least) = nullptr;
    /// sums[i], sums[i + 1] = the magnitudes of those of the pair `term`[i, i + 1], whole vectors of int8. Returns the
    /// largest.
    uint8_t (*m_FindPairSums)(const std::byte* term, size_t bytes, uint8_t* sums) = nullptr;
    /// Whether no two of them add up to more than MostPairSum; whole vectors.
    bool (*m_FitTogether)(const uint8_t* some, const uint8_t* others, size_t bytes) = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
const SplitLoops8& GetSplitLoops8();

} // namespace tenon::cpu
