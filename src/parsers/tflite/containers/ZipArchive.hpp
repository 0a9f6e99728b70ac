// SPDX-License-Identifier: Apache-2.0
// ReadZip: the files of a zip archive in memory, as MediaPipe writes bundles (.task) and TFLite metadata appends files
// to a model. Files are used in place, so they must be stored: MediaPipe's own reader refuses compressed ones, too.
#pragma once

#include <tenon/Span.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tflite
{

struct ZipEntry
{
    std::string m_Name; ///< in UTF-8, without control characters; each name is there once
    Span<const uint8_t> m_Bytes;
};

/// At most so many files are in an archive. Bundles have fewer than 20.
constexpr size_t MaxZipFiles = 4096;

/// The files, without folders, of the archive that ends where `bytes` do; other bytes may precede it. The archive may
/// have 64-bit sizes. No two files share bytes, so that all of them together are no larger than the archive. Checksums
/// are not looked at. Throws ParseException for a damaged archive, UnimplementedException for a compressed or encrypted
/// file and for a part of an archive of several.
std::vector<ZipEntry> ReadZip(Span<const uint8_t> bytes);

} // namespace tenon::tflite
