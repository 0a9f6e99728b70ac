// SPDX-License-Identifier: Apache-2.0
// JSON that is read, and text that is none.
#include "tools/common/JsonReading.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenon::tools
{
namespace
{

TEST(ReadJson, GivesValues)
{
    const std::string text = R"( {"a": -1.5e2, "b": "x", "c": {"d": [1, {}, [], true, false, null, -2]}, "": 0} )";
    EXPECT_EQ(ReadJson(text), nlohmann::json::parse(text));
    EXPECT_EQ(ReadJson("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\""),
              "\"\\/\b\f\n\r\tA\u00e9\u20AC\U0001F600");
    EXPECT_EQ(ReadJson("7"), 7);
}

TEST(ReadJson, KeepsOneMember)
{
    const std::string text = R"({"a": {"b": [1]}, "b": {"a": [{"a": 1}, 2], "c": {}}, "c": [{"b": 3}], "d": 4})";
    EXPECT_EQ(ReadJson(text, "b").dump(), R"({"b":{"a":[{"a":1},2],"c":{}}})");
    EXPECT_EQ(ReadJson(text, "d").dump(), R"({"d":4})");
    EXPECT_EQ(ReadJson(text, "e").dump(), "{}");
    EXPECT_EQ(ReadJson("[1]", "e").dump(), "[1]");
}

TEST(ReadJson, RefusesOtherTextWithItsPlace)
{
    for (const char* text :
         {"",    "{",         "[1",        "[1,]",        "{\"a\"}",     "{\"a\" 1}",          "{a: 1}", "nul", "1 2",
          "\"a", "\"\\x\"",   "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\n\"", "+1",  "nan",
          "-",   "{\"a\": }", "[1 2]",     "\"\\",        "\"\xFF\""})
    {
        EXPECT_THROW_WITH(ReadJson(text), InputError, "it is no valid JSON: parse error at line ") << text;
    }
    EXPECT_THROW_WITH(ReadJson("{\n\"a\": 1,\n\"b\" 2}"), InputError, "line 3, column 5: syntax error");
    EXPECT_THROW_WITH(ReadJson("[1, 1e999]"), InputError, "number overflow parsing '1e999' at byte 9");
}

TEST(ReadJson, BoundsDepthAndValues)
{
    EXPECT_THROW_WITH(ReadJson(std::string(1000000, '[')), InputError, "its values are nested in more than 64 others");
    EXPECT_THROW_WITH(ReadJson("{\"a\": " + std::string(1000, '['), "b"), InputError, "nested in more than 64 others");
    std::string text = "{\"a\": [0";
    for (size_t i = 0; i < (size_t{1} << 22U); ++i)
    {
        text += ",0";
    }
    text += "]}";
    EXPECT_THROW_WITH(ReadJson(text), InputError, "it has more than 4194304 values");
    EXPECT_EQ(ReadJson(text, "b").dump(), "{}");
}

} // namespace
} // namespace tenon::tools
