// SPDX-License-Identifier: Apache-2.0
// Lists and text from hostile files.
#include "cli/Strings.hpp"

#include "cli/Json.hpp"

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

TEST(Json, TextIsEscaped)
{
    EXPECT_EQ(QuoteJson("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
    EXPECT_EQ(QuoteJson("Größe €😀"), "\"Größe €😀\"");
}

TEST(Json, WhatIsNotUtf8IsReplaced)
{
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(QuoteJson("\xFF"), "\"" + bad + "\"");
    EXPECT_EQ(QuoteJson("\xC3"), "\"" + bad + "\"");                     // cut off
    EXPECT_EQ(QuoteJson("\xC0\x80"), "\"" + bad + bad + "\"");           // overlong
    EXPECT_EQ(QuoteJson("\xED\xA0\x80"), "\"" + bad + bad + bad + "\""); // a surrogate
    EXPECT_EQ(QuoteJson("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

TEST(Json, Documents)
{
    JsonWriter json;
    json.BeginObject();
    json.Key("a");
    json.BeginArray();
    json.Number(uint64_t{1});
    json.Number(int64_t{-2});
    json.EndArray();
    json.Key("b");
    json.BeginObject();
    json.EndObject();
    json.Key("c");
    json.Number(std::numeric_limits<double>::infinity());
    json.Key("d");
    json.Number(0.5);
    json.Key("e");
    json.Null();
    json.EndObject();
    EXPECT_EQ(json.Text(), "{\n \"a\": [\n  1,\n  -2\n ],\n \"b\": {},\n \"c\": null,\n \"d\": 0.5,\n \"e\": null\n}");
}

} // namespace
} // namespace tenon::cli
