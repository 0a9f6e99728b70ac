// SPDX-License-Identifier: Apache-2.0
// Lists and text from hostile files.
#include "tools/common/Strings.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

TEST(Strings, ABackslashKeepsASeparator)
{
    const auto split = [](const char* text) { return SplitEscaped(text, ','); };
    using Parts = std::vector<std::string>;
    EXPECT_EQ(split(""), Parts{});
    EXPECT_EQ(split("a, b ,c"), (Parts{"a", "b", "c"}));
    EXPECT_EQ(split(",a,"), (Parts{"", "a", ""}));
    EXPECT_EQ(split("a\\,b.npy,c.npy"), (Parts{"a,b.npy", "c.npy"}));
    EXPECT_EQ(split("a\\\\,b"), (Parts{"a\\", "b"}));
    EXPECT_EQ(split("a\\\\\\,b"), (Parts{"a\\,b"}));
    EXPECT_EQ(split("a\\b,c\\"), (Parts{"a\\b", "c\\"})) << "any other backslash is itself";
    EXPECT_EQ(split("a b , \\, "), (Parts{"a b", ","}));
}

TEST(Strings, PrintableTextShowsWhatIsNone)
{
    EXPECT_EQ(Printable("Größe", 10), "Größe");
    EXPECT_EQ(Printable("Größe", 4), "Größ...");
    EXPECT_EQ(Printable("a\x1b[31m\n", 10), "a\\x1B[31m\\x0A");
    EXPECT_EQ(Printable("\xFF\xC3", 10), "\\xFF\\xC3");
    EXPECT_EQ(Printable("\xC2\x9B", 10), "\\xC2\\x9B") << "a control character beyond ASCII";
    EXPECT_EQ(Printable("\xC0\x80", 10), "\\xC0\\x80") << "longer than needed";
    EXPECT_EQ(Printable("\xED\xA0\x80", 1), "\\xED...") << "half of a pair of UTF-16";
    EXPECT_EQ(Printable("", 10), "");
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
    EXPECT_EQ(QuoteSome({}), "none");
    EXPECT_EQ(QuoteSome({"a", "b"}), "'a' and 'b'");
    const std::string some = QuoteSome(std::vector<std::string>(20, "a"));
    EXPECT_TRUE(some.ends_with("'a' and 'a' and 4 more")) << some;
}

} // namespace
} // namespace tenon::tools
