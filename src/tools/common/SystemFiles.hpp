// SPDX-License-Identifier: Apache-2.0
// Queries of ExecuteNetwork to the operating system about files and open streams.
#pragma once

#include <compare>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tenon::tools
{

/// The numbers of the streams that every program has.
enum StandardDescriptor : int
{
    StandardInput = 0,
    StandardOutput = 1,
    StandardError = 2
};

/// The number of the open stream that a path names: "/dev/stdout", "/dev/fd/3", if the system has such paths.
std::optional<int> DescriptorOf(std::string_view path);

/// A new stream for a descriptor that is open already. If there is none, it is null, and errno is set.
std::FILE* OpenCopy(int descriptor, const char* mode);

/// The device and the number of a file on it: the same for all names of the file.
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

/// The status of the file of a path, or of an open stream; nothing if there is none.
std::optional<FileStatus> GetFileStatus(const std::string& path);
std::optional<FileStatus> GetFileStatus(int descriptor);

/// The error, if any, of writing files into an existing folder.
std::error_code CheckWritable(const std::string& folder);

} // namespace tenon::tools
