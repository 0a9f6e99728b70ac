// SPDX-License-Identifier: Apache-2.0
// Options as people write them: lists, flags, the nearest known word, and remarks.
#include "text/Nearest.hpp"
#include "text/OptionWords.hpp"
#include "text/Remarks.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tenon::text
{
namespace
{

using Words = std::vector<std::string>;

TEST(OptionWords, SplitTrimsAndKeepsEmptyParts)
{
    EXPECT_EQ(Split("", ','), std::vector<std::string>{});
    EXPECT_EQ(Split("a, b ,c", ','), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(Split(",a,", ','), (std::vector<std::string>{"", "a", ""}));
}

TEST(OptionWords, FlagsOfManySpellings)
{
    for (const char* text : {"true", "True", "TRUE", "1", "on", "yes"})
    {
        EXPECT_EQ(ParseFlag(text), true) << text;
    }
    for (const char* text : {"false", "False", "FALSE", "0", "off", "no"})
    {
        EXPECT_EQ(ParseFlag(text), false) << text;
    }
    for (const char* text : {"", "2", "tRUE", " true", "None"})
    {
        EXPECT_EQ(ParseFlag(text), std::nullopt) << text;
    }
}

TEST(Nearest, EditsAreCounted)
{
    EXPECT_EQ(EditDistance("", ""), 0U);
    EXPECT_EQ(EditDistance("", "abc"), 3U);
    EXPECT_EQ(EditDistance("abc", "abc"), 0U);
    EXPECT_EQ(EditDistance("abc", "ac"), 1U);
    EXPECT_EQ(EditDistance("abc", "axc"), 1U);
    EXPECT_EQ(EditDistance("abc", "acb"), 1U) << "neighbours are swapped";
    EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(Nearest, FewestEditsOrAPart)
{
    const Words known = {"labels", "top-k", "number-of-threads", "N", "n"};
    EXPECT_EQ(FindNearest("labls", known), "labels");
    EXPECT_EQ(FindNearest("LABELS", known), "labels");
    EXPECT_EQ(FindNearest("threads", known), "number-of-threads");
    EXPECT_EQ(FindNearest("n", known), "n");
    EXPECT_EQ(FindNearest("N", known), "N");
    EXPECT_EQ(FindNearest(std::string(10000, 'x'), known), std::nullopt);
    EXPECT_EQ(FindNearest("treads", known), "number-of-threads");
    EXPECT_EQ(FindNearest("of-treads", known), "number-of-threads");
    EXPECT_EQ(FindNearest("label", {"read-label", "labels"}), "read-label") << "equally near: the first";
    EXPECT_EQ(FindNearest("labels", {"read-labels", "labels"}), "labels");
}

TEST(Nearest, NothingIsNearBeyondAThirdOfTheLength)
{
    const Words known = {"labels", "top-k", "number-of-threads", "n"};
    for (const char* word : {"", "x", "zzz", "lb", "lbls", "labaaa", "bogus", "quiet"})
    {
        EXPECT_EQ(FindNearest(word, known), std::nullopt) << word;
    }
    EXPECT_EQ(FindNearest("lab1es", known), "labels");
    EXPECT_EQ(FindNearest("lqbe1s", known), "labels");
    EXPECT_EQ(FindNearest("n", {}), std::nullopt);
}

TEST(Remarks, OneLineForEachText)
{
    Remarks remarks;
    EXPECT_EQ(remarks.Lines(), Words{});
    remarks.Add("a", "no effect");
    remarks.Add("b", "done anyway");
    remarks.Add("c", "no effect");
    EXPECT_EQ(remarks.Lines(), (Words{"a, c: no effect", "b: done anyway"}));
}

} // namespace
} // namespace tenon::text
