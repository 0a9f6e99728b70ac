// SPDX-License-Identifier: Apache-2.0
// ReadZip: see ZipArchive.hpp.
#include "zip/ZipArchive.hpp"

#include "text/Utf8.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tenon::zip
{

static_assert(std::endian::native == std::endian::little, "numbers of a zip archive are read as they are stored");

namespace
{

constexpr uint32_t LocalSignature = 0x04034B50;
constexpr uint32_t EntrySignature = 0x02014B50;
constexpr uint32_t EndSignature = 0x06054B50;
constexpr uint32_t End64Signature = 0x06064B50;
constexpr uint32_t Locator64Signature = 0x07064B50;

constexpr size_t LocalBytes = 30;
constexpr size_t EntryBytes = 46;
constexpr size_t EndBytes = 22;
constexpr size_t End64Bytes = 56;
constexpr size_t Locator64Bytes = 20;
constexpr size_t MaxCommentBytes = 0xFFFF;

constexpr uint16_t MethodStored = 0;
constexpr uint16_t MethodDeflated = 8;
/// A match of 258 bytes takes two bits.
constexpr uint64_t MaxDeflateRatio = 1032;

[[noreturn]] void Refuse(const std::string& fault)
{
    throw ParseException(fmt::format("the zip archive is damaged or cut short: {}", fault));
}

/// The number at `at`, which must lie within the bytes.
template <typename T>
T ReadNumber(Span<const uint8_t> bytes, size_t at)
{
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof(number));
    return number;
}

std::string_view ToText(Span<const uint8_t> bytes, size_t at, size_t count)
{
    return {reinterpret_cast<const char*>(bytes.data()) + at, count};
}

/// The remainder of each byte by the polynomial of CRC-32, whose bits are mirrored.
constexpr std::array<uint32_t, 256> ChecksumTable = []
{
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); ++byte)
    {
        table[byte] = byte;
        for (int bit = 0; bit < 8; ++bit)
        {
            table[byte] = table[byte] >> 1 ^ ((table[byte] & 1U) != 0 ? 0xEDB88320U : 0U);
        }
    }
    return table;
}();

/// The central directory: the table of files at the archive's end.
struct Directory
{
    size_t m_Begin = 0;
    size_t m_End = 0;
    uint64_t m_NumEntries = 0;
    size_t m_Base = 0; ///< where offsets count from; above 0 where bytes were put in front of a finished archive
};

/// The place of the end record, whose comment ends where the bytes do. A record without that belongs to something else,
/// such as the archive of a model inside a bundle that is cut short.
size_t FindEnd(Span<const uint8_t> bytes)
{
    for (size_t after = EndBytes; after <= bytes.size() && after <= EndBytes + MaxCommentBytes; ++after)
    {
        const size_t at = bytes.size() - after;
        if (ReadNumber<uint32_t>(bytes, at) == EndSignature &&
            ReadNumber<uint16_t>(bytes, at + EndBytes - 2) == after - EndBytes)
        {
            return at;
        }
    }
    throw ParseException("there is no zip archive, or it is cut short: the bytes do not end with its end record");
}

/// The place of the end record of 64-bit sizes in front of its locator. The locator counts from the archive's start.
size_t FindEnd64(Span<const uint8_t> bytes, size_t locator)
{
    if (locator >= End64Bytes)
    {
        const size_t nearest = locator - End64Bytes;
        for (const uint64_t at : {ReadNumber<uint64_t>(bytes, locator + 8), uint64_t{nearest}})
        {
            if (at <= nearest && ReadNumber<uint32_t>(bytes, static_cast<size_t>(at)) == End64Signature)
            {
                return static_cast<size_t>(at);
            }
        }
    }
    Refuse("its locator of 64-bit sizes leads nowhere");
}

