// SPDX-License-Identifier: Apache-2.0
// See PathChecks.hpp.
#include "tools/common/PathChecks.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

void CheckFolder(const std::string& path, const fs::path& whole)
{
    std::error_code error;
    if (fs::is_directory(whole, error))
    {
        throw UsageError(fmt::format("cannot write '{}': it is a folder", OneLine(path)));
    }
    const fs::path folder = whole.parent_path();
    if (!folder.empty() && !fs::is_directory(folder, error))
    {
        throw UsageError(
            fmt::format("cannot write '{}': there is no folder '{}'", OneLine(path), OneLine(folder.string())));
    }
}

/// Of a pipe with or without a name; nothing of anything else. The path of an open stream is that of its descriptor.
std::optional<FileIdentity> IdentityOfPipe(const std::string& path, bool isStream, int descriptor)
{
    if (path.empty())
    {
        return {};
    }
    const std::optional<FileStatus> file = isStream ? GetFileStatus(descriptor) : GetFileStatus(path);
    return file && file->m_IsPipe ? std::optional(file->m_Identity) : std::nullopt;
}

std::optional<FileIdentity> IdentityOfPipeToRead(const std::string& path)
{
    return IdentityOfPipe(path, IsStandardInput(path), StandardInput);
}

/// A stream can be read once, and a named pipe has no second writer.
void CheckStreamsToRead(const std::vector<std::string>& read)
{
    std::map<FileIdentity, std::string> pipes;
    std::string standardInput; // its name, if it is given
    for (const std::string& path : read)
    {
        std::string first; // the name under which it is given before
        if (IsStandardInput(path))
        {
            first = std::exchange(standardInput, path);
        }
        if (const std::optional<FileIdentity> pipe = IdentityOfPipeToRead(path))
        {
            const auto [place, isNew] = pipes.emplace(*pipe, path);
            first = isNew ? first : place->second;
        }
        if (!first.empty())
        {
            throw UsageError(fmt::format(
                "'{}' is given twice as a file to read{}, but it is a stream that is read once; name another file",
                OneLine(path), first == path ? "" : fmt::format(" (first as '{}')", OneLine(first))));
        }
    }
}

/// Each would wait for the other.
void CheckPipesToWrite(const std::vector<std::string>& read, const std::vector<std::string>& written)
{
    std::map<FileIdentity, std::string> pipes;
    for (const std::string& path : read)
    {
        if (const std::optional<FileIdentity> pipe = IdentityOfPipeToRead(path))
        {
            pipes.emplace(*pipe, path);
        }
    }
    for (const std::string& path : written)
    {
        const std::optional<FileIdentity> pipe = IdentityOfPipe(path, IsStandardOutput(path), StandardOutput);
        if (pipe && pipes.contains(*pipe))
        {
            throw UsageError(fmt::format(
                "'{}' is given both as a file to read and as one to write{}; name another "
                "file for one of them",
                OneLine(path), pipes[*pipe] == path ? "" : fmt::format(" (to read as '{}')", OneLine(pipes[*pipe]))));
        }
    }
}

} // namespace

void CheckFilePaths(const std::vector<std::string>& read, const std::vector<std::string>& written)
{
    CheckStreamsToRead(read);
    CheckPipesToWrite(read, written);
    if (std::count_if(written.begin(), written.end(), IsStandardOutput) > 1)
    {
        throw UsageError("standard output is given for two files to write; name a file for one of them");
    }
    std::set<fs::path> seen;
    for (const std::string& path : written)
    {
        const bool isStream = IsStandardOutput(path);
        std::error_code error;
        const fs::path whole = CanonicalPath(path);
        const bool isFile = !isStream && (fs::is_regular_file(whole, error) || !fs::exists(whole, error));
        if (isFile && !seen.insert(whole).second)
        {
            throw UsageError(fmt::format("'{}' is given twice as a file to write", OneLine(path)));
        }
        const auto isSame = [&](const std::string& other)
        {
            std::error_code none; // a file that is not there is no error here
            return !other.empty() && fs::is_regular_file(other, none) && fs::equivalent(other, whole, none);
        };
        if (!isStream)
        {
            CheckFolder(path, whole);
        }
        if (std::any_of(read.begin(), read.end(), isSame))
        {
            throw UsageError(fmt::format("'{}' is given both as a file to read and as one to write", OneLine(path)));
        }
    }
}

} // namespace tenon::tools
