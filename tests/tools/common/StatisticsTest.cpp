// SPDX-License-Identifier: Apache-2.0
// Figures of repeated measurements.
#include "tools/common/Statistics.hpp"

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

TEST(Statistics, OfSomeValues)
{
    EXPECT_FALSE(ComputeStatistics({}).has_value());
    const Statistics one = ComputeStatistics({3.0}).value();
    EXPECT_EQ(one.m_Min, 3.0);
    EXPECT_EQ(one.m_P90, 3.0);
    EXPECT_EQ(one.m_Std, 0.0);
    const Statistics some = ComputeStatistics({4.0, 1.0, 3.0, 2.0}).value();
    EXPECT_EQ(some.m_Min, 1.0);
    EXPECT_EQ(some.m_Median, 2.5);
    EXPECT_EQ(some.m_Mean, 2.5);
    EXPECT_DOUBLE_EQ(some.m_P90, 3.7);
    EXPECT_DOUBLE_EQ(some.m_P99, 3.97);
    EXPECT_EQ(some.m_Max, 4.0);
    EXPECT_DOUBLE_EQ(some.m_Std, 1.1180339887498949);
}

} // namespace
} // namespace tenon::tools
