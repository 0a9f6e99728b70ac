// SPDX-License-Identifier: Apache-2.0
// What ExecuteNetwork asks of the operating system about files and open streams.
#pragma once

#include <compare>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tenon::cli
{

/// The numbers of the streams that every program has.
enum StandardDescriptor : int
{
    StandardInput = 0,
    StandardOutput = 1,
    StandardError = 2
};

/// The number of the open stream that a path names: "/dev/stdout", "/dev/fd/3", where the system has such paths.
std::optional<int> DescriptorOf(std::string_view path);

/// A stream of its own for a descriptor that is open already. Null, and errno, if there is none.
std::FILE* OpenCopy(int descriptor, const char* mode);

/// The device and the number of a file there: the same for all its names.
struct FileIdentity
{
    uint64_t m_Device = 0;
    uint64_t m_Number = 0;

    friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct FileStatus
{
    bool m_IsRegular = false;
    bool m_IsPipe = false; ///< with or without a name
    FileIdentity m_Identity;
};

/// Of the file of a path, or of an open stream; nothing where there is none.
std::optional<FileStatus> GetFileStatus(const std::string& path);
std::optional<FileStatus> GetFileStatus(int descriptor);

/// Why files cannot be written into a folder that is there.
std::error_code CheckWritable(const std::string& folder);

} // namespace tenon::cli
