// SPDX-License-Identifier: Apache-2.0
// MappedFile: what it shows of a file, how long it lives, and what it refuses (without hanging on pipes and devices).
#include "common/MappedFile.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace tenon::mapped_file_test
{
namespace
{

constexpr std::uint64_t NoLimit = std::numeric_limits<std::uint64_t>::max();

class MappedFileTest : public testing::Test
{
protected:
    void SetUp() override
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-mapped-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        m_Folder = pattern;
    }

    void TearDown() override
    {
        std::error_code ignored;
        std::filesystem::remove_all(m_Folder, ignored);
    }

    std::string Write(const std::string& name, std::string_view content) const
    {
        const std::filesystem::path path = m_Folder / name;
        std::ofstream(path, std::ios::binary) << content;
        return path.string();
    }

    // The text of the exception of kind E that Open throws.
    template <typename E>
    static std::string Refusal(const std::string& path, std::uint64_t maxBytes = NoLimit)
    {
        try
        {
            MappedFile::Open(path, maxBytes);
        }
        catch (const E& error)
        {
            return error.what();
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << "another kind of exception: " << error.what();
            return {};
        }
        ADD_FAILURE() << path << " was not refused";
        return {};
    }

    std::filesystem::path m_Folder;
};

std::string_view Text(const MappedFile& file)
{
    return {reinterpret_cast<const char*>(file.Bytes().data()), file.Bytes().size()};
}

bool Contains(const std::string& text, std::string_view part)
{
    return text.find(part) != std::string::npos;
}

TEST_F(MappedFileTest, ShowsTheBytes)
{
    const std::string content = "TFL3" + std::string(10000, 'x') + std::string("\0\n", 2);
    const std::string path = Write("model.tflite", content);
    const auto file = MappedFile::Open(path, NoLimit);
    EXPECT_EQ(Text(*file), content);
    EXPECT_EQ(file->Path(), path);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file->Bytes().data()) % 64, 0u);
}

TEST_F(MappedFileTest, LivesAsLongAsItsLastOwnerAndThanItsName)
{
    const std::string path = Write("model.tflite", "content");
    std::shared_ptr<const MappedFile> second;
    {
        const auto first = MappedFile::Open(path, NoLimit);
        second = first;
    }
    std::filesystem::remove(path);
    EXPECT_EQ(Text(*second), "content");
}

TEST_F(MappedFileTest, EmptyFileIsAnEmptySpan)
{
    const auto file = MappedFile::Open(Write("empty", ""), 0);
    EXPECT_TRUE(file->Bytes().empty());
}

TEST_F(MappedFileTest, FollowsSymbolicLinks)
{
    std::filesystem::create_symlink(Write("target", "linked"), m_Folder / "link");
    EXPECT_EQ(Text(*MappedFile::Open((m_Folder / "link").string(), NoLimit)), "linked");
}

TEST_F(MappedFileTest, LimitIsInclusive)
{
    const std::string path = Write("four", "1234");
    EXPECT_EQ(Text(*MappedFile::Open(path, 4)), "1234");
    const std::string text = Refusal<InvalidArgumentException>(path, 3);
    EXPECT_TRUE(Contains(text, "four")) << text;
    EXPECT_TRUE(Contains(text, "4 bytes")) << text;
    EXPECT_TRUE(Contains(text, "limit of 3")) << text;
}

TEST_F(MappedFileTest, HugeSparseFileIsRefusedByItsSize)
{
    const std::string path = Write("sparse", "");
    std::error_code error;
    std::filesystem::resize_file(path, std::uintmax_t{1} << 40, error);
    if (error)
    {
        GTEST_SKIP() << "this file system has no sparse files of that size: " << error.message();
    }
    EXPECT_TRUE(Contains(Refusal<InvalidArgumentException>(path, std::uint64_t{1} << 31), "1099511627776"));
}

