// SPDX-License-Identifier: Apache-2.0
// See SystemFiles.hpp.
#include "tools/common/SystemFiles.hpp"

#include <cerrno>
#include <charconv>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::tools
{
namespace
{

FileStatus StatusOf(const struct stat& file)
{
    return {S_ISREG(file.st_mode), S_ISFIFO(file.st_mode),
            FileIdentity{static_cast<uint64_t>(file.st_dev), static_cast<uint64_t>(file.st_ino)}};
}

} // namespace

std::optional<int> DescriptorOf(std::string_view path)
{
    if (path == "/dev/stdin")
    {
        return StandardInput;
    }
    if (path == "/dev/stdout")
    {
        return StandardOutput;
    }
    if (path == "/dev/stderr")
    {
        return StandardError;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    {
        if (path.starts_with(folder))
        {
            const std::string_view text = path.substr(folder.size());
            int number = -1;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (error == std::errc() && end == text.data() + text.size() && number >= 0)
            {
                return number;
            }
        }
    }
    return {};
}

std::FILE* OpenCopy(int descriptor, const char* mode)
{
    const int copy = dup(descriptor);
    std::FILE* const file = copy >= 0 ? fdopen(copy, mode) : nullptr;
    if (copy >= 0 && file == nullptr)
    {
        close(copy);
    }
    return file;
}

std::optional<FileStatus> GetFileStatus(const std::string& path)
{
    struct stat file = {};
    return stat(path.c_str(), &file) == 0 ? std::optional(StatusOf(file)) : std::nullopt;
}

std::optional<FileStatus> GetFileStatus(int descriptor)
{
    struct stat file = {};
    return fstat(descriptor, &file) == 0 ? std::optional(StatusOf(file)) : std::nullopt;
}

std::error_code CheckWritable(const std::string& folder)
{
    return {access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno, std::generic_category()};
}

} // namespace tenon::tools
