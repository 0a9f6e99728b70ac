// SPDX-License-Identifier: Apache-2.0
// See FileSets.hpp.
#include "tools/common/FileSets.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Glob.hpp"
#include "tools/common/Npz.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

bool IsFolder(const std::string& path)
{
    std::error_code none;
    return fs::is_directory(path, none);
}

FileList ListEntry(const std::string& entry, const char* option)
{
    FileList list{entry, ExpandEntry(entry)};
    if (list.m_Files.empty())
    {
        throw UsageError(IsFolder(entry)
                             ? fmt::format("{}: the folder '{}' has no files; those of folders within are given by a "
                                           "pattern, as '{}'",
                                           option, OneLine(entry), OneLine((fs::path(entry) / "*" / "*").string()))
                             : fmt::format("{}: there is no file '{}', nor one that the pattern stands for", option,
                                           OneLine(entry)));
    }
    return list;
}

std::string StemOf(const std::string& file)
{
    return fs::path(file).stem().string();
}

/// A remark about the first files that are paired in spite of different names; empty if there are none.
std::string DescribeOtherStems(const std::vector<std::vector<std::string>>& sets)
{
    const auto hasOtherStem = [](const std::vector<std::string>& set)
    {
        return std::any_of(set.begin(), set.end(),
                           [&](const std::string& file) { return StemOf(file) != StemOf(set.front()); });
    };
    const auto found = std::find_if(sets.begin(), sets.end(), hasOtherStem);
    if (found == sets.end())
    {
        return {};
    }
    return fmt::format("{} of {} inferences have files of different names, which are paired by their order: {}",
                       std::count_if(found, sets.end(), hasOtherStem), sets.size(), QuotedList(*found));
}

} // namespace

std::vector<std::string> ExpandEntry(const std::string& entry)
{
    return IsFolder(entry) ? ListFolder(entry) : ExpandGlob(entry);
}

bool StandsForMany(const std::string& entry)
{
    std::error_code none;
    return IsFolder(entry) || (IsGlob(entry) && !fs::exists(entry, none));
}

std::vector<FileList> ListFiles(const std::vector<std::string>& entries, const char* option)
{
    const auto many = std::find_if(entries.begin(), entries.end(), StandsForMany);
    if (many == entries.end())
    {
        return {};
    }
    const auto single = std::find_if_not(entries.begin(), entries.end(), StandsForMany);
    if (single != entries.end())
    {
        throw UsageError(
            fmt::format("{}: '{}' stands for many files, but '{}' is one; give a folder or pattern for each "
                        "input, or files alone",
                        option, OneLine(*many), OneLine(*single)));
    }
    std::vector<FileList> lists;
    for (const std::string& entry : entries)
    {
        lists.push_back(ListEntry(entry, option));
    }
    return lists;
}

FileSets MakeFileSets(const std::vector<FileList>& lists, size_t numInputs, const char* option)
{
    FileSets sets;
    if (numInputs == 1 || lists.size() == 1)
    {
        for (const FileList& list : lists)
        {
            for (const std::string& file : list.m_Files)
            {
                sets.m_Sets.push_back({file});
            }
        }
        const auto isNpz = [](const std::vector<std::string>& set) { return IsNpz(set.front(), ""); };
        if (numInputs != 1 && std::none_of(sets.m_Sets.begin(), sets.m_Sets.end(), isNpz))
        {
            throw UsageError(fmt::format("{}: '{}' has no .npz file, but the model has {} inputs; give a folder or "
                                         "pattern for each input, or .npz files",
                                         option, OneLine(lists.front().m_Entry), numInputs));
        }
        return sets;
    }
    if (lists.size() != numInputs)
    {
        throw UsageError(fmt::format("{}: {} folders or patterns are given for {} inputs; give one for each input, or "
                                     "one with .npz files",
                                     option, lists.size(), numInputs));
    }
    const size_t count = lists.front().m_Files.size();
    for (const FileList& list : lists)
    {
        if (list.m_Files.size() != count)
        {
            throw UsageError(fmt::format("{}: '{}' has {} files and '{}' has {}; each inference takes one of each, so "
                                         "there must be as many",
                                         option, OneLine(lists.front().m_Entry), count, OneLine(list.m_Entry),
                                         list.m_Files.size()));
        }
    }
    for (size_t i = 0; i < count; ++i)
    {
        sets.m_Sets.emplace_back();
        for (const FileList& list : lists)
        {
            sets.m_Sets.back().push_back(list.m_Files[i]);
        }
    }
    sets.m_Remark = DescribeOtherStems(sets.m_Sets);
    return sets;
}

} // namespace tenon::tools
