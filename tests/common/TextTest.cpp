// SPDX-License-Identifier: Apache-2.0
// Options as people write them: lists, flags, the nearest known word, and remarks.
#include "text/Nearest.hpp"
#include "text/OptionWords.hpp"
#include "text/Remarks.hpp"
#include "text/Utf8.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace tenon::text
{
namespace
{

using Words = std::vector<std::string>;

TEST(Utf8, CharactersHaveOneToFourBytes)
{
    const std::string text = "aö€😀";
    EXPECT_EQ(Utf8Length(text, 0), 1U);
    EXPECT_EQ(Utf8Length(text, 1), 2U);
    EXPECT_EQ(Utf8Length(text, 3), 3U);
    EXPECT_EQ(Utf8Length(text, 6), 4U);
    EXPECT_EQ(Utf8Length(text, 2), 0U) << "within a character";
    EXPECT_EQ(Utf8Length("\xC3", 0), 0U) << "cut off";
    EXPECT_EQ(Utf8Length("\xC0\x80", 0), 0U) << "longer than needed";
    EXPECT_EQ(Utf8Length("\xE0\x9F\xBF", 0), 0U) << "longer than needed";
    EXPECT_EQ(Utf8Length("\xED\xA0\x80", 0), 0U) << "half of a pair of UTF-16";
    EXPECT_EQ(Utf8Length("\xF4\x90\x80\x80", 0), 0U) << "past the last character";
    EXPECT_EQ(Utf8Length("\xFF", 0), 0U);
}

TEST(Utf8, TextsAreCutBetweenCharacters)
{
    const std::string text = "aö€😀";
    const std::string wanted[] = {"", "a", "a", "aö", "aö", "aö", "aö€", "aö€", "aö€", "aö€", "aö€😀", "aö€😀"};
    for (size_t bytes = 0; bytes < std::size(wanted); ++bytes)
    {
        EXPECT_EQ(CutAtCharacter(text, bytes), wanted[bytes]) << bytes;
    }
    EXPECT_EQ(CutAtCharacter("\x80\x80\x80\x80", 3), "\x80\x80\x80") << "no characters, so none is cut";
    EXPECT_EQ(CutAtCharacter("a\xC3"
                             "bc",
                             3),
              "a\xC3"
              "b")
        << "the byte before the cut begins no character";
}

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
