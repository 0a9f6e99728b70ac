// SPDX-License-Identifier: Apache-2.0
// Figures of repeated measurements.
#pragma once

#include <optional>
#include <vector>

namespace tenon::tools
{

struct Statistics
{
    double m_Min = 0.0;
    double m_Median = 0.0;
    double m_Mean = 0.0;
    double m_P90 = 0.0;
    double m_P99 = 0.0;
    double m_Max = 0.0;
    double m_Std = 0.0;
};

/// Percentiles are interpolated between neighbours, as in NumPy; the standard deviation is the population's (divided by
/// the number of values). There are no statistics without values.
std::optional<Statistics> ComputeStatistics(std::vector<double> values);

} // namespace tenon::tools
