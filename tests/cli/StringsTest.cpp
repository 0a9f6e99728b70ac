// SPDX-License-Identifier: Apache-2.0
// Lists and text from hostile files.
#include "cli/Strings.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tenon::cli
{
namespace
{

TEST(Strings, SplitTrimsAndKeepsEmptyParts)
{
    EXPECT_EQ(Split("", ','), std::vector<std::string>{});
    EXPECT_EQ(Split("a, b ,c", ','), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(Split(",a,", ','), (std::vector<std::string>{"", "a", ""}));
}

TEST(Strings, OneLineStaysOneLine)
{
    EXPECT_EQ(OneLine("a\nb\x1b[31m\r\n"), "a; b?[31m");
    EXPECT_EQ(OneLine("two fail:\n  a: no\r\n  b: no"), "two fail: a: no; b: no");
    EXPECT_EQ(OneLine("Größe"), "Größe");
}

TEST(Strings, Endings)
{
    EXPECT_TRUE(EndsWithNoCase("X.NPY", ".npy"));
    EXPECT_FALSE(EndsWithNoCase("npy", ".npy"));
}

TEST(Strings, Lists)
{
    EXPECT_EQ(QuotedList({}), "");
    EXPECT_EQ(QuotedList({"a"}), "'a'");
    EXPECT_EQ(QuotedList({"a", "b", "c"}), "'a', 'b' and 'c'");
}

} // namespace
} // namespace tenon::cli
