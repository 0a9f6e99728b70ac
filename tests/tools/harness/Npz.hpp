// SPDX-License-Identifier: Apache-2.0
// .npz files for tests.
#pragma once

#include "harness/ZipBuilder.hpp"
#include "zip/ZipArchive.hpp"

#include <tenon/Span.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

/// stb_image_write's, which makes .png files by it; StbImageWrite.cpp has it.
extern "C" unsigned char* stbi_zlib_compress(unsigned char* data, int bytes, int* size, int quality);

namespace tenon::tools::test
{

/// `bytes` compressed by deflate, without zlib's header and checksum.
inline std::string Deflate(std::string bytes)
{
    constexpr int quality = 8;
    constexpr size_t headerBytes = 2;
    constexpr size_t checksumBytes = 4;
    int size = 0;
    unsigned char* const compressed = stbi_zlib_compress(reinterpret_cast<unsigned char*>(bytes.data()),
                                                         static_cast<int>(bytes.size()), &size, quality);
    const std::string text(reinterpret_cast<const char*>(compressed), static_cast<size_t>(size));
    std::free(compressed);
    return text.substr(headerBytes, text.size() - headerBytes - checksumBytes);
}

inline uint32_t ChecksumOf(const std::string& bytes)
{
    return zip::ComputeChecksum({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

/// A file of an archive as numpy.savez stores it.
inline tenon::test::ZipFile StoredFile(const std::string& name, const std::string& bytes)
{
    return {name, bytes, 0, 0, {}, {}, ChecksumOf(bytes)};
}

/// A file of an archive as numpy.savez_compressed has it.
inline tenon::test::ZipFile DeflatedFile(const std::string& name, const std::string& bytes)
{
    return {name, Deflate(bytes), 0, 8, {}, static_cast<uint32_t>(bytes.size()), ChecksumOf(bytes)};
}

} // namespace tenon::tools::test
