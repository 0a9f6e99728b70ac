// SPDX-License-Identifier: Apache-2.0
// Names of armnnUtils/Filesystem.hpp for programs written for Arm NN.
#include <gtest/gtest.h>

#include <armnnUtils/Filesystem.hpp>
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
