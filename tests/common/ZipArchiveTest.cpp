// SPDX-License-Identifier: Apache-2.0
// Zip archives as bundles have them: those that are read, and the fault that the others are refused for. Records and
// their fields are those of PKWARE's APPNOTE.
#include "zip/ZipArchive.hpp"

#include "harness/MessageOf.hpp"
#include "harness/ZipBuilder.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::zip_archive_test
{
namespace
{

using testing::HasSubstr;
using zip::ReadZip;
using zip::ZipEntry;
using Files = std::vector<std::pair<std::string, std::string>>;

Span<const uint8_t> ToBytes(const std::string& archive)
{
    return {reinterpret_cast<const uint8_t*>(archive.data()), archive.size()};
}

/// Names and contents, in the order of the directory.
Files Read(const std::string& archive)
{
    Files files;
    for (const ZipEntry& entry : ReadZip(ToBytes(archive)))
    {
        files.emplace_back(entry.m_Name, std::string(entry.m_Bytes.begin(), entry.m_Bytes.end()));
    }
    return files;
}

std::string Refusal(const std::string& archive)
{
    return MessageOf<ParseException>([&] { ReadZip(ToBytes(archive)); });
}

const Files Two = {{"first", "one"}, {"folder/second", "three"}};
const std::string TwoFiles = MakeZip({{"first", "one"}, {"folder/second", "three"}});
const std::string TwoWide = MakeZip({{"first", "one"}, {"folder/second", "three"}}, {0, true, ""});

/// The place of a record in an archive; of the `index`-th one of its kind.
size_t FindRecord(const std::string& archive, const char* signature, size_t index = 0)
{
    size_t at = archive.find(signature);
    for (; index > 0; --index)
    {
        at = archive.find(signature, at + 1);
    }
    return at;
}

template <typename T>
std::string Bent(const std::string& archive, const char* signature, size_t offset, T number, size_t index = 0)
{
    return WithLittleEndian(archive, FindRecord(archive, signature, index) + offset, number);
}

} // namespace

TEST(ZipArchive, FilesAreUsedWhereTheyLie)
{
    EXPECT_EQ(Read(TwoFiles), Two);
    const auto entries = ReadZip(ToBytes(TwoFiles));
    EXPECT_EQ(entries.at(0).m_Bytes.data(), ToBytes(TwoFiles).data() + TwoFiles.find("one"));
    EXPECT_TRUE(Read(MakeZip({})).empty());
}

TEST(ZipArchive, OtherFormsOfTheSame)
{
    const std::vector<ZipFile> files = {{"first", "one"}, {"folder/second", "three"}};
    EXPECT_EQ(Read(TwoWide), Two);
    for (const size_t padding : {1, 2, 3, 4, 100})
    {
        EXPECT_EQ(Read(MakeZip(files, {padding, false, ""})), Two) << padding;
    }
    EXPECT_EQ(Read(MakeZip(files, {0, false, "a comment"})), Two);
    const std::string falseEnd = std::string(ZipEnd) + std::string(18, '\0') + "its comment would be shorter";
    EXPECT_EQ(Read(MakeZip(files, {0, false, falseEnd})), Two);
    EXPECT_EQ(Read("bytes in front" + TwoFiles), Two) << "offsets count from the archive's start";
    EXPECT_EQ(Read("bytes in front" + TwoWide), Two);
    constexpr uint16_t sizesBehindData = 8;
    EXPECT_EQ(Read(MakeZip({{"first", "one", sizesBehindData}})), (Files{{"first", "one"}}));
    EXPECT_EQ(Read(MakeZip({{"folder/", ""}, {"first", "one"}})), (Files{{"first", "one"}}));
    EXPECT_EQ(Read(MakeZip({{"first", "one", 0, 0, std::string("\x99\x99\4\0more", 8)}})), (Files{{"first", "one"}}));
    EXPECT_EQ(Read(MakeZip({{"größe", ""}})), (Files{{"größe", ""}}));
}

TEST(ZipArchive, CutShort)
{
    for (const std::string& archive : {TwoFiles, TwoWide, MakeZip({{"a", "b"}}, {3, false, "comment"})})
    {
        for (size_t bytes = 0; bytes < archive.size(); ++bytes)
        {
            EXPECT_THAT(Refusal(archive.substr(0, bytes)), HasSubstr("there is no zip archive, or it is cut short"));
        }
    }
    EXPECT_THAT(Refusal(TwoFiles + "!"), HasSubstr("do not end with its end record"));
}

TEST(ZipArchive, DamagedDirectory)
{
    const auto end = [](size_t offset, auto number) { return Refusal(Bent(TwoFiles, ZipEnd, offset, number)); };
    EXPECT_THAT(end(12, uint32_t{0x7FFFFFFF}), HasSubstr("its directory of 2147483647 bytes at offset"));
    EXPECT_THAT(end(16, uint32_t{0xFFFFFFFE}), HasSubstr("at offset 4294967294 lies outside of"));
    EXPECT_THAT(end(8, uint32_t{0xFFFEFFFE}), HasSubstr("cannot have 65534 files"));
    EXPECT_THAT(end(8, uint32_t{0x00010001}), HasSubstr("has more than the 1 files that it says"));
    EXPECT_THAT(Refusal(Bent(TwoFiles, ZipEntryRecord, 0, uint32_t{0}, 1)),
                HasSubstr("an entry of its directory is none"));
    EXPECT_THAT(Refusal(Bent(TwoFiles, ZipEntryRecord, 28, uint16_t{0xFFFF}, 1)),
                HasSubstr("an entry leads out of its directory"));

    const auto wide = [](size_t offset, uint64_t number) { return Refusal(Bent(TwoWide, ZipEnd64, offset, number)); };
    EXPECT_THAT(wide(4, 0), HasSubstr("end record of 64-bit sizes has another size"));
    EXPECT_THAT(wide(4, 0xFFFFFFFFFFFFFFFF), HasSubstr("end record of 64-bit sizes has another size"));
    EXPECT_THAT(wide(40, 0xFFFFFFFFFFFFFF00), HasSubstr("lies outside of"));
    EXPECT_THAT(wide(48, 0xFFFFFFFFFFFFFFFF), HasSubstr("lies outside of"));
    constexpr uint64_t wraps = 0x0590B21642C8590C; // times the 46 bytes of an entry it is 40 beyond 2^64
    EXPECT_THAT(Refusal(Bent(Bent(TwoWide, ZipEnd64, 24, wraps), ZipEnd64, 32, wraps)), HasSubstr("cannot have"));
    EXPECT_THAT(Refusal(Bent(TwoWide, ZipEnd64, 0, uint32_t{0})), HasSubstr("locator of 64-bit sizes leads nowhere"));
    EXPECT_THAT(Refusal(Bent(TwoWide, ZipLocator64, 0, uint32_t{0})), HasSubstr("4294967295 bytes at offset"));
}

TEST(ZipArchive, DamagedEntries)
{
    const auto entry = [](size_t offset, auto number)
    { return Refusal(Bent(TwoFiles, ZipEntryRecord, offset, number)); };
    EXPECT_THAT(entry(20, uint32_t{2}), HasSubstr("'first' is stored with two sizes, 2 and 3 bytes"));
    EXPECT_THAT(entry(20, uint64_t{0x4000000040000000}), HasSubstr("'first' of 1073741824 bytes leads out"));
    const auto toDirectory = static_cast<uint64_t>(TwoFiles.find(ZipEntryRecord) - TwoFiles.find("one"));
    EXPECT_THAT(entry(20, (toDirectory + 1) * 0x100000001), HasSubstr("leads out of the archive"));
    EXPECT_THAT(entry(42, uint32_t{0x40000000}), HasSubstr("no header of 'first' at offset 1073741824"));
    EXPECT_THAT(entry(42, uint32_t{1}), HasSubstr("no header of 'first' at offset 1"));
    const auto second = static_cast<uint32_t>(FindRecord(TwoFiles, ZipLocal, 1));
    EXPECT_THAT(entry(42, second), HasSubstr("the header of 'first' says something else than the directory"));
    EXPECT_THAT(Refusal(Bent(TwoFiles, ZipLocal, 8, uint16_t{8})), HasSubstr("says something else"));
    EXPECT_THAT(Refusal(Bent(TwoFiles, ZipLocal, 26, uint16_t{0xFFFF})), HasSubstr("says something else"));

    const size_t extra = FindRecord(TwoWide, ZipEntryRecord) + 46 + std::string("first").size();
    EXPECT_THAT(Refusal(WithLittleEndian(TwoWide, extra + 2, uint16_t{4})),
                HasSubstr("the extra field of 'first' is cut short"));
    EXPECT_THAT(Refusal(WithLittleEndian(TwoWide, extra + 2, uint16_t{0xFFFF})), HasSubstr("is cut short"));
    const std::string largest(16, '\xFF');
    EXPECT_THAT(Refusal(std::string(TwoWide).replace(extra + 4, 16, largest)),
                HasSubstr("'first' of 18446744073709551615"));
    EXPECT_THAT(Refusal(WithLittleEndian(TwoWide, extra + 20, uint64_t{0xFFFFFFFFFFFFFFF0})),
                HasSubstr("no header of 'first' at offset 18446744073709551600"));
}

TEST(ZipArchive, FilesThatShareBytes)
{
    const std::string inner = MakeZip({{"b", "data"}});
    const std::string nested = MakeZip({{"a", inner.substr(0, inner.find(ZipEntryRecord))}, {"b", "data"}});
    const auto offset = static_cast<uint32_t>(nested.find(ZipLocal, 1));
    EXPECT_THAT(Refusal(Bent(nested, ZipEntryRecord, 42, offset, 1)), HasSubstr("two files overlap at offset"));
    const std::string copies = MakeZip({{"a", "1"}, {"a", "1"}});
    EXPECT_THAT(Refusal(copies), HasSubstr("it has two files 'a'"));
}

TEST(ZipArchive, NamesThatNobodyCanType)
{
    for (const std::string& name :
         {std::string(), std::string("a\0b", 3), std::string("a\x1B[2Jb"), std::string("a\nb"), std::string("a\x7F"),
          std::string("a\xFF"), std::string(1025, 'a')})
    {
        EXPECT_THAT(Refusal(MakeZip({{name, "data"}})),
                    HasSubstr("the name of a file in it is empty, longer than 1024"));
    }
    EXPECT_EQ(Read(MakeZip({{"../../a", "data"}})).front().first, "../../a") << "is a name, and no file is written";
}

TEST(ZipArchive, ManyFiles)
{
    std::vector<ZipFile> files;
    for (size_t i = 0; i < 4096; ++i)
    {
        files.push_back({std::to_string(i), ""});
    }
    EXPECT_EQ(Read(MakeZip(files)).size(), 4096U);
    files.push_back({"one more", ""});
    EXPECT_THAT(Refusal(MakeZip(files)), HasSubstr("the zip archive has 4097 files; at most 4096 are read"));
}

TEST(ZipArchive, FormsThatAreNotSupported)
{
    const auto refusal = [](const std::string& archive)
    { return MessageOf<UnimplementedException>([&] { ReadZip(ToBytes(archive)); }); };
    EXPECT_THAT(refusal(MakeZip({{"packed", "...", 0, 8}})),
                HasSubstr("'packed' is compressed in the zip archive (method 8), which is not supported; store it"));
    EXPECT_THAT(refusal(MakeZip({{"other", "...", 0, 99}})), HasSubstr("(method 99)"));
    EXPECT_THAT(refusal(MakeZip({{"secret", "...", 1}})), HasSubstr("'secret' is encrypted"));
    EXPECT_THAT(refusal(Bent(TwoFiles, ZipEnd, 4, uint16_t{1})), HasSubstr("one of several parts"));
    EXPECT_THAT(refusal(Bent(TwoFiles, ZipEnd, 8, uint16_t{1})), HasSubstr("one of several parts"));
    EXPECT_THAT(refusal(Bent(TwoFiles, ZipEntryRecord, 34, uint16_t{1})), HasSubstr("in another part"));
}

TEST(ZipArchive, DeflatedFilesWhereTheyAreAllowed)
{
    const std::string archive = MakeZip({{"stored", "one"}, {"packed", "...", 0, 8, "", 30, 7}});
    const auto entries = zip::ReadZip(ToBytes(archive), zip::DeflatedFiles::Allowed);
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_FALSE(entries[0].m_IsDeflated);
    EXPECT_EQ(entries[0].m_Size, 3U);
    EXPECT_TRUE(entries[1].m_IsDeflated);
    EXPECT_EQ(entries[1].m_Size, 30U);
    EXPECT_EQ(entries[1].m_Bytes.size(), 3U);
    EXPECT_EQ(entries[1].m_Checksum, 7U);
    const auto read = [](const std::string& bytes) { zip::ReadZip(ToBytes(bytes), zip::DeflatedFiles::Allowed); };
    EXPECT_EQ(zip::ReadZip(ToBytes(MakeZip({{"a", "...", 0, 8, "", 3 * 1032}})), zip::DeflatedFiles::Allowed).size(),
              1U);
    EXPECT_THAT(MessageOf<ParseException>(
                    [&] {
                        read(MakeZip({{"bomb", "...", 0, 8, "", 4 * 1032}}));
                    }),
                HasSubstr("'bomb' cannot have 4128 bytes, as it has 3 compressed ones"));
    EXPECT_THAT(MessageOf<ParseException>(
                    [&] {
                        read(MakeZip({{"a", "...", 0, 0, "", 4}}));
                    }),
                HasSubstr("'a' is stored with two sizes, 3 and 4 bytes"));
    EXPECT_THAT(MessageOf<UnimplementedException>(
                    [&] {
                        read(MakeZip({{"other", "...", 0, 12}}));
                    }),
                HasSubstr("(method 12)"));
    EXPECT_THAT(MessageOf<ParseException>([&] { read(Bent(archive, ZipEntryRecord, 20, uint32_t{0x40000000}, 1)); }),
                HasSubstr("'packed' of 1073741824 bytes leads out of the archive"));
}

TEST(ZipArchive, Checksums)
{
    EXPECT_EQ(zip::ComputeChecksum({}), 0U);
    EXPECT_EQ(zip::ComputeChecksum(ToBytes("123456789")), 0xCBF43926U); // the check value of CRC-32
}

} // namespace tenon::test::zip_archive_test
