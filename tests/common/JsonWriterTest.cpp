// SPDX-License-Identifier: Apache-2.0
// JSON that parses back, whatever names, texts and numbers are.
#include "json/JsonWriter.hpp"

#include "harness/Json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tenon::test::json_writer_test
{

TEST(JsonWriter, TextIsEscaped)
{
    EXPECT_EQ(QuoteJson("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
    EXPECT_EQ(QuoteJson("Größe €😀"), "\"Größe €😀\"");
}

TEST(JsonWriter, WhatIsNotUtf8IsReplaced)
{
    const std::string bad = "\xEF\xBF\xBD";
    EXPECT_EQ(QuoteJson("\xFF"), "\"" + bad + "\"");
    EXPECT_EQ(QuoteJson("\xC3"), "\"" + bad + "\"");                     // cut off
    EXPECT_EQ(QuoteJson("\xC0\x80"), "\"" + bad + bad + "\"");           // overlong
    EXPECT_EQ(QuoteJson("\xED\xA0\x80"), "\"" + bad + bad + bad + "\""); // a surrogate
    EXPECT_EQ(QuoteJson("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");
}

TEST(JsonWriter, Documents)
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

TEST(JsonWriter, LinesHoldWhateverIsInThem)
{
    using Layout = JsonWriter::Layout;
    JsonWriter json;
    json.BeginArray();
    json.BeginObject(Layout::Line);
    json.Key("a");
    json.BeginArray(Layout::Line);
    json.Number(0.25f);
    json.BeginArray();
    json.EndArray();
    json.EndArray();
    json.Key("b");
    json.Json("{\"c\": 1}");
    json.EndObject();
    std::string text = json.Take();
    json.BeginArray(Layout::Line);
    json.EndArray();
    json.Number(std::numeric_limits<float>::quiet_NaN());
    json.EndArray();
    text += json.Take();
    EXPECT_EQ(text, "[\n {\"a\": [0.25, []], \"b\": {\"c\": 1}},\n [],\n null\n]");
}

TEST(JsonWriter, MembersOfAnyKind)
{
    JsonWriter json;
    json.BeginObject(JsonWriter::Layout::Line);
    json.Member("a", "text");
    json.Member("b", std::string("text"));
    json.Member("c", 0.1f);
    json.Member("d", uint8_t{200});
    json.Member("e", int8_t{-1});
    json.Member("f", std::numeric_limits<double>::quiet_NaN());
    json.Numbers("g", std::vector<int32_t>{-1, 2});
    json.Numbers("h", std::vector<float>{0.5f, std::numeric_limits<float>::infinity()});
    json.EndObject();
    EXPECT_EQ(json.Text(), R"({"a": "text", "b": "text", "c": 0.1, "d": 200, "e": -1, "f": null, "g": [-1, 2], )"
                           R"("h": [0.5, null]})");
}

TEST(JsonWriter, EveryByteAndNumberParsesBack)
{
    JsonWriter json;
    json.BeginArray();
    for (int byte = 0; byte < 256; ++byte)
    {
        json.String(std::string("<") + static_cast<char>(byte) + ">");
    }
    for (const double value : {0.0, -0.0, 1e300, -1e-300, 5e-324, 1e21, 0.1, 123456789.0})
    {
        json.Number(value);
    }
    json.Number(std::numeric_limits<uint64_t>::max());
    json.Number(std::numeric_limits<int64_t>::min());
    json.EndArray();
    const Json parsed = Json::Parse(json.Text());
    ASSERT_EQ(parsed.m_Items.size(), 266u);
    for (size_t byte = 0; byte < 128; ++byte)
    {
        EXPECT_EQ(parsed.m_Items[byte].m_Text, std::string("<") + static_cast<char>(byte) + ">");
    }
    EXPECT_EQ(parsed.m_Items[200].m_Text, "<\xEF\xBF\xBD>");
    EXPECT_EQ(parsed.m_Items[258].m_Number, 1e300);
    EXPECT_EQ(parsed.m_Items[260].m_Number, 5e-324);
    EXPECT_EQ(parsed.m_Items[265].m_Number, -9223372036854775808.0);
}

TEST(JsonWriter, TheParserOfTheseTestsIsStrict)
{
    EXPECT_EQ(Json::Parse("{\"a\": [1, -2.5e3, \"\\u0041\\n\"]}").At("a").m_Items[2].m_Text, "A\n");
    for (const char* bad : {"", "{", "[1,]", "[1 2]", "{\"a\"}", "{\"a\": 1, \"a\": 2}", "nan", "[01]", "[1.]",
                            "\"\x01\"", "\"\xFF\"", "\"\\x\"", "1 1", "[+1]", "[.5]", "{a: 1}"})
    {
        EXPECT_THROW(Json::Parse(bad), std::runtime_error) << bad;
    }
}

} // namespace tenon::test::json_writer_test
