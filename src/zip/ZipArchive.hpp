// SPDX-License-Identifier: Apache-2.0
// ReadZip: the files of a zip archive in memory, as MediaPipe writes bundles (.task), TFLite metadata appends files to
// a model, and NumPy writes arrays (.npz). Files of bundles are used in place, so they must be stored: MediaPipe's own
// reader refuses compressed ones, too.
#pragma once

#include <tenon/Span.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::zip
{

struct ZipEntry
{
    std::string m_Name; ///< in UTF-8, without control characters; each name is there once
    Span<const uint8_t> m_Bytes;
    bool m_IsDeflated = false; ///< whether m_Bytes are compressed by deflate
    uint64_t m_Size = 0;       ///< bytes of the file itself, not more than deflate can make of m_Bytes
    uint32_t m_Checksum = 0;   ///< CRC-32 of the file, unless the archive lies
};

/// At most so many files are in an archive. Bundles have fewer than 20.
constexpr size_t MaxZipFiles = 4096;

enum class DeflatedFiles
{
    Refused,
    Allowed
};

/// The files, without folders, of the archive that ends where `bytes` do; other bytes may precede it. The archive may
/// have 64-bit sizes. No two files share bytes, so that all of them together are no larger than the archive. Checksums
/// are not looked at. Throws ParseException for a damaged archive, UnimplementedException for an encrypted file, for
/// one that is compressed, unless by deflate where that is allowed, and for a part of an archive of several.
std::vector<ZipEntry> ReadZip(Span<const uint8_t> bytes, DeflatedFiles deflated = DeflatedFiles::Refused);

/// The CRC-32 of zip archives.
uint32_t ComputeChecksum(Span<const uint8_t> bytes);

} // namespace tenon::zip
