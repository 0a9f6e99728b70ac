// SPDX-License-Identifier: Apache-2.0
// JSON that is read, and text that is none.
#include "tools/profile/JsonReader.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::tools
{
namespace
{

TEST(ReadJson, GivesMembers)
{
    const std::string text = R"( {"a": -1.5e2, "b": "x", "c": {"d": [1, {}, [], true, false, null]}, "": 0} )";
    const JsonValue value = ReadJson(text);
    EXPECT_TRUE(value.IsObject());
    EXPECT_EQ(value.NumberOf("a"), -150.0);
    EXPECT_EQ(value.TextOf("b"), "x");
    ASSERT_NE(value.Find("c"), nullptr);
    EXPECT_EQ(value.Find("c")->GetSource(), R"({"d": [1, {}, [], true, false, null]})");
    EXPECT_EQ(value.Find("c")->Find("d")->GetElements().size(), 6U);
    EXPECT_EQ(value.Find("none"), nullptr);
    EXPECT_EQ(value.NumberOf("none"), 0.0);
    EXPECT_EQ(value.TextOf("a"), "");
    EXPECT_EQ(value.Find("c")->Find("d")->Find("a"), nullptr);
}

TEST(ReadJson, GivesCharactersOfEscapes)
{
    const std::string text = R"({"a": "\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00"})";
    EXPECT_EQ(ReadJson(text).TextOf("a"), "\"\\/\b\f\n\r\tA\u00e9\u20AC\U0001F600");
}

TEST(ReadJson, RefusesOtherTextWithTheLine)
{
    for (const char* text :
         {"",    "{",         "[1",        "[1,]",        "{\"a\"}",     "{\"a\" 1}",          "{a: 1}", "nul", "1 2",
          "\"a", "\"\\x\"",   "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\n\"", "+1",  "nan",
          "-",   "{\"a\": }", "[1 2]",     "\"\\",        "1e999"})
    {
        EXPECT_THROW_WITH(ReadJson(text), InputError, "it is no JSON: line 1: ") << text;
    }
    EXPECT_THROW_WITH(ReadJson("{\n\"a\": 1,\n\"b\" 2}"), InputError, "line 3: a colon is missing");
    EXPECT_THROW_WITH(ReadJson(std::string(1000000, '[')), InputError, "nested too deep");
}

} // namespace
} // namespace tenon::tools
