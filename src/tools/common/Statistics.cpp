// SPDX-License-Identifier: Apache-2.0
// See Statistics.hpp.
#include "tools/common/Statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace tenon::tools
{
namespace
{

/// The value below which a fraction of the sorted values lies.
double Percentile(const std::vector<double>& sorted, double fraction)
{
    const double position = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(position);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

} // namespace

std::optional<Statistics> ComputeStatistics(std::vector<double> values)
{
    if (values.empty())
    {
        return {};
    }
    std::sort(values.begin(), values.end());
    const auto count = static_cast<double>(values.size());
    Statistics statistics;
    statistics.m_Min = values.front();
    statistics.m_Median = Percentile(values, 0.5);
    statistics.m_Mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    statistics.m_P90 = Percentile(values, 0.9);
    statistics.m_P99 = Percentile(values, 0.99);
    statistics.m_Max = values.back();
    double squares = 0.0;
    for (const double value : values)
    {
        squares += (value - statistics.m_Mean) * (value - statistics.m_Mean);
    }
    statistics.m_Std = std::sqrt(squares / count);
    return statistics;
}

} // namespace tenon::tools
