// SPDX-License-Identifier: Apache-2.0
// Folders and patterns in place of files: which files become which inference.
#include "tools/common/FileSets.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::tools
{
namespace
{

using Names = std::vector<std::string>;
using Sets = std::vector<Names>;

class FileSetsTest : public testing::Test
{
protected:
    FileSetsTest()
    {
        for (const char* folder : {"a", "b", "c", "empty", "outer/inner"})
        {
            std::filesystem::create_directories(m_Folder.Path(folder));
        }
        for (const char* name :
             {"a/2.png", "a/10.png", "b/2.png", "b/10.png", "c/x.png", "outer/inner/x", "odd[1].png"})
        {
            m_Folder.Write(name, "");
        }
    }

    std::vector<FileList> List(const Names& names) const
    {
        Names entries;
        for (const std::string& name : names)
        {
            entries.push_back(m_Folder.Path(name));
        }
        return ListFiles(entries, "-d");
    }

    std::string In(const std::string& name) const { return m_Folder.Path(name); }

    const test::TempFolder m_Folder;
};

TEST_F(FileSetsTest, SomeEntriesStandForMany)
{
    EXPECT_TRUE(StandsForMany(In("a")));
    EXPECT_TRUE(StandsForMany(In("*.png")));
    EXPECT_FALSE(StandsForMany(In("a/2.png")));
    EXPECT_FALSE(StandsForMany(In("none.png")));
    EXPECT_FALSE(StandsForMany(In("odd[1].png"))) << "there is a file of this name";
    EXPECT_TRUE(List({"a/2.png", "none.png"}).empty());
}

TEST_F(FileSetsTest, EachFileIsAnInference)
{
    EXPECT_EQ(MakeFileSets(List({"a"}), 1, "-d").m_Sets, (Sets{{In("a/2.png")}, {In("a/10.png")}}));
    EXPECT_EQ(MakeFileSets(List({"c", "a/*"}), 1, "-d").m_Sets,
              (Sets{{In("c/x.png")}, {In("a/2.png")}, {In("a/10.png")}}));
}

TEST_F(FileSetsTest, ListsOfSeveralInputsArePaired)
{
    const FileSets same = MakeFileSets(List({"a", "b/*.png"}), 2, "-d");
    EXPECT_EQ(same.m_Sets, (Sets{{In("a/2.png"), In("b/2.png")}, {In("a/10.png"), In("b/10.png")}}));
    EXPECT_EQ(same.m_Remark, "");
    const FileSets other = MakeFileSets(List({"a/2*", "c"}), 2, "-d");
    EXPECT_EQ(other.m_Remark, "1 of 1 inferences have files of different names, which are paired by their order: '" +
                                  In("a/2.png") + "' and '" + In("c/x.png") + "'");
}

TEST_F(FileSetsTest, OneListForSeveralInputsHasArrays)
{
    EXPECT_THROW_WITH(MakeFileSets(List({"a"}), 2, "-d"), UsageError,
                      "a' has no .npz file, but the model has 2 inputs; give a folder or pattern for each input");
    m_Folder.Write("c/1.npz", "");
    EXPECT_EQ(MakeFileSets(List({"c"}), 2, "-d").m_Sets, (Sets{{In("c/1.npz")}, {In("c/x.png")}}));
}

TEST_F(FileSetsTest, Refusals)
{
    EXPECT_THROW_WITH(List({"empty"}), UsageError,
                      "empty' has no files; those of folders within are given by a pattern");
    EXPECT_THROW_WITH(List({"outer"}), UsageError, "outer/*/*'");
    EXPECT_THROW_WITH(List({"*.jpg"}), UsageError, "there is no file '" + In("*.jpg") + "', nor one that the pattern");
    EXPECT_THROW_WITH(List({"a", "b/2.png"}), UsageError, "give a folder or pattern for each input, or files alone");
    EXPECT_THROW_WITH(MakeFileSets(List({"a", "c"}), 2, "-d"), UsageError,
                      "a' has 2 files and '" + In("c") + "' has 1");
    EXPECT_THROW_WITH(MakeFileSets(List({"a", "b"}), 3, "-d"), UsageError,
                      "2 folders or patterns are given for 3 inputs");
}

} // namespace
} // namespace tenon::tools
