// SPDX-License-Identifier: Apache-2.0
// Zip archives for tests of their readers. Tests bend the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test
{

struct ZipFile
{
    std::string m_Name;
    std::string m_Bytes;
    uint16_t m_Flags = 0;
    uint16_t m_Method = 0;
    std::string m_LocalExtra = {};       ///< extra fields of the file's header
    std::optional<uint32_t> m_Size = {}; ///< where it is not the number of bytes, as these are compressed
    uint32_t m_Checksum = 0;             ///< no reader of bundles looks at it
};

struct ZipOptions
{
    size_t m_Padding = 0;  ///< zeros in front of each file, as MediaPipe's writer has 1 to 4
    bool m_IsWide = false; ///< 64-bit sizes, offsets and counts
    std::string m_Comment = {};
};

/// Signatures of records, for FindRecord.
constexpr const char* ZipLocal = "PK\x03\x04";
constexpr const char* ZipEntryRecord = "PK\x01\x02";
constexpr const char* ZipEnd = "PK\x05\x06";
constexpr const char* ZipEnd64 = "PK\x06\x06";
constexpr const char* ZipLocator64 = "PK\x06\x07";

template <typename T>
void AppendNumber(std::string& bytes, T number)
{
    bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

/// `bytes` with another number at `at`.
template <typename T>
std::string WithLittleEndian(std::string bytes, size_t at, T number)
{
    std::memcpy(bytes.data() + at, &number, sizeof(number));
    return bytes;
}

inline std::string MakeZip(const std::vector<ZipFile>& files, const ZipOptions& options = {})
{
    constexpr uint32_t wide = std::numeric_limits<uint32_t>::max();
    std::string bytes;
    std::string directory;
    const auto appendStart = [](std::string& record, const ZipFile& file)
    {
        AppendNumber<uint16_t>(record, 20); // version
        AppendNumber(record, file.m_Flags);
        AppendNumber(record, file.m_Method);
        AppendNumber<uint32_t>(record, 0); // time and date
        AppendNumber(record, file.m_Checksum);
    };
    for (const ZipFile& file : files)
    {
        bytes.append(options.m_Padding, '\0');
        const size_t offset = bytes.size();
        const auto stored = static_cast<uint32_t>(file.m_Bytes.size());
        const uint32_t size = file.m_Size.value_or(stored);
        bytes += ZipLocal;
        appendStart(bytes, file);
        AppendNumber(bytes, stored);
        AppendNumber(bytes, size);
        AppendNumber(bytes, static_cast<uint16_t>(file.m_Name.size()));
        AppendNumber(bytes, static_cast<uint16_t>(file.m_LocalExtra.size()));
        bytes += file.m_Name + file.m_LocalExtra + file.m_Bytes;

        std::string extra;
        if (options.m_IsWide)
        {
            AppendNumber<uint16_t>(extra, 1);
            AppendNumber<uint16_t>(extra, 3 * sizeof(uint64_t));
            AppendNumber<uint64_t>(extra, size);
            AppendNumber<uint64_t>(extra, stored);
            AppendNumber<uint64_t>(extra, offset);
        }
        directory += ZipEntryRecord;
        AppendNumber<uint16_t>(directory, 20); // version of the writer
        appendStart(directory, file);
        AppendNumber(directory, options.m_IsWide ? wide : stored);
        AppendNumber(directory, options.m_IsWide ? wide : size);
        AppendNumber(directory, static_cast<uint16_t>(file.m_Name.size()));
        AppendNumber(directory, static_cast<uint16_t>(extra.size()));
        directory.append(10, '\0'); // comment, disk and attributes
        AppendNumber(directory, options.m_IsWide ? wide : static_cast<uint32_t>(offset));
        directory += file.m_Name + extra;
    }
    const size_t begin = bytes.size();
    bytes += directory;
    if (options.m_IsWide)
    {
        const size_t end = bytes.size();
        bytes += ZipEnd64;
        AppendNumber<uint64_t>(bytes, 44); // the rest of the record
        AppendNumber<uint32_t>(bytes, 45U << 16 | 45U);
        AppendNumber<uint64_t>(bytes, 0); // disks
        AppendNumber<uint64_t>(bytes, files.size());
        AppendNumber<uint64_t>(bytes, files.size());
        AppendNumber<uint64_t>(bytes, directory.size());
        AppendNumber<uint64_t>(bytes, begin);
        bytes += ZipLocator64;
        AppendNumber<uint32_t>(bytes, 0);
        AppendNumber<uint64_t>(bytes, end);
        AppendNumber<uint32_t>(bytes, 1);
    }
    bytes += ZipEnd;
    AppendNumber<uint32_t>(bytes, 0); // disks
    AppendNumber<uint16_t>(bytes, options.m_IsWide ? 0xFFFF : static_cast<uint16_t>(files.size()));
    AppendNumber<uint16_t>(bytes, options.m_IsWide ? 0xFFFF : static_cast<uint16_t>(files.size()));
    AppendNumber(bytes, options.m_IsWide ? wide : static_cast<uint32_t>(directory.size()));
    AppendNumber(bytes, options.m_IsWide ? wide : static_cast<uint32_t>(begin));
    AppendNumber(bytes, static_cast<uint16_t>(options.m_Comment.size()));
    return bytes + options.m_Comment;
}

} // namespace tenon::test
