// SPDX-License-Identifier: Apache-2.0
// Splits weights into terms whose products fit int16.
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"

#include "backends/cpu/gemm/pack/SplitLoopsInt8.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

namespace tenon::cpu
{

namespace
{

constexpr size_t GroupDepth = 4;
constexpr int MaxSum = MaxPairSum;

/// Takes one term out of a pair of weights.
std::array<int8_t, 2> TakeTerm(int16_t* pair)
{
    const int first = std::clamp<int>(pair[0], -MaxSum, MaxSum - 1);
    const int minimum = first < 0 ? -MaxSum - first : -MaxSum;
    const int maximum = first > 0 ? MaxSum - first : MaxSum - 1;
    const int second = std::clamp<int>(pair[1], minimum, maximum);
    pair[0] = static_cast<int16_t>(pair[0] - first);
    pair[1] = static_cast<int16_t>(pair[1] - second);
    return {static_cast<int8_t>(first), static_cast<int8_t>(second)};
}

size_t CountTermsOf(int16_t first, int16_t second)
{
    int16_t pair[] = {first, second};
    size_t terms = 0;
    for (; pair[0] != 0 || pair[1] != 0; ++terms)
    {
        TakeTerm(pair);
    }
    return terms;
}

/// Writes a term of a group and leaves the remainder.
void TakeGroup(int16_t* group, std::byte* to)
{
    for (size_t k = 0; k < GroupDepth; k += 2)
    {
        const std::array<int8_t, 2> term = TakeTerm(group + k);
        std::memcpy(to + k, term.data(), term.size());
    }
}

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

/// Greedy search: each term, the largest first, looks for a partner among the smallest that are left.
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

SplitPanelInt8::SplitPanelInt8(const uint8_t* columns, size_t count, const WeightFormatInt8& weights,
                               const MicrokernelsInt8& microkernels)
    : m_Columns(count), m_Groups(DivideUp(weights.m_Depth, GroupDepth)), m_Values(count * m_Groups * GroupDepth)
{
    const size_t pitch = m_Groups * GroupDepth;
    std::vector<int16_t> maxSums(pitch);
    std::vector<int16_t> minSums(pitch);
    for (size_t c = 0; c < count; ++c)
    {
        int16_t* const values = m_Values.data() + c * pitch;
        microkernels.m_Widen(columns + c * weights.m_Depth, weights.m_Depth, weights.m_IsSigned, weights.m_ZeroPoint,
                             values);
        GetSplitLoopsInt8().m_RaisePairSums(values, pitch, maxSums.data(), minSums.data());
    }
    for (size_t g = 0; g < m_Groups; ++g)
    {
        const size_t k = g * GroupDepth;
        if (std::max(maxSums[k], maxSums[k + 2]) >= MaxSum || std::min(minSums[k], minSums[k + 2]) < -MaxSum)
        {
            m_Large.push_back(static_cast<uint32_t>(g));
        }
    }
}

std::vector<uint32_t> SplitPanelInt8::FindTerms() const
{
    std::vector<uint32_t> groups(m_Groups);
    std::iota(groups.begin(), groups.end(), 0U);
    std::vector<size_t> maxTerms(m_Large.size(), 1); // the first term is there already
    for (size_t c = 0; c < m_Columns; ++c)
    {
        const int16_t* const column = m_Values.data() + c * m_Groups * GroupDepth;
        for (size_t i = 0; i < m_Large.size(); ++i)
        {
            const int16_t* const group = column + m_Large[i] * GroupDepth;
            maxTerms[i] = std::max({maxTerms[i], CountTermsOf(group[0], group[1]), CountTermsOf(group[2], group[3])});
        }
    }
    for (size_t i = 0; i < m_Large.size(); ++i)
    {
        groups.insert(groups.end(), maxTerms[i] - 1, m_Large[i]);
    }
    return groups;
}

size_t SplitPanelInt8::CountTerms() const
{
    return FindTerms().size();
}

void SplitPanelInt8::Pack(size_t width, size_t numTerms, std::byte* to)
{
    const std::vector<uint32_t> groups = FindTerms();
    if (groups.size() != numTerms)
    {
        throw ParseException("the packed weights have " + std::to_string(numTerms) + " terms where the weights have " +
                             std::to_string(groups.size()) +
                             "; delete the file of CachedNetworkFilePath, or save it anew with SaveCachedNetwork");
    }
    AlignedMemory words(m_Columns * m_Groups * GroupDepth); // [columns][groups] of first terms
    const auto at = [this](size_t column, size_t group) { return (column * m_Groups + group) * GroupDepth; };
    std::transform(m_Values.begin(), m_Values.end(), words.Data(),
                   [](int16_t value) { return static_cast<std::byte>(value); });
    for (size_t c = 0; c < m_Columns; ++c)
    {
        for (const uint32_t g : m_Large)
        {
            TakeGroup(m_Values.data() + at(c, g), words.Data() + at(c, g));
        }
    }
    const size_t rowBytes = width * GroupDepth;
    AlignedMemory terms(groups.size() * rowBytes);
    std::memset(terms.Data(), 0, terms.Bytes());
    TransposeWords(words.Data(), m_Groups * GroupDepth, m_Groups, m_Columns, terms.Data(), rowBytes);
    for (size_t t = m_Groups; t < groups.size(); ++t)
    {
        for (size_t c = 0; c < m_Columns; ++c)
        {
            TakeGroup(m_Values.data() + at(c, groups[t]), terms.Data() + t * rowBytes + c * GroupDepth);
        }
    }
    const TermOrder order = PairTerms(terms.Data(), groups.size(), rowBytes);
    const SplitHeader header = {static_cast<uint32_t>(groups.size()), static_cast<uint32_t>(order.m_NumTermPairs)};
    std::byte* const weights = to + GetSplitHeaderBytes(groups.size());
    std::memset(to, 0, GetSplitHeaderBytes(groups.size()));
    std::memcpy(to, &header, sizeof(header));
    for (size_t t = 0; t < groups.size(); ++t)
    {
        const uint32_t term = order.m_Terms[t];
        std::memcpy(to + sizeof(header) + t * sizeof(uint32_t), &groups[term], sizeof(uint32_t));
        std::memcpy(weights + t * rowBytes, terms.Data() + term * rowBytes, rowBytes);
    }
}

SplitCountsInt8::SplitCountsInt8(ColumnSumsInt8::GetColumns getColumns, const WeightFormatInt8& weights,
                                 const MicrokernelSetInt8& tiles, size_t percent, const MicrokernelsInt8& microkernels,
                                 backends::PackedStore& store)
    : m_Groups(DivideUp(weights.m_Depth, GroupDepth))
{
    const std::vector<PanelInt8> panels =
        CutPanelsInt8(weights.m_Columns, microkernels.m_Lanes, tiles, weights.m_Matrices);
    m_MaxTerms = panels.size() * m_Groups + panels.size() * m_Groups * percent / 100;
    const auto fill = [&](std::byte* to)
    {
        auto* const counts = reinterpret_cast<uint32_t*>(to);
        std::fill_n(counts, panels.size(), std::numeric_limits<uint32_t>::max()); // marks panels as too large
        size_t more = 0;
        for (size_t p = 0; p < panels.size(); ++p)
        {
            const PanelInt8& panel = panels[p];
            const SplitPanelInt8 split(getColumns(panel.m_Column, panel.m_Columns), panel.m_Columns, weights,
                                       microkernels);
            // Room for extra terms of two more panels than counted so far: the first panels may not be typical.
            const size_t room = std::min(p + 3, panels.size()) * m_Groups * percent / 100;
            const size_t minTerms = split.GetNumLarge() / 2; // few of these groups need no second term
            if (more + minTerms > room)
            {
                return;
            }
            const size_t terms = split.CountTerms();
            more += terms - m_Groups;
            if (more > room)
            {
                counts[0] = std::numeric_limits<uint32_t>::max();
                return;
            }
            counts[p] = static_cast<uint32_t>(terms);
        }
    };
    m_Block = store.GetBlock(panels.size() * sizeof(uint32_t), fill);
}

bool SplitCountsInt8::IsWorthwhile() const
{
    const auto* const counts = m_Block.As<uint32_t>();
    const auto* const end = counts + m_Block.Bytes() / sizeof(uint32_t);
    const uint64_t sum = std::accumulate(counts, end, uint64_t{0});
    return m_Block.Bytes() != 0 && sum <= m_MaxTerms &&
           std::all_of(counts, end, [this](uint32_t terms) { return terms >= m_Groups; });
}

bool IsSplitPanel(const std::byte* panel, size_t groups, size_t numTerms)
{
    const auto& header = *reinterpret_cast<const SplitHeader*>(panel);
    const auto* const terms = reinterpret_cast<const uint32_t*>(panel + sizeof(SplitHeader));
    return header.m_NumTerms == numTerms && 2 * size_t{header.m_NumTermPairs} <= numTerms &&
           std::all_of(terms, terms + numTerms, [groups](uint32_t group) { return group < groups; });
}

} // namespace tenon::cpu
