// SPDX-License-Identifier: Apache-2.0
// Rows and pictures of histograms.
#include "tools/benchmark/Histogram.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tenon::tools
{
namespace
{

size_t Sum(const std::vector<HistogramRow>& rows, size_t series = 0)
{
    return std::accumulate(rows.begin(), rows.end(), size_t{0},
                           [&](size_t sum, const HistogramRow& row) { return sum + row.m_Counts[series]; });
}

TEST(Histogram, RowsAreRoundAndHoldAll)
{
    std::vector<double> values;
    for (int i = 0; i < 1000; ++i)
    {
        values.push_back(0.003105 + i * 1e-5);
    }
    values.push_back(7.0); // far off
    const std::vector<HistogramRow> rows = MakeHistogram({values});
    EXPECT_EQ(Sum(rows), 1001U);
    ASSERT_EQ(rows.size(), 12U) << "by 0.001, and one above";
    EXPECT_DOUBLE_EQ(rows[0].m_From, 0.003);
    EXPECT_DOUBLE_EQ(rows[0].m_To, 0.004);
    EXPECT_EQ(rows[0].m_Counts[0], 90U);
    EXPECT_EQ(rows[1].m_Counts[0], 100U);
    EXPECT_EQ(rows.back().m_Counts[0], 1U);
    EXPECT_EQ(rows.back().m_To, 7.0);
    for (size_t i = 1; i < rows.size(); ++i)
    {
        EXPECT_EQ(rows[i].m_From, rows[i - 1].m_To);
    }
}

TEST(Histogram, OfEqualValuesIsARow)
{
    const std::vector<HistogramRow> rows = MakeHistogram({{2.5, 2.5, 2.5}});
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].m_Counts[0], 3U);
    EXPECT_EQ(FormatHistogram(rows, {"x"}, 80),
              "latency, ms      inferences\n"
              "2.5000 - 2.5000  3           ########################################\n");
    EXPECT_TRUE(MakeHistogram({}).empty());
    EXPECT_TRUE(MakeHistogram({{}, {}}).empty());
    EXPECT_EQ(FormatHistogram({}, {}, 80), "");
}

TEST(Histogram, OfTwoSeriesHasTheSameRows)
{
    const std::vector<HistogramRow> rows = MakeHistogram({{1.0, 2.0, 3.0}, {2.0, 2.0, 4.0, 5.0}});
    EXPECT_EQ(Sum(rows, 0), 3U);
    EXPECT_EQ(Sum(rows, 1), 4U);
    const std::string text = FormatHistogram({{1.0, 2.0, {1, 4}}, {2.0, 3.0, {2, 0}}}, {"one", "two"}, 60);
    EXPECT_EQ(text, "latency, ms  inferences  one  inferences  two\n"
                    "1 - 2        1           ##   4           ######\n"
                    "2 - 3        2           ###  0\n");
}

TEST(Histogram, FitsIntoNarrowTerminals)
{
    const std::string text = FormatHistogram({{1.0, 2.0, {1000}}, {2.0, 3.0, {1}}}, {"x"}, 10);
    EXPECT_NE(text.find("1000        #####\n"), std::string::npos) << text;
    EXPECT_NE(text.find("1           #\n"), std::string::npos) << "no bar is too short to be seen\n" << text;
}

} // namespace
} // namespace tenon::tools