Directory FindDirectory(Span<const uint8_t> bytes)
{
    Directory directory;
    size_t end = FindEnd(bytes);
    uint64_t disk = ReadNumber<uint16_t>(bytes, end + 4);
    uint64_t firstDisk = ReadNumber<uint16_t>(bytes, end + 6);
    uint64_t onDisk = ReadNumber<uint16_t>(bytes, end + 8);
    directory.m_NumEntries = ReadNumber<uint16_t>(bytes, end + 10);
    uint64_t size = ReadNumber<uint32_t>(bytes, end + 12);
    uint64_t offset = ReadNumber<uint32_t>(bytes, end + 16);
    if (end >= Locator64Bytes && ReadNumber<uint32_t>(bytes, end - Locator64Bytes) == Locator64Signature)
    {
        const size_t locator = end - Locator64Bytes;
        end = FindEnd64(bytes, locator);
        constexpr size_t sizeEnd = 12; // the record's size counts from here
        if (ReadNumber<uint64_t>(bytes, end + 4) != locator - end - sizeEnd)
        {
            Refuse("its end record of 64-bit sizes has another size than it says");
        }
        disk = ReadNumber<uint32_t>(bytes, end + 16);
        firstDisk = ReadNumber<uint32_t>(bytes, end + 20);
        onDisk = ReadNumber<uint64_t>(bytes, end + 24);
        directory.m_NumEntries = ReadNumber<uint64_t>(bytes, end + 32);
        size = ReadNumber<uint64_t>(bytes, end + 40);
        offset = ReadNumber<uint64_t>(bytes, end + 48);
    }
    if (disk != 0 || firstDisk != 0 || onDisk != directory.m_NumEntries)
    {
        throw UnimplementedException("the zip archive is one of several parts, which is not supported; join them");
    }
    if (size > end || offset > end - size)
    {
        Refuse(fmt::format("its directory of {} bytes at offset {} lies outside of {} bytes", size, offset, end));
    }
    directory.m_End = end;
    directory.m_Begin = end - static_cast<size_t>(size);
    directory.m_Base = directory.m_Begin - static_cast<size_t>(offset);
    if (directory.m_NumEntries > size / EntryBytes)
    {
        Refuse(fmt::format("its directory of {} bytes cannot have {} files", size, directory.m_NumEntries));
    }
    if (directory.m_NumEntries > MaxZipFiles)
    {
        throw ParseException(
            fmt::format("the zip archive has {} files; at most {} are read", directory.m_NumEntries, MaxZipFiles));
    }
    return directory;
}

/// Sizes and the place of a file. A 32-bit number that is all ones stands in the entry's extra field, with 64 bits.
struct Extent
{
    uint64_t m_Stored = 0;
    uint64_t m_Size = 0;
    uint64_t m_Offset = 0;
};

void ReadExtra(Span<const uint8_t> extra, const std::string& name, Extent& extent)
{
    constexpr size_t headerBytes = 4;
    constexpr uint16_t wideNumbers = 1;
    for (size_t at = 0; at + headerBytes <= extra.size();)
    {
        const size_t bytes = ReadNumber<uint16_t>(extra, at + 2);
        const bool isWide = ReadNumber<uint16_t>(extra, at) == wideNumbers;
        at += headerBytes;
        size_t used = 0;
        bool isWhole = bytes <= extra.size() - at;
        for (uint64_t* const number : {&extent.m_Size, &extent.m_Stored, &extent.m_Offset})
        {
            if (isWhole && isWide && *number == std::numeric_limits<uint32_t>::max())
            {
                isWhole = bytes - used >= sizeof(*number);
                *number = isWhole ? ReadNumber<uint64_t>(extra, at + used) : 0;
                used += sizeof(*number);
            }
        }
        if (!isWhole)
        {
            Refuse(fmt::format("the extra field of '{}' is cut short", name));
        }
        at += bytes;
    }
}

/// Reads the entries of a directory one after another.
class DirectoryReader
{
public:
    DirectoryReader(Span<const uint8_t> bytes, const Directory& directory, DeflatedFiles deflated)
        : m_Bytes(bytes), m_Directory(directory), m_Deflated(deflated), m_At(directory.m_Begin)
    {
    }

    std::vector<ZipEntry> Read()
    {
        std::vector<ZipEntry> entries;
        for (uint64_t i = 0; i < m_Directory.m_NumEntries; ++i)
        {
            ZipEntry entry = ReadEntry();
            if (!entry.m_Name.ends_with('/')) // a folder
            {
                entries.push_back(std::move(entry));
            }
        }
        if (m_At != m_Directory.m_End)
        {
            Refuse(fmt::format("its directory has more than the {} files that it says", m_Directory.m_NumEntries));
        }
        CheckOverlap();
        return entries;
    }

private:
    ZipEntry ReadEntry()
    {
        const size_t at = m_At;
        if (EntryBytes > m_Directory.m_End - at || ReadNumber<uint32_t>(m_Bytes, at) != EntrySignature)
        {
            Refuse("an entry of its directory is none");
        }
        const uint16_t flags = ReadNumber<uint16_t>(m_Bytes, at + 8);
        const uint16_t method = ReadNumber<uint16_t>(m_Bytes, at + 10);
        const size_t nameBytes = ReadNumber<uint16_t>(m_Bytes, at + 28);
        const size_t extraBytes = ReadNumber<uint16_t>(m_Bytes, at + 30);
        const size_t commentBytes = ReadNumber<uint16_t>(m_Bytes, at + 32);
        const uint16_t disk = ReadNumber<uint16_t>(m_Bytes, at + 34);
        Extent extent{ReadNumber<uint32_t>(m_Bytes, at + 20), ReadNumber<uint32_t>(m_Bytes, at + 24),
                      ReadNumber<uint32_t>(m_Bytes, at + 42)};
        if (nameBytes + extraBytes + commentBytes > m_Directory.m_End - at - EntryBytes)
        {
            Refuse("an entry leads out of its directory");
        }
        m_At += EntryBytes + nameBytes + extraBytes + commentBytes;

        const std::string name(ToText(m_Bytes, at + EntryBytes, nameBytes));
        if (!text::IsPartName(name))
        {
            Refuse(fmt::format("the name of a file in it is empty, longer than {} bytes, not in UTF-8, or has control "
                               "characters",
                               text::MaxPartNameBytes));
        }
        if (!m_Names.insert(name).second)
        {
            Refuse(fmt::format("it has two files '{}'", name));
        }
        ReadExtra({m_Bytes.data() + at + EntryBytes + nameBytes, extraBytes}, name, extent);
        CheckStorage(name, flags, method, disk);
        if (method == MethodStored && extent.m_Stored != extent.m_Size)
        {
            Refuse(fmt::format("'{}' is stored with two sizes, {} and {} bytes", name, extent.m_Stored, extent.m_Size));
        }
        const Span<const uint8_t> data = FindData(name, method, extent);
        if (extent.m_Size / MaxDeflateRatio > data.size())
        {
            Refuse(fmt::format("'{}' cannot have {} bytes, as it has {} compressed ones", name, extent.m_Size,
                               data.size()));
        }
        return {name, data, method == MethodDeflated, extent.m_Size, ReadNumber<uint32_t>(m_Bytes, at + 16)};
    }

