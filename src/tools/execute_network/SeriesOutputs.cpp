// SPDX-License-Identifier: Apache-2.0
// See SeriesOutputs.hpp.
#include "tools/execute_network/SeriesOutputs.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

constexpr const char* Option = "--write-outputs-to-file";

/// Whether the entry is the name of a single file.
bool IsFileName(const std::string& entry)
{
    std::error_code none;
    const bool isFolder = fs::is_directory(entry, none) || entry.ends_with('/');
    return !isFolder && (fs::exists(entry, none) || IsStandardOutput(entry) || EndsWithNoCase(entry, ".npy") ||
                         EndsWithNoCase(entry, ".txt"));
}

void MakeFolder(const fs::path& folder)
{
    std::error_code error;
    if (!folder.empty() && !fs::is_directory(folder, error))
    {
        fs::create_directories(folder, error);
        if (error)
        {
            throw RunError(
                fmt::format("{}: cannot make the folder '{}': {}", Option, OneLine(folder.string()), error.message()));
        }
    }
}

} // namespace

std::string NameOutputFile(const std::string& entry, const std::string& name)
{
    const size_t star = entry.find('*');
    return star != std::string::npos ? entry.substr(0, star) + name + entry.substr(star + 1)
                                     : (fs::path(entry) / (name + ".npy")).string();
}

SeriesOutputs::SeriesOutputs(const std::vector<std::string>& entries, size_t numOutputs,
                             const std::vector<std::vector<std::string>>& sets)
{
    if (entries.empty())
    {
        return;
    }
    if (entries.size() != numOutputs)
    {
        throw UsageError(fmt::format("{}: {} entries are given for {} output(s); give a folder, or a name with *, for "
                                     "each; --output-name chooses outputs",
                                     Option, entries.size(), numOutputs));
    }
    for (const std::string& entry : entries)
    {
        const size_t star = entry.find('*');
        if (star != std::string::npos ? entry.find('*', star + 1) != std::string::npos : IsFileName(entry))
        {
            throw UsageError(fmt::format("{}: '{}' is no folder and no name with one *, but each of {} inferences has "
                                         "outputs; give a folder, or a name such as 'out/*.npy'",
                                         Option, OneLine(entry), sets.size()));
        }
    }
    m_Entries = entries;
    for (const std::vector<std::string>& files : sets)
    {
        m_Names.push_back(fs::path(files.front()).stem().string());
    }
    CheckPaths(sets);
    for (size_t i = 0; i < sets.size(); ++i)
    {
        for (const std::string& file : FilesOf(i))
        {
            MakeFolder(fs::path(file).parent_path());
        }
    }
}

void SeriesOutputs::CheckPaths(const std::vector<std::vector<std::string>>& sets) const
{
    std::set<fs::path> inputs;
    for (const std::vector<std::string>& files : sets)
    {
        for (const std::string& file : files)
        {
            inputs.insert(CanonicalPath(file));
        }
    }
    std::map<fs::path, size_t> taken; // by path, the inference that it is of
    for (size_t i = 0; i < sets.size(); ++i)
    {
        for (const std::string& file : FilesOf(i))
        {
            const fs::path path = CanonicalPath(file);
            const auto [other, isNew] = taken.emplace(path, i);
            if (!isNew && other->second == i)
            {
                throw UsageError(
                    fmt::format("{}: '{}' would have two outputs of '{}'; give each a folder or name of its own",
                                Option, OneLine(file), OneLine(sets[i].front())));
            }
            if (!isNew)
            {
                throw UsageError(
                    fmt::format("{}: '{}' would have the outputs of both '{}' and '{}'; give one of them another name",
                                Option, OneLine(file), OneLine(sets[other->second].front()), OneLine(sets[i].front())));
            }
            if (inputs.contains(path))
            {
                throw UsageError(
                    fmt::format("{}: '{}' is given both as a file to read and as one to write", Option, OneLine(file)));
            }
        }
    }
}

std::vector<std::string> SeriesOutputs::FilesOf(size_t index) const
{
    std::vector<std::string> files;
    for (const std::string& entry : m_Entries)
    {
        files.push_back(NameOutputFile(entry, m_Names[index]));
    }
    return files;
}

} // namespace tenon::tools
