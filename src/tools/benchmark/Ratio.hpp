// SPDX-License-Identifier: Apache-2.0
// The ratio of two times that were measured in pairs, with its confidence interval.
#pragma once

#include <optional>
#include <span>

namespace tenon::tools
{

struct Ratio
{
    struct Interval
    {
        double m_Low = 1.0;
        double m_High = 1.0;
    };

    double m_Ratio = 1.0;
    /// Holds the true ratio with a probability of RatioConfidence at least; nothing for less than six pairs, which
    /// cannot give it.
    std::optional<Interval> m_Interval;
};

constexpr double RatioConfidence = 0.95;

/// The Hodges-Lehmann estimate of the ratio of `times` by `baseTimes`, and the interval that belongs to it, of
/// Wilcoxon's signed-rank test: by the logarithms of the ratios of pairs, which are taken for symmetric around the true
/// one. A pair is two times of the same index, above 0; of very many pairs the last MaxRatioPairs count. Nothing for no
/// pairs.
std::optional<Ratio> EstimateRatio(std::span<const double> times, std::span<const double> baseTimes);
constexpr size_t MaxRatioPairs = 2000;

} // namespace tenon::tools
