// SPDX-License-Identifier: Apache-2.0
// Names of armnnUtils/Filesystem.hpp for programs written for Arm NN.
#include <gtest/gtest.h>

#include <armnnUtils/Filesystem.hpp>
#include <exception>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace
{

using namespace armnnUtils;

bool IsThere(const std::string& path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0;
}

void Write(const std::string& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary) << text;
}

/// A name that no other process takes.
std::string NameOf(const std::string& what)
{
    return "tenon_armnn_filesystem_" + std::to_string(getpid()) + "_" + what;
}

TEST(ArmnnFilesystem, GivesPathsOfTemporaryFiles)
{
    const fs::path path = Filesystem::NamedTempFile(NameOf("file").c_str());
    EXPECT_FALSE(IsThere(path.string()));
    Write(path.string(), std::string("a\0b\n", 4));
    EXPECT_EQ(Filesystem::ReadFileContentsIntoString(path.string()), std::string("a\0b\n", 4));
    EXPECT_EQ(Filesystem::NamedTempFile(NameOf("file").c_str()), path);
    EXPECT_FALSE(IsThere(path.string()));
    EXPECT_EQ((fs::path("a") / "b").string(), "a/b");
}

/// The answers are those of std::filesystem, which a program gets in place of this class from C++17 on.
TEST(ArmnnFilesystem, TakesPathsApart)
{
    struct
    {
        const char *text, *folder, *name, *stem, *extension;
    } const cases[] = {
        {"", "", "", "", ""},
        {"/", "/", "", "", ""},
        {"/a", "/", "a", "a", ""},
        {"//a", "/", "a", "a", ""},
        {"a/b.c", "a", "b.c", "b", ".c"},
        {"a//b.c", "a", "b.c", "b", ".c"},
        {"a.b/", "a.b", "", "", ""},
        {"a.b/c", "a.b", "c", "c", ""},
        {"a/.b", "a", ".b", ".b", ""},
        {"a/b.c.d", "a", "b.c.d", "b.c", ".d"},
        {"..", "", "..", "..", ""},
        {"b.", "", "b.", "b", "."},
    };
    for (const auto& row : cases)
    {
        const fs::path path(row.text);
        EXPECT_EQ(path.filename().string(), row.name) << row.text;
        EXPECT_EQ(path.stem().string(), row.stem) << row.text;
        EXPECT_EQ(path.extension().string(), row.extension) << row.text;
        EXPECT_EQ(path.has_extension(), *row.extension != '\0') << row.text;
        EXPECT_EQ(path.is_absolute(), *row.text == '/') << row.text;
        if (std::string(row.text) != "//a") // whose root std::filesystem may spell in another way
        {
            EXPECT_EQ(path.parent_path().string(), row.folder) << row.text;
        }
    }
    EXPECT_EQ(fs::path("a/b.c").replace_extension(".dot").string(), "a/b.dot");
    EXPECT_EQ(fs::path("a/b.c").replace_extension("dot").string(), "a/b.dot");
    EXPECT_EQ(fs::path("a/b").replace_extension().string(), "a/b");
    EXPECT_EQ(fs::path("a/b.c").replace_filename("d").string(), "a/d");
    fs::path joined("a");
    joined /= "b";
    joined += ".c";
    EXPECT_EQ(joined.string(), "a/b.c");
    EXPECT_EQ((joined / "/d").string(), "/d");
    EXPECT_EQ(joined.remove_filename().string(), "a/");
    EXPECT_TRUE(fs::path("a") < fs::path("b"));
}

TEST(ArmnnFilesystem, AsksForFiles)
{
    const fs::path folder = fs::temp_directory_path() / NameOf("asked");
    EXPECT_FALSE(fs::exists(folder));
    EXPECT_FALSE(fs::remove(folder));
    EXPECT_TRUE(fs::create_directory(folder));
    EXPECT_FALSE(fs::create_directory(folder));
    EXPECT_TRUE(fs::is_directory(folder) && !fs::is_regular_file(folder));
    const fs::path file = folder / "file";
    EXPECT_FALSE(fs::exists(file) || fs::is_directory(file) || fs::is_regular_file(file));
    EXPECT_THROW(fs::file_size(file), std::exception);
    Write(file.string(), "text");
    EXPECT_TRUE(fs::exists(file) && fs::is_regular_file(file) && !fs::is_directory(file));
    EXPECT_EQ(fs::file_size(file), 4U);
    EXPECT_THROW(fs::remove(folder), std::exception); // not empty
    EXPECT_THROW(fs::create_directory(folder / "no" / "parent"), std::exception);
    EXPECT_TRUE(fs::remove(file));
    EXPECT_TRUE(fs::remove(folder));
    EXPECT_FALSE(fs::exists(folder));
}

TEST(ArmnnFilesystem, MakesAndRemovesFolders)
{
    const std::string outside = Filesystem::CreateDirectory(NameOf("outside"));
    Write(outside + "kept", "x");
    const std::string folder = Filesystem::CreateDirectory("/" + NameOf("folder"));
    EXPECT_EQ(folder.back(), '/');
    EXPECT_TRUE(IsThere(folder));
    ASSERT_EQ(mkdir((folder + "inner").c_str(), 0777), 0);
    Write(folder + "inner/file", "text");
    ASSERT_EQ(symlink(outside.c_str(), (folder + "link").c_str()), 0);

    EXPECT_EQ(Filesystem::CreateDirectory("/" + NameOf("folder")), folder); // empty again
    EXPECT_FALSE(IsThere(folder + "inner"));
    EXPECT_TRUE(IsThere(outside + "kept")); // the link was not followed
    Filesystem::RemoveDirectoryAndContents(folder);
    EXPECT_FALSE(IsThere(folder));
    Filesystem::RemoveDirectoryAndContents(folder); // nothing there, nothing to do
    Filesystem::RemoveDirectoryAndContents(outside);
    EXPECT_FALSE(IsThere(outside));
}

TEST(ArmnnFilesystem, SaysWhatFails)
{
    EXPECT_THROW(Filesystem::ReadFileContentsIntoString("/nowhere/at/all"), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::ReadFileContentsIntoString("/"), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::CreateDirectory(NameOf("no") + "/such/parent"), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::CreateDirectory(""), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::CreateDirectory("/"), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::NamedTempFile("a/../../outside"), armnn::RuntimeException);
    const std::string longName(5000, 'a'); // which no file system takes, whoever asks
    EXPECT_THROW(Filesystem::RemoveDirectoryAndContents("/" + longName), armnn::RuntimeException);
    EXPECT_THROW(Filesystem::NamedTempFile(longName.c_str()), armnn::RuntimeException);
}

} // namespace
