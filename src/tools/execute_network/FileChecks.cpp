// SPDX-License-Identifier: Apache-2.0
// See FileChecks.hpp.
#include "tools/execute_network/FileChecks.hpp"

#include "formats/ModelFormat.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/execute_network/FileSeries.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

/// Some may be empty.
std::vector<std::string> ReadFiles(const Options& options)
{
    std::vector<std::string> read = options.m_InputFiles;
    read.insert(read.end(), options.m_CompareFiles.begin(), options.m_CompareFiles.end());
    read.insert(read.end(), options.m_CompareWith.begin(), options.m_CompareWith.end());
    read.push_back(options.m_ModelPath);
    read.push_back(options.m_LabelsFile);
    read.push_back(options.m_ProfileAgainst);
    read.push_back(options.m_DynamicBackendsPath);
    if (!options.m_SaveCachedNetwork)
    {
        read.push_back(options.m_CachedNetworkFile);
    }
    return read;
}

/// Without outputs of a series of inputs, see SeriesOutputs.
std::vector<std::string> WrittenFiles(const Options& options)
{
    std::vector<std::string> written;
    if (!HasFileSeries(options))
    {
        written = options.m_OutputFiles;
    }
    for (const std::string* path :
         {&options.m_ReportFile, &options.m_ProfileFile, &options.m_ChromeTraceFile, &options.m_SerializeFile,
          &options.m_SerializeOptimizedFile, &options.m_DotFile, &options.m_PlanFile, &options.m_ProfilePage})
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

/// A file by the name of another format's would be taken for one by whoever finds it.
void CheckEndingOfNetwork(const char* option, const std::string& path)
{
    if (const formats::ModelFormat* const format = formats::FindUnwrittenFormat(path))
    {
        throw UsageError(fmt::format("{}: '{}' has the name of {}, but a network can only be written as a .tenon file; "
                                     "give a name that ends with .tenon",
                                     option, OneLine(path), format->m_Description));
    }
}

/// Packed weights are mapped where they are read, and are written beside their place and then put there: a device must
/// not make way for them.
void CheckCachedNetworkFile(const Options& options)
{
    const std::string& path = options.m_CachedNetworkFile;
    std::error_code error;
    const bool isStream = path == StandardStream || (options.m_SaveCachedNetwork && IsStandardOutput(path));
    const bool isOther = fs::exists(path, error) && !fs::is_regular_file(path, error) && !fs::is_directory(path, error);
    if (!path.empty() && (isStream || isOther)) // a folder is refused where it is opened
    {
        throw UsageError(fmt::format("--cached-network-filepath: '{}' is no regular file, but packed weights need a "
                                     "regular file; name one",
                                     OneLine(path)));
    }
}

void CheckStandardOutput(const Options& options)
{
    const std::vector<std::string> written = WrittenFiles(options);
    const int64_t count = std::count_if(written.begin(), written.end(), IsStandardOutput);
    if (count > 1)
    {
        throw UsageError("standard output is given for two files to write; name a file for one of them");
    }
    if (count > 0 && options.m_PrintProfile)
    {
        throw UsageError("--event-based-profiling prints to standard output, which is given for a file to write; name "
                         "a file in --profile-json");
    }
    if (count > 0 && options.m_PrintLayers)
    {
        throw UsageError("--print-intermediate-layers prints to standard output, which is given for a file to write; "
                         "name another file there, or let --print-intermediate-layers-to-file write the layers");
    }
}

} // namespace

void CheckFiles(const Options& options)
{
    const std::vector<std::string> read = ReadFiles(options);
    CheckCachedNetworkFile(options);
    for (const std::string& path : options.m_CompareFiles) // read after the run, which may be long
    {
        std::error_code error;
        if (!IsStandardInput(path) && !fs::exists(path, error))
        {
            throw InputError(fmt::format("--compare-output: there is no file '{}'", OneLine(path)));
        }
    }
    CheckStreamsToRead(read);
    CheckPipesToWrite(read, WrittenFiles(options));
    CheckStandardOutput(options);
    CheckEndingOfNetwork("--serialize", options.m_SerializeFile);
    CheckEndingOfNetwork("--serialize-optimized", options.m_SerializeOptimizedFile);
    std::set<fs::path> seen;
    for (const std::string& path : WrittenFiles(options))
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

bool WritesToStandardOutput(const Options& options)
{
    const std::vector<std::string> written = WrittenFiles(options);
    return std::any_of(written.begin(), written.end(), IsStandardOutput);
}

std::string GetLayersFolder(const Options& options)
{
    return options.m_LayersFolder.empty() ? OptimizerOptionsOpaque().GetDebugFolder() : options.m_LayersFolder;
}

void MakeLayersFolder(const Options& options)
{
    if (!options.m_WriteLayers)
    {
        return;
    }
    const std::string folder = GetLayersFolder(options);
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error) && !error)
    {
        error = std::make_error_code(std::errc::not_a_directory);
    }
    const bool isMade = !error;
    if (isMade)
    {
        error = CheckWritable(folder);
    }
    if (error)
    {
        throw RunError(fmt::format("--print-intermediate-layers-to-file: cannot {} the folder '{}': {}; choose another "
                                   "one with --intermediate-layers-folder",
                                   isMade ? "write into" : "make", OneLine(folder), error.message()));
    }
}

} // namespace tenon::tools
