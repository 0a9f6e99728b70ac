// SPDX-License-Identifier: Apache-2.0
// Pairs of split terms whose products fit int16 together. See SplitWeightsInt8.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// An order of terms.
struct TermOrder
{
    std::vector<uint32_t> m_Terms; ///< a permutation, paired terms first
    size_t m_NumTermPairs = 0;
};

/// `terms`: [numTerms][rowBytes] int8, two of which share a sum; rows are whole vectors.
TermOrder PairTerms(const std::byte* terms, size_t numTerms, size_t rowBytes);

} // namespace tenon::cpu