TEST_F(MappedFileTest, MissingFiles)
{
    EXPECT_TRUE(Contains(Refusal<FileNotFoundException>((m_Folder / "absent").string()), "absent"));
    Refusal<FileNotFoundException>("");
    Refusal<FileNotFoundException>(Write("file", "x") + "/below-a-file");
    std::filesystem::create_symlink(m_Folder / "nowhere", m_Folder / "dangling");
    Refusal<FileNotFoundException>((m_Folder / "dangling").string());
}

TEST_F(MappedFileTest, PathWithZeroByteIsNotCutShort)
{
    const std::string path = Write("file", "x");
    Refusal<InvalidArgumentException>(path + std::string("\0.tflite", 8));
}

TEST_F(MappedFileTest, DirectoriesAndDevices)
{
    EXPECT_TRUE(Contains(Refusal<InvalidArgumentException>(m_Folder.string()), "a directory"));
    EXPECT_TRUE(Contains(Refusal<InvalidArgumentException>("/dev/zero"), "a device"));
    EXPECT_TRUE(Contains(Refusal<InvalidArgumentException>("/dev/null"), "a device"));
}

TEST_F(MappedFileTest, PipeIsRefusedWithoutWaitingForAWriter)
{
    const std::string path = (m_Folder / "pipe").string();
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(Contains(Refusal<InvalidArgumentException>(path), "a pipe"));
}

TEST_F(MappedFileTest, Socket)
{
    const std::string path = (m_Folder / "socket").string();
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof(address.sun_path));
    path.copy(address.sun_path, path.size());
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_GE(listener, 0);
    const int bound = bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    EXPECT_TRUE(bound != 0 || Contains(Refusal<InvalidArgumentException>(path), "a socket"));
    close(listener);
}

TEST_F(MappedFileTest, UnreadableFile)
{
    const std::string path = Write("secret", "x");
    ASSERT_EQ(chmod(path.c_str(), 0), 0);
    if (geteuid() == 0)
    {
        GTEST_SKIP() << "the superuser may read everything";
    }
    EXPECT_TRUE(Contains(Refusal<RuntimeException>(path), "secret"));
}

TEST_F(MappedFileTest, LinkThatLeadsToItselfIsAFailureNotAMissingFile)
{
    std::filesystem::create_symlink(m_Folder / "loop", m_Folder / "loop");
    Refusal<RuntimeException>((m_Folder / "loop").string());
}

/// Bytes of the mapping that are in this process's memory, by /proc/self/smaps; nothing if it does not have the
/// mapping: some emulators show it at the addresses that they gave it.
std::optional<size_t> ResidentBytes(const void* mapping)
{
    std::ifstream maps("/proc/self/smaps");
    const std::string start = fmt::format("{:x}-", reinterpret_cast<uintptr_t>(mapping));
    bool isOurs = false;
    for (std::string line; std::getline(maps, line);)
    {
        isOurs = isOurs || line.rfind(start, 0) == 0;
        if (isOurs && line.rfind("Rss:", 0) == 0)
        {
            return std::stoul(line.substr(4)) * 1024;
        }
    }
    return std::nullopt;
}

TEST_F(MappedFileTest, ReleasedPagesLeaveMemoryAndComeBack)
{
    constexpr size_t Bytes = 1 << 20;
    std::string text(Bytes, 'x');
    text[Bytes / 2] = 'y';
    const auto file = MappedFile::Open(Write("large", text), Bytes);
    EXPECT_EQ(Text(*file), text); // all is in memory
    const std::byte* const data = file->Bytes().data();
    const std::optional<size_t> before = ResidentBytes(data);
    if (!before)
    {
        GTEST_SKIP() << "emulated";
    }
    ASSERT_EQ(before, Bytes);
    MappedFile::Release(data + 1, Bytes - 1);
    EXPECT_LT(ResidentBytes(data), *before / 4);
    EXPECT_EQ(Text(*file), text);

    MappedFile::Release(data, Bytes + 1); // not all of it is the file's
    EXPECT_EQ(ResidentBytes(data), before);
    MappedFile::Release(text.data(), text.size()); // nor is this
    EXPECT_EQ(text[Bytes / 2], 'y');
    MappedFile::Release(nullptr, 1);
}

} // namespace
} // namespace tenon::mapped_file_test