    void CheckStorage(const std::string& name, uint16_t flags, uint16_t method, uint16_t disk) const
    {
        constexpr uint16_t isEncrypted = 1;
        constexpr uint16_t wideDisk = 0xFFFF;
        if (disk != 0 && disk != wideDisk)
        {
            throw UnimplementedException(
                fmt::format("'{}' lies in another part of the zip archive, which is not supported", name));
        }
        if ((flags & isEncrypted) != 0)
        {
            throw UnimplementedException(fmt::format("'{}' is encrypted in the zip archive", name));
        }
        if (method != MethodStored && (method != MethodDeflated || m_Deflated == DeflatedFiles::Refused))
        {
            throw UnimplementedException(
                fmt::format("'{}' is compressed in the zip archive (method {}), which is not supported; store it, as "
                            "'zip -0' does",
                            name, method));
        }
    }

    /// The file's bytes, behind its local header, which says the same as the directory does.
    Span<const uint8_t> FindData(const std::string& name, uint16_t method, const Extent& extent)
    {
        const size_t end = m_Directory.m_Begin;
        const size_t max = end - m_Directory.m_Base;
        const size_t header = m_Directory.m_Base + static_cast<size_t>(std::min<uint64_t>(extent.m_Offset, max));
        if (LocalBytes > end - header || ReadNumber<uint32_t>(m_Bytes, header) != LocalSignature)
        {
            Refuse(fmt::format("there is no header of '{}' at offset {}", name, extent.m_Offset));
        }
        const size_t nameBytes = ReadNumber<uint16_t>(m_Bytes, header + 26);
        const size_t headerBytes = LocalBytes + nameBytes + ReadNumber<uint16_t>(m_Bytes, header + 28);
        if (headerBytes > end - header || ToText(m_Bytes, header + LocalBytes, nameBytes) != name ||
            ReadNumber<uint16_t>(m_Bytes, header + 8) != method)
        {
            Refuse(fmt::format("the header of '{}' says something else than the directory", name));
        }
        const size_t data = header + headerBytes;
        if (extent.m_Stored > end - data)
        {
            Refuse(fmt::format("'{}' of {} bytes leads out of the archive", name, extent.m_Stored));
        }
        const auto size = static_cast<size_t>(extent.m_Stored);
        m_Extents.emplace_back(header, data + size);
        return {m_Bytes.data() + data, size};
    }

    void CheckOverlap()
    {
        std::sort(m_Extents.begin(), m_Extents.end());
        for (size_t i = 1; i < m_Extents.size(); ++i)
        {
            if (m_Extents[i].first < m_Extents[i - 1].second)
            {
                Refuse(fmt::format("two files overlap at offset {}", m_Extents[i].first));
            }
        }
    }

    Span<const uint8_t> m_Bytes;
    const Directory& m_Directory;
    DeflatedFiles m_Deflated;
    size_t m_At; ///< of the next entry
    std::set<std::string> m_Names;
    std::vector<std::pair<size_t, size_t>> m_Extents; ///< begin and end of each file with its header
};

} // namespace

std::vector<ZipEntry> ReadZip(Span<const uint8_t> bytes, DeflatedFiles deflated)
{
    const Directory directory = FindDirectory(bytes);
    return DirectoryReader(bytes, directory, deflated).Read();
}

uint32_t ComputeChecksum(Span<const uint8_t> bytes)
{
    uint32_t sum = ~0U;
    for (const uint8_t byte : bytes)
    {
        sum = sum >> 8 ^ ChecksumTable[(sum ^ byte) & 0xFFU];
    }
    return ~sum;
}

} // namespace tenon::zip
