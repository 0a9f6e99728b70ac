// SPDX-License-Identifier: Apache-2.0
// See FileChecks.hpp.
#include "cli/FileChecks.hpp"

#include "cli/Errors.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace tenon::cli
{
namespace
{

namespace fs = std::filesystem;

/// Some may be empty.
std::vector<std::string> ReadFiles(const Options& options)
{
    std::vector<std::string> read = options.m_InputFiles;
    read.push_back(options.m_ModelPath);
    read.push_back(options.m_LabelsFile);
    read.push_back(options.m_DynamicBackendsPath);
    if (!options.m_SaveCachedNetwork)
    {
        read.push_back(options.m_CachedNetworkFile);
    }
    return read;
}

std::vector<std::string> WrittenFiles(const Options& options)
{
    std::vector<std::string> written = options.m_OutputFiles;
    for (const std::string* path : {&options.m_ReportFile, &options.m_ProfileFile, &options.m_ChromeTraceFile,
                                    &options.m_SerializeFile, &options.m_SerializeOptimizedFile, &options.m_DotFile})
    {
        if (!path->empty())
        {
            written.push_back(*path);
        }
    }
    if (options.m_SaveCachedNetwork)
    {
        written.push_back(options.m_CachedNetworkFile);
    }
    return written;
}

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

} // namespace

void CheckFiles(const Options& options)
{
    const std::vector<std::string> read = ReadFiles(options);
    std::set<fs::path> seen;
    for (const std::string& path : WrittenFiles(options))
    {
        std::error_code error;
        // Absolute first: of a relative path whose file is not there yet, "./a" and "a" would stay different.
        fs::path whole = fs::absolute(path, error);
        if (!error)
        {
            whole = fs::weakly_canonical(whole, error);
        }
        if (error)
        {
            whole = path;
        }
        const bool isFile = fs::is_regular_file(whole, error) || !fs::exists(whole, error);
        if (isFile && !seen.insert(whole).second)
        {
            throw UsageError(fmt::format("'{}' is given twice as a file to write", OneLine(path)));
        }
        const auto isSame = [&](const std::string& other)
        {
            std::error_code none; // a file that is not there is no error here
            return !other.empty() && fs::equivalent(other, whole, none);
        };
        CheckFolder(path, whole);
        if (std::any_of(read.begin(), read.end(), isSame))
        {
            throw UsageError(fmt::format("'{}' is given both as a file to read and as one to write", OneLine(path)));
        }
        // They are written beside their place and then put there: no device must make way for them.
        if (!isFile && options.m_SaveCachedNetwork && path == options.m_CachedNetworkFile)
        {
            throw UsageError(fmt::format("cannot write '{}': packed weights need a regular file", OneLine(path)));
        }
    }
}

void CheckDynamicBackendsPath(const Options& options)
{
    const std::string& path = options.m_DynamicBackendsPath;
    if (path.empty())
    {
        return;
    }
    std::error_code error;
    if (!fs::exists(path, error))
    {
        throw UsageError(fmt::format("--dynamic-backends-path: there is no '{}'; name a folder of *_backend.so files, "
                                     "or one such file",
                                     OneLine(path)));
    }
    if (fs::is_directory(path, error))
    {
        const fs::directory_iterator entries(path, error);
        if (error)
        {
            throw UsageError(
                fmt::format("--dynamic-backends-path: '{}' cannot be read: {}", OneLine(path), error.message()));
        }
    }
}

} // namespace tenon::cli
