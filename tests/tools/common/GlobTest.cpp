// SPDX-License-Identifier: Apache-2.0
// Patterns of paths, folders, and the natural order.
#include "tools/common/Glob.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using Names = std::vector<std::string>;

TEST(Glob, Patterns)
{
    EXPECT_TRUE(MatchesGlob("", ""));
    EXPECT_TRUE(MatchesGlob("", "**"));
    EXPECT_TRUE(MatchesGlob("a.png", "*.png"));
    EXPECT_TRUE(MatchesGlob(".png", "*.png"));
    EXPECT_FALSE(MatchesGlob("a.png.txt", "*.png"));
    EXPECT_TRUE(MatchesGlob("aXbYbZ", "a*b*Z"));
    EXPECT_TRUE(MatchesGlob("abab", "*ab"));
    EXPECT_FALSE(MatchesGlob("aba", "*ab"));
    EXPECT_TRUE(MatchesGlob("day7", "day?"));
    EXPECT_FALSE(MatchesGlob("day", "day?"));
    EXPECT_FALSE(MatchesGlob("A", "a"));
}

TEST(Glob, Sets)
{
    EXPECT_TRUE(MatchesGlob("day7", "day[0-9]"));
    EXPECT_TRUE(MatchesGlob("dayx", "day[0-9x]"));
    EXPECT_FALSE(MatchesGlob("dayy", "day[0-9x]"));
    EXPECT_TRUE(MatchesGlob("dayy", "day[!0-9x]"));
    EXPECT_FALSE(MatchesGlob("day7", "day[^0-9x]"));
    EXPECT_FALSE(MatchesGlob("day", "day[!0-9]"));
    EXPECT_TRUE(MatchesGlob("]", "[]]"));
    EXPECT_TRUE(MatchesGlob("-", "[a-]"));
    EXPECT_TRUE(MatchesGlob("a*b", "a[*]b"));
    EXPECT_FALSE(MatchesGlob("axb", "a[*]b"));
    EXPECT_TRUE(MatchesGlob("a[b", "a[b")) << "a bracket without its end";
    EXPECT_TRUE(MatchesGlob("\xFF", "[\x80-\xFF]"));
}

TEST(Glob, ManyStarsTakeNoLongerThanTheirProduct)
{
    std::string pattern;
    for (int i = 0; i < 100; ++i)
    {
        pattern += "*a";
    }
    EXPECT_FALSE(MatchesGlob(std::string(5000, 'a'), pattern + "b"));
    EXPECT_TRUE(MatchesGlob(std::string(5000, 'a'), pattern));
}

TEST(Glob, NaturalOrder)
{
    Names names = {"img10",
                   "img2",
                   "img1b",
                   "img1",
                   "b",
                   "img01",
                   "a",
                   "img",
                   "img2.5",
                   "img2.10",
                   "img99999999999999999999999",
                   "img100000000000000000000000"};
    std::sort(names.begin(), names.end(), IsNaturallyLess);
    EXPECT_EQ(names, (Names{"a", "b", "img", "img01", "img1", "img1b", "img2", "img2.5", "img2.10", "img10",
                            "img99999999999999999999999", "img100000000000000000000000"}));
    EXPECT_FALSE(IsNaturallyLess("a1", "a1"));
    for (const std::string& a : names)
    {
        for (const std::string& b : names)
        {
            EXPECT_EQ(a == b, !IsNaturallyLess(a, b) && !IsNaturallyLess(b, a)) << a << " " << b;
        }
    }
}

class GlobFiles : public testing::Test
{
protected:
    GlobFiles()
    {
        std::filesystem::create_directories(m_Folder.Path("day1/deep"));
        std::filesystem::create_directories(m_Folder.Path("day2"));
        std::filesystem::create_directories(m_Folder.Path(".hidden"));
        std::filesystem::create_directory_symlink(m_Folder.Path("day2"), m_Folder.Path("day1/link"));
        for (const char* name : {"a10.png", "a9.png", "b.txt", ".c.png", "day1/x.png", "day1/deep/y.png", "day2/z.png",
                                 ".hidden/h.png", "odd[1].png"})
        {
            m_Folder.Write(name, "");
        }
    }

    /// Without the folder in front.
    Names Find(const std::string& pattern) const
    {
        Names names;
        for (const std::string& file : ExpandGlob(m_Folder.Path(pattern)))
        {
            names.push_back(file.substr(m_Folder.Path("").size()));
        }
        return names;
    }

    const test::TempFolder m_Folder;
};

TEST_F(GlobFiles, AreFoundByPatterns)
{
    EXPECT_EQ(Find("*.png"), (Names{"a9.png", "a10.png", "odd[1].png"}));
    EXPECT_EQ(Find(".*.png"), Names{".c.png"});
    EXPECT_EQ(Find("*/*.png"), (Names{"day1/x.png", "day2/z.png"}));
    EXPECT_EQ(Find("day[2-9]/?.png"), Names{"day2/z.png"});
    EXPECT_EQ(Find("day1/*/*"), (Names{"day1/deep/y.png", "day1/link/z.png"}));
    EXPECT_EQ(Find("**/*.png"),
              (Names{"a9.png", "a10.png", "day1/deep/y.png", "day1/x.png", "day2/z.png", "odd[1].png"}));
    EXPECT_EQ(Find("**/**/deep/*"), Names{"day1/deep/y.png"});
    EXPECT_EQ(Find("day1/../b.*"), Names{"day1/../b.txt"});
    EXPECT_EQ(Find("odd[[]1].png"), Names{"odd[1].png"});
    EXPECT_EQ(Find("*.jpg"), Names{});
    EXPECT_EQ(Find("day?"), Names{}) << "folders are no files";
    EXPECT_EQ(Find("none*/x"), Names{});
    EXPECT_EQ(Find("b.txt/*"), Names{});
    EXPECT_EQ(ExpandGlob(""), Names{});
}

TEST_F(GlobFiles, OfAFolder)
{
    Names names;
    for (const std::string& file : ListFolder(m_Folder.Path("")))
    {
        names.push_back(std::filesystem::path(file).filename().string());
    }
    EXPECT_EQ(names, (Names{"a9.png", "a10.png", "b.txt", "odd[1].png"}));
    EXPECT_THROW_WITH(ListFolder(m_Folder.Path("none")), InputError, "cannot be read: No such file");
}

} // namespace
} // namespace tenon::tools
