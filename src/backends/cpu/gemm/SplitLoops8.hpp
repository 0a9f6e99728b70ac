// SPDX-License-Identifier: Apache-2.0
// What splitting of weights (SplitWeights8.hpp) spends its time in. The load of a pair of weights is what those of one
// sign add up to.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The most that weights of one sign may add up to that share a sum of 16 bits, less at the positive end where one has
/// it alone: bytes of data are at most 255, and 255 * 128 < 2^15.
constexpr int MostSplitLoad = 128;

struct SplitLoops8
{
    /// Where `count` values, an even number, have loads beyond those of `most` and `least`, at the place of the pair's
    /// first one, these become theirs. What stands at the second one has no meaning.
    void (*m_RaiseLoads)(const int16_t* values, size_t count, int16_t* most, int16_t* least) = nullptr;
    /// loads[i], loads[i + 1] = of the positive and the negative ones of the pair `term`[i, i + 1], whole vectors of
    /// int8. Returns the largest.
    uint8_t (*m_FindLoads)(const std::byte* term, size_t bytes, uint8_t* loads) = nullptr;
    /// Whether no sum of two loads exceeds MostSplitLoad; whole vectors.
    bool (*m_FitTogether)(const uint8_t* some, const uint8_t* others, size_t bytes) = nullptr;
};

/// Precondition: the processor has vectors, see CpuFeatures.
const SplitLoops8& GetSplitLoops8();

} // namespace tenon::cpu
