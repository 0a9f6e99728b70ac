// SPDX-License-Identifier: Apache-2.0
// The line of a progress, for terminals of any width.
#include "tools/common/Progress.hpp"

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

TEST(Progress, ShowsFilesRateAndTimeLeft)
{
    EXPECT_EQ(FormatProgress(0, 90, 0.0, 79), "[..............................] 0/90 files");
    EXPECT_EQ(FormatProgress(45, 90, 12.5, 79), "[###############...............] 45/90 files  12.5/s  4 s left");
    EXPECT_EQ(FormatProgress(90, 90, 250.0, 79), "[##############################] 90/90 files  250/s  0 s left");
    EXPECT_EQ(FormatProgress(3, 90, 0.0, 79, "runs"), "[#.............................] 3/90 runs");
    EXPECT_EQ(FormatProgress(0, 0, 0.0, 79), "[##############################] 0/0 files");
}

TEST(Progress, LongTimes)
{
    EXPECT_NE(FormatProgress(0, 200, 1.0, 79).find("  3:20 left"), std::string::npos);
    EXPECT_NE(FormatProgress(0, 3800, 1.0, 79).find("  1:03:20 left"), std::string::npos);
    EXPECT_NE(FormatProgress(0, 1000000, 1e-9, 79).find("  100:00:00 left"), std::string::npos);
}

TEST(Progress, FitsIntoTheTerminal)
{
    const std::string text = "45/90 files  12.5/s  4 s left";
    EXPECT_EQ(FormatProgress(45, 90, 12.5, text.size() + 7), "[##..] " + text);
    EXPECT_EQ(FormatProgress(45, 90, 12.5, text.size() + 6), text);
    EXPECT_EQ(FormatProgress(45, 90, 12.5, 11), "45/90 files");
    EXPECT_EQ(FormatProgress(45, 90, 12.5, 0), "");
}

} // namespace
} // namespace tenon::tools
