// SPDX-License-Identifier: Apache-2.0
// The ratio of paired times: known answers, and how often the interval is right.
#include "tools/benchmark/Ratio.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tenon::tools
{
namespace
{

/// The ratio of times whose logarithms differ by these.
Ratio EstimateOfLogarithms(const std::vector<double>& differences)
{
    std::vector<double> times;
    std::vector<double> baseTimes;
    for (const double difference : differences)
    {
        baseTimes.push_back(2.0 + static_cast<double>(times.size()));
        times.push_back(baseTimes.back() * std::exp(difference));
    }
    return EstimateRatio(times, baseTimes).value();
}

TEST(Ratio, OfEqualPairsIsExact)
{
    const Ratio ratio = EstimateRatio(std::vector<double>(12, 3.0), std::vector<double>(12, 2.0)).value();
    EXPECT_DOUBLE_EQ(ratio.m_Ratio, 1.5);
    ASSERT_TRUE(ratio.m_Interval.has_value());
    EXPECT_DOUBLE_EQ(ratio.m_Interval->m_Low, 1.5);
    EXPECT_DOUBLE_EQ(ratio.m_Interval->m_High, 1.5);
    EXPECT_FALSE(EstimateRatio({}, {}).has_value());
}

// The median, and the 9th smallest and largest, of the averages of all pairs: the signed-rank statistic of ten pairs is
// below 9 in 25 of 1024 cases, which is less than 2.5 %.
TEST(Ratio, OfTenPairs)
{
    std::vector<double> differences;
    for (int i = 1; i <= 10; ++i)
    {
        differences.push_back(i * 0.01);
    }
    const Ratio ratio = EstimateOfLogarithms(differences);
    EXPECT_NEAR(std::log(ratio.m_Ratio), 0.055, 1e-12);
    ASSERT_TRUE(ratio.m_Interval.has_value());
    EXPECT_NEAR(std::log(ratio.m_Interval->m_Low), 0.03, 1e-12);
    EXPECT_NEAR(std::log(ratio.m_Interval->m_High), 0.08, 1e-12);
}

TEST(Ratio, FivePairsAreTooFew)
{
    EXPECT_FALSE(EstimateOfLogarithms({0.1, 0.2, 0.3, 0.4, 0.5}).m_Interval.has_value());
    const Ratio six = EstimateOfLogarithms({0.1, 0.2, 0.3, 0.4, 0.5, 0.6});
    ASSERT_TRUE(six.m_Interval.has_value());
    EXPECT_NEAR(std::log(six.m_Interval->m_Low), 0.1, 1e-12) << "the ends of all";
    EXPECT_NEAR(std::log(six.m_Interval->m_High), 0.6, 1e-12);
}

TEST(Ratio, OneOutlierHardlyMovesIt)
{
    std::vector<double> differences(20, 0.1);
    differences[7] = 5.0;
    const Ratio ratio = EstimateOfLogarithms(differences);
    EXPECT_NEAR(std::log(ratio.m_Ratio), 0.1, 1e-12);
    EXPECT_NEAR(std::log(ratio.m_Interval->m_High), 0.1, 1e-12);
}

TEST(Ratio, OfTheLastOfVeryManyPairs)
{
    std::vector<double> times(MaxRatioPairs, 1.0);
    std::vector<double> baseTimes(2 * MaxRatioPairs, 1.0);
    times.insert(times.end(), MaxRatioPairs, 2.0);
    EXPECT_DOUBLE_EQ(EstimateRatio(times, baseTimes)->m_Ratio, 2.0);
}

/// How many of 400 intervals of `numPairs` normal differences hold the true ratio.
int CountHits(size_t numPairs)
{
    std::mt19937 generator(static_cast<unsigned int>(numPairs));
    std::normal_distribution<double> noise(0.2, 0.05);
    int hits = 0;
    for (int i = 0; i < 400; ++i)
    {
        std::vector<double> differences(numPairs);
        for (double& difference : differences)
        {
            difference = noise(generator);
        }
        const Ratio ratio = EstimateOfLogarithms(differences);
        hits += std::log(ratio.m_Interval->m_Low) <= 0.2 && std::log(ratio.m_Interval->m_High) >= 0.2 ? 1 : 0;
    }
    return hits;
}

TEST(Ratio, TheIntervalHoldsTheTrueOneAsOftenAsItSays)
{
    for (const size_t numPairs : {10, 30, 61, 100})
    {
        const int hits = CountHits(numPairs);
        EXPECT_GE(hits, 365) << numPairs << " pairs";
        EXPECT_LE(hits, 396) << numPairs << " pairs";
    }
}

} // namespace
} // namespace tenon::tools
