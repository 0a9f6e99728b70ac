// SPDX-License-Identifier: Apache-2.0
// Greedy search: each term, the largest first, looks for a partner among the smallest that are left.
#include "backends/cpu/gemm/pack/SplitTermPairsInt8.hpp"

#include "backends/cpu/gemm/pack/SplitLoopsInt8.hpp"

#include <array>
#include <numeric>

namespace tenon::cpu
{

namespace
{

/// Sorts terms by their largest pair sum, in descending order.
std::vector<uint32_t> SortBySum(const std::vector<uint8_t>& largest)
{
    std::array<uint32_t, MaxPairSum + 1> places = {}; // index of the next term with this sum
    for (const uint8_t sum : largest)
    {
        ++places[MaxPairSum - sum];
    }
    std::exclusive_scan(places.begin(), places.end(), places.begin(), 0U);
    std::vector<uint32_t> sorted(largest.size());
    for (size_t t = 0; t < largest.size(); ++t)
    {
        sorted[places[MaxPairSum - largest[t]]++] = static_cast<uint32_t>(t);
    }
    return sorted;
}

} // namespace

TermOrder PairTerms(const std::byte* terms, size_t numTerms, size_t rowBytes)
{
    // With 32 tries 83 to 94 % of the terms of MobileNets with one scale find a partner; with all tries few more do.
    constexpr size_t MaxTries = 32;
    std::vector<uint8_t> sums(numTerms * rowBytes);
    std::vector<uint8_t> largest(numTerms);
    const SplitLoopsInt8& loops = GetSplitLoopsInt8();
    for (size_t t = 0; t < numTerms; ++t)
    {
        largest[t] = loops.m_FindPairSums(terms + t * rowBytes, rowBytes, sums.data() + t * rowBytes);
    }
    const std::vector<uint32_t> sorted = SortBySum(largest);
    // Indices in `sorted` that are left, as a list from the back: index + 1, or 0 at the end.
    std::vector<uint32_t> previous(numTerms + 1);
    std::iota(previous.begin() + 1, previous.end(), 0U);
    std::vector<bool> isTaken(numTerms);
    uint32_t back = static_cast<uint32_t>(numTerms);
    TermOrder order;
    std::vector<uint32_t> single;
    for (uint32_t i = 0; i < numTerms; ++i)
    {
        if (isTaken[i])
        {
            continue;
        }
        const uint8_t* const own = sums.data() + sorted[i] * rowBytes;
        uint32_t* link = &back;
        size_t tries = 0;
        while (*link > i + 1 && tries < MaxTries &&
               !loops.m_FitTogether(own, sums.data() + sorted[*link - 1] * rowBytes, rowBytes))
        {
            link = &previous[*link];
            ++tries;
        }
        if (*link <= i + 1 || tries == MaxTries)
        {
            single.push_back(sorted[i]);
            continue;
        }
        const uint32_t place = *link - 1;
        isTaken[place] = true;
        *link = previous[*link];
        order.m_Terms.push_back(sorted[i]);
        order.m_Terms.push_back(sorted[place]);
        ++order.m_NumTermPairs;
    }
    order.m_Terms.insert(order.m_Terms.end(), single.begin(), single.end());
    return order;
}

} // namespace tenon::cpu
