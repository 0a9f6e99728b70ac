// SPDX-License-Identifier: Apache-2.0
// See Ratio.hpp.
#include "tools/benchmark/Ratio.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tenon::tools
{
namespace
{

/// How many of the smallest and of the largest of n (n + 1) / 2 averages lie outside of the interval; 0 if no number
/// gives the confidence. The signed-rank statistic of n pairs is below it with a probability of (1 - RatioConfidence) /
/// 2 at most.
size_t CountOutside(size_t n)
{
    constexpr double tail = (1.0 - RatioConfidence) / 2.0;
    constexpr size_t maxExact = 60;
    const auto count = static_cast<double>(n);
    if (n > maxExact)
    {
        constexpr double quantile = 1.959963984540054; // of the normal distribution, at 0.975
        const double mean = count * (count + 1.0) / 4.0;
        const double deviation = std::sqrt(count * (count + 1.0) * (2.0 * count + 1.0) / 24.0);
        return static_cast<size_t>(mean - quantile * deviation);
    }
    // The number of subsets of 1..n by their sum.
    std::vector<double> subsets(n * (n + 1) / 2 + 1, 0.0);
    subsets[0] = 1.0;
    for (size_t rank = 1; rank <= n; ++rank)
    {
        for (size_t sum = subsets.size() - 1; sum >= rank; --sum)
        {
            subsets[sum] += subsets[sum - rank];
        }
    }
    const double all = std::ldexp(1.0, static_cast<int>(n));
    double below = 0.0;
    size_t outside = 0;
    while ((below + subsets[outside]) / all <= tail)
    {
        below += subsets[outside++];
    }
    return outside;
}

double MedianOfSorted(const std::vector<double>& sorted)
{
    const size_t middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
}

} // namespace

std::optional<Ratio> EstimateRatio(std::span<const double> times, std::span<const double> baseTimes)
{
    const size_t all = std::min(times.size(), baseTimes.size());
    if (all == 0)
    {
        return {};
    }
    std::vector<double> logarithms;
    for (size_t i = all - std::min(all, MaxRatioPairs); i < all; ++i)
    {
        logarithms.push_back(std::log(times[i] / baseTimes[i]));
    }
    std::vector<double> averages; // of all pairs of logarithms, those with themselves included
    averages.reserve(logarithms.size() * (logarithms.size() + 1) / 2);
    for (size_t i = 0; i < logarithms.size(); ++i)
    {
        for (size_t k = i; k < logarithms.size(); ++k)
        {
            averages.push_back((logarithms[i] + logarithms[k]) / 2.0);
        }
    }
    std::sort(averages.begin(), averages.end());
    Ratio ratio;
    ratio.m_Ratio = std::exp(MedianOfSorted(averages));
    if (const size_t outside = CountOutside(logarithms.size()); outside > 0)
    {
        ratio.m_Interval = {std::exp(averages[outside - 1]), std::exp(averages[averages.size() - outside])};
    }
    return ratio;
}

} // namespace tenon::tools
