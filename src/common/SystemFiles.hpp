// SPDX-License-Identifier: Apache-2.0
// Files as the system has them, for MappedFile and ReplaceFile. Paths are UTF-8. The functions return the system's
// errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>

namespace tenon
{

enum class FileKind
{
    Regular,
    Folder,
    Pipe,
    Socket,
    Device,
    Other
};

struct FileFacts
{
    FileKind m_Kind = FileKind::Other;
    std::uint64_t m_Bytes = 0; ///< of a regular file
};

/// Does not open the file: opening a device can already do something.
std::error_code GetFileFacts(const std::string& path, FileFacts& facts);

/// A file that is open. The destructor closes it.
class SystemFile
{
public:
    SystemFile() = default;
    ~SystemFile() { static_cast<void>(Close()); }
    SystemFile(const SystemFile&) = delete;
    SystemFile& operator=(const SystemFile&) = delete;

    /// Opens the file for reading. Does not wait where the path has become that of a pipe.
    std::error_code Open(const std::string& path);
    /// Makes the file for writing. The error is std::errc::file_exists where anything has the path already, a link
    /// perhaps.
    std::error_code Create(const std::string& path);
    std::error_code Close();

    std::error_code GetFacts(FileFacts& facts) const;
    /// The memory of the first `bytes` of the file, at least one, to be read.
    std::error_code Map(std::size_t bytes, const std::byte*& data) const;
    std::error_code Write(std::span<const std::byte> bytes);

private:
    std::intptr_t m_Handle = -1; ///< -1: no file is open
};

/// Gives back the memory that SystemFile::Map() gave.
void UnmapFile(const std::byte* data, std::size_t bytes) noexcept;
/// Lets go of the memory of whole pages of a mapped file.
void ReleaseFilePages(const std::byte* data, std::size_t bytes) noexcept;

/// Puts a file in the place of another, if that is there.
std::error_code RenameFile(const std::string& from, const std::string& to);
void RemoveFile(const std::string& path) noexcept;

/// The number of this process, which no other one has at the same time.
std::uint64_t GetProcessNumber();

} // namespace tenon
