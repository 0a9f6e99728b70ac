// SPDX-License-Identifier: Apache-2.0
// See Histogram.hpp.
#include "tools/benchmark/Histogram.hpp"

#include "tools/common/Statistics.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon::tools
{
namespace
{

constexpr size_t NumRows = 10;

/// The smallest of 1, 2 and 5 times a power of ten that is `width` at least.
double RoundUp(double width)
{
    const double power = std::pow(10.0, std::floor(std::log10(width)));
    for (const double step : {1.0, 2.0, 5.0})
    {
        if (step * power >= width)
        {
            return step * power;
        }
    }
    return 10.0 * power;
}

void Count(std::vector<HistogramRow>& rows, const std::vector<double>& values, size_t series)
{
    for (const double value : values)
    {
        const auto behind =
            std::find_if(rows.begin(), rows.end() - 1, [&](const HistogramRow& row) { return value < row.m_To; });
        ++behind->m_Counts[series];
    }
}

/// As many digits as tell the ends of rows apart.
int CountDigits(const std::vector<HistogramRow>& rows)
{
    const double width = rows.front().m_To - rows.front().m_From;
    constexpr int digitsOfEqual = 4;
    return width > 0.0 ? std::max(0, static_cast<int>(-std::floor(std::log10(width) + 1e-9))) : digitsOfEqual;
}

} // namespace

std::vector<HistogramRow> MakeHistogram(const std::vector<std::vector<double>>& series)
{
    std::vector<Statistics> all;
    for (const std::vector<double>& values : series)
    {
        if (const std::optional<Statistics> statistics = ComputeStatistics(values))
        {
            all.push_back(*statistics);
        }
    }
    if (all.empty())
    {
        return {};
    }
    double min = all.front().m_Min;
    double end = all.front().m_Median;
    double max = all.front().m_Max;
    for (const Statistics& statistics : all)
    {
        const double far = statistics.m_P90 + 2.0 * (statistics.m_P90 - statistics.m_Median);
        min = std::min(min, statistics.m_Min);
        end = std::max(end, std::min(far, statistics.m_P99));
        max = std::max(max, statistics.m_Max);
    }
    std::vector<HistogramRow> rows;
    const std::vector<size_t> none(series.size());
    if (end > min)
    {
        const double step = RoundUp((end - min) / static_cast<double>(NumRows));
        const double start = std::floor(min / step);
        for (double i = start; i * step <= end; ++i)
        {
            rows.push_back({i * step, (i + 1.0) * step, none});
        }
    }
    if (rows.empty() || max >= rows.back().m_To)
    {
        rows.push_back({rows.empty() ? min : rows.back().m_To, max, none});
    }
    for (size_t i = 0; i < series.size(); ++i)
    {
        Count(rows, series[i], i);
    }
    return rows;
}

std::string FormatHistogram(const std::vector<HistogramRow>& rows, const std::vector<std::string>& names, size_t width)
{
    if (rows.empty())
    {
        return {};
    }
    constexpr size_t maxBar = 40;
    constexpr size_t minBar = 5;
    constexpr size_t widthOfRest = 24; // of the values and of a count
    const size_t numSeries = rows.front().m_Counts.size();
    const size_t bar = std::clamp(std::max(width, widthOfRest * numSeries) / numSeries - widthOfRest, minBar, maxBar);
    size_t largest = 1;
    for (const HistogramRow& row : rows)
    {
        largest = std::max(largest, *std::max_element(row.m_Counts.begin(), row.m_Counts.end()));
    }
    TextRows cells = {{"latency, ms"}};
    for (size_t i = 0; i < numSeries; ++i)
    {
        cells.front().insert(cells.front().end(), {"inferences", numSeries > 1 ? names[i] : ""});
    }
    const int digits = CountDigits(rows);
    for (const HistogramRow& row : rows)
    {
        std::vector<std::string> line = {fmt::format("{:.{}f} - {:.{}f}", row.m_From, digits, row.m_To, digits)};
        for (const size_t count : row.m_Counts)
        {
            const size_t length = (count * bar + largest - 1) / largest;
            line.insert(line.end(), {std::to_string(count), std::string(length, '#')});
        }
        cells.push_back(line);
    }
    return FormatRows(cells);
}

} // namespace tenon::tools
