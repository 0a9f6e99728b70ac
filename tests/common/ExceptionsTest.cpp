// SPDX-License-Identifier: Apache-2.0
// Texts of exceptions with names out of hostile files.
#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tenon::test::exceptions_test
{

namespace
{

/// A literal with all that is behind a NUL in it.
template <size_t N>
std::string Whole(const char (&text)[N])
{
    return {text, N - 1};
}

} // namespace

TEST(ExceptionText, DoesNotEndAtANul)
{
    EXPECT_STREQ(ParseException(Whole("layer 'a\0b' fails")).what(), "layer 'a\\x00b' fails");
    const CheckLocation here{"F", "a.cpp", 7};
    EXPECT_STREQ(ParseException(Whole("a\0b"), here).what(), "a\\x00b at function F [a.cpp:7]");
    EXPECT_STREQ(RuntimeException(ParseException(Whole("a\0b")), Whole("c\0"), here).what(),
                 "a\\x00b\nc\\x00 at function F [a.cpp:7]");
}

TEST(ExceptionText, EscapesControlCharactersAlone)
{
    EXPECT_STREQ(Exception("\x1b[2J\r\x01\x1f\x7f").what(), "\\x1b[2J\\x0d\\x01\\x1f\\x7f");
    EXPECT_STREQ(Exception("two fail:\n\ta \\x00 ~\n\tGröße \xff").what(), "two fail:\n\ta \\x00 ~\n\tGröße \xff");
}

TEST(ExceptionText, ContextIsEscapedAndTheRestNotAgain)
{
    RuntimeException error(Whole("in 'a\0'"));
    error.AddContext(Whole("model 'b\0'"));
    error.AddContext("reading");
    EXPECT_STREQ(error.what(), "reading: model 'b\\x00': in 'a\\x00'");
    EXPECT_STREQ(ParseException(error.what()).what(), error.what());
}

} // namespace tenon::test::exceptions_test
