// SPDX-License-Identifier: Apache-2.0
// The three forms of --against, and values that are none of them.
#include "tools/benchmark/Against.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace tenon::tools
{
namespace
{

const std::vector<std::string> Backends = {"CpuAcc", "CpuRef"};

TEST(FindAgainst, KnowsTheForms)
{
    const test::TempFolder folder;
    const Against backends = FindAgainst("CpuRef,CpuAcc", Backends);
    EXPECT_EQ(backends.m_Kind, Against::Kind::Backends);
    EXPECT_EQ(backends.m_Backends, (std::vector<std::string>{"CpuRef", "CpuAcc"}));
    EXPECT_EQ(FindAgainst("samples/digits/digits_int8.tflite", Backends).m_Kind, Against::Kind::Model);
    const std::string library = folder.Write("any.name", std::string("\x7f"
                                                                     "ELF\2\1\1",
                                                                     7));
    EXPECT_EQ(FindAgainst(library, Backends).m_Kind, Against::Kind::Library);
    EXPECT_STREQ(GetName(Against::Kind::Library), "library");
}

TEST(FindAgainst, RefusesAllElseWithTheForms)
{
    const test::TempFolder folder;
    constexpr const char* forms = "give a model file, backends in order of preference, or a file libtenon.so";
    for (const std::string value : {"CpuRef,GpuAcc", "none.tflite", "", ",", "CpuRef,"})
    {
        EXPECT_THROW_WITH(FindAgainst(value, Backends), UsageError, forms);
        EXPECT_THROW_WITH(FindAgainst(value, Backends), UsageError, "'CpuAcc' and 'CpuRef'");
    }
    EXPECT_THROW_WITH(FindAgainst(folder.Path(""), Backends), UsageError, forms);
    EXPECT_THROW_WITH(FindAgainst(folder.Write("text", "no model"), Backends), UsageError,
                      "is a file of no known format");
    EXPECT_THROW_WITH(FindAgainst(folder.Write("empty", ""), Backends), UsageError, forms);
}

TEST(FindAgainst, RefusesWhatIsTwoForms)
{
    const test::TempFolder folder;
    const std::string file = folder.Write("both", "");
    EXPECT_THROW_WITH(FindAgainst(file, {file}), UsageError, "is both a list of backends and a file; './");
}

} // namespace
} // namespace tenon::tools
