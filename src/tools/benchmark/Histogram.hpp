// SPDX-License-Identifier: Apache-2.0
// A histogram of latencies, drawn in characters.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

struct HistogramRow
{
    double m_From = 0.0;
    double m_To = 0.0;            ///< not included, but in the last row
    std::vector<size_t> m_Counts; ///< of each series
};

/// About ten rows of equal, round width from the smallest value to the 99th percentile of a series, but not far above
/// its 90th one, and a last one for the values above, if there are some. A single row if all values are the same, none
/// without values.
std::vector<HistogramRow> MakeHistogram(const std::vector<std::vector<double>>& series);

/// A title, and a line for each row: its values, and the count and a bar for each series. `names` are those of the
/// series; none are shown of a single one. Bars are as long as lines of `width` let them be, and 40 characters at most.
std::string FormatHistogram(const std::vector<HistogramRow>& rows, const std::vector<std::string>& names, size_t width);

} // namespace tenon::tools
