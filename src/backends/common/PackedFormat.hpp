// SPDX-License-Identifier: Apache-2.0
// The layout of files of packed weights: a header, a directory of blocks, and the blocks, each of these at the next
// multiple of 64 bytes. Numbers have the byte order of the machine that wrote them, which the magic number tells.
#pragma once

#include "backends/common/PackedArchive.hpp"
#include "backends/common/PackedKey.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::backends
{

constexpr uint64_t PackedMagic = 0x314B434150'4E4E54; // "TNNPACK1" of a little-endian machine
/// The number to be raised with each change of this file. The layouts that kernels pack have a version of their own,
/// see PackedFor.
constexpr uint32_t PackedFormatVersion = 18;

struct PackedHeader
{
    static constexpr size_t TextBytes = 96;

    uint64_t m_Magic = PackedMagic;
    uint64_t m_Checksum = 0; ///< of the header's bytes behind it, and the directory
    uint32_t m_Format = PackedFormatVersion;
    uint32_t m_AddressBytes = sizeof(void*);
    uint64_t m_FileBytes = 0;
    uint64_t m_NumBlocks = 0;
    char m_Version[TextBytes] = {}; ///< as in PackedFor; filled up with zeros, of which there is one at least
    char m_Instructions[TextBytes] = {};
    char m_Options[TextBytes] = {};

    static constexpr size_t ChecksumFrom = 2 * sizeof(uint64_t);
};

/// An entry of the directory, which has the order of the blocks. The blocks of one layer stand together, in the order
/// in which it asks for them.
struct PackedEntry
{
    PackedKey m_Key;
    uint64_t m_Bytes = 0;
    uint64_t m_Checksum = 0; ///< of the block
};

static_assert(sizeof(PackedHeader) == 40 + 3 * PackedHeader::TextBytes && sizeof(PackedEntry) == 32,
              "the file has no gaps that would differ from machine to machine");

constexpr uint64_t RoundUpToBlock(uint64_t offset)
{
    return (offset + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
}

/// The header is the first bytes of the file, the directory follows it.
inline uint64_t GetDirectoryChecksum(const std::byte* file, size_t directoryEnd)
{
    return GetChecksum(file + PackedHeader::ChecksumFrom, directoryEnd - PackedHeader::ChecksumFrom);
}

} // namespace tenon::backends
