// SPDX-License-Identifier: Apache-2.0
// See FileChecks.hpp.
#include "tools/execute_network/FileChecks.hpp"

#include "formats/ModelFormat.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/FileSets.hpp"
#include "tools/common/PathChecks.hpp"
#include "tools/common/Strings.hpp"
#include "tools/common/SystemFiles.hpp"
#include "tools/execute_network/FileSeries.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
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
    const size_t numGiven = read.size();
    for (size_t i = 0; i < numGiven; ++i)
    {
        if (StandsForMany(read[i]))
        {
            const std::vector<std::string> files = ExpandEntry(read[i]);
            read.insert(read.end(), files.begin(), files.end());
        }
    }
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
    const bool isTaken = WritesToStandardOutput(options);
    if (isTaken && options.m_PrintProfile)
    {
        throw UsageError("--event-based-profiling prints to standard output, which is given for a file to write; name "
                         "a file in --profile-json");
    }
    if (isTaken && options.m_PrintLayers)
    {
        throw UsageError("--print-intermediate-layers prints to standard output, which is given for a file to write; "
                         "name another file there, or let --print-intermediate-layers-to-file write the layers");
    }
}

} // namespace

void CheckFiles(const Options& options)
{
    CheckCachedNetworkFile(options);
    for (const std::string& path : options.m_CompareFiles) // read after the run, which may be long
    {
        std::error_code error;
        if (!IsStandardInput(path) && !fs::exists(path, error))
        {
            throw InputError(fmt::format("--compare-output: there is no file '{}'", OneLine(path)));
        }
    }
    CheckFilePaths(ReadFiles(options), WrittenFiles(options));
    CheckStandardOutput(options);
    CheckEndingOfNetwork("--serialize", options.m_SerializeFile);
    CheckEndingOfNetwork("--serialize-optimized", options.m_SerializeOptimizedFile);
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
