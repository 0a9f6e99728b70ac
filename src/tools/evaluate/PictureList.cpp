// SPDX-License-Identifier: Apache-2.0
// See PictureList.hpp.
#include "tools/evaluate/PictureList.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/FileSets.hpp"
#include "tools/common/Glob.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tenon::tools::evaluate
{
namespace
{

namespace fs = std::filesystem;

bool IsNameOfPicture(const std::string& file)
{
    constexpr std::array<std::string_view, 5> endings = {".png", ".jpg", ".jpeg", ".bmp", ".npy"};
    return std::any_of(endings.begin(), endings.end(),
                       [&](std::string_view ending) { return EndsWithNoCase(file, ending); });
}

std::vector<std::string> ListFolders(const std::string& folder)
{
    std::vector<std::string> folders;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
    {
        std::error_code none;
        if (entry->is_directory(none) && !entry->path().filename().string().starts_with('.'))
        {
            folders.push_back(entry->path().string());
        }
    }
    if (error)
    {
        throw InputError(fmt::format("--images: the folder '{}' cannot be read: {}", OneLine(folder), error.message()));
    }
    return folders;
}

} // namespace

PictureList::PictureList(const std::string& entry, bool ofFolders) : m_Entry(entry)
{
    std::error_code none;
    m_IsFolder = fs::is_directory(entry, none);
    if (!m_IsFolder || !ofFolders)
    {
        Add(ExpandEntry(entry));
    }
    if (m_IsFolder && m_Files.empty())
    {
        for (const std::string& folder : ListFolders(entry))
        {
            Add(ListFolder(folder));
        }
    }
    if (m_Files.empty())
    {
        throw UsageError(fmt::format(
            "--images: '{}' has no file whose name ends with .png, .jpg, .jpeg, .bmp or .npy{}", OneLine(entry),
            ofFolders    ? " in a folder with the name of its class; without such folders give "
                           "labels with --ground-truth"
            : m_IsFolder ? ", nor have the folders in it"
                         : ""));
    }
    m_HasOrderOfBytes = !std::is_sorted(m_Files.begin(), m_Files.end());
    std::sort(m_Files.begin(), m_Files.end());
    for (size_t i = 0; i < m_Files.size(); ++i)
    {
        const fs::path path(m_Files[i]);
        m_ByPath.emplace(path.lexically_normal().string(), i);
        m_ByName[path.filename().string()].push_back(i);
    }
}

void PictureList::Add(const std::vector<std::string>& files)
{
    for (const std::string& file : files)
    {
        if (IsNameOfPicture(file))
        {
            m_Files.push_back(file);
        }
        else
        {
            ++m_NumOthers;
        }
    }
}

std::optional<size_t> PictureList::Find(const std::string& name) const
{
    const fs::path path(name);
    for (const fs::path& candidate : {path, fs::path(m_Entry) / path})
    {
        if (const auto found = m_ByPath.find(candidate.lexically_normal().string()); found != m_ByPath.end())
        {
            return found->second;
        }
    }
    const auto found = m_ByName.find(path.filename().string());
    if (found == m_ByName.end())
    {
        return std::nullopt;
    }
    if (found->second.size() > 1)
    {
        throw InputError(fmt::format("'{}' may be '{}' or '{}'; give the path from the folder of --images",
                                     OneLine(name), OneLine(m_Files[found->second[0]]),
                                     OneLine(m_Files[found->second[1]])));
    }
    return found->second.front();
}

std::string PictureList::CounterpartOf(size_t index) const
{
    if (m_IsFolder)
    {
        return NameOf(index);
    }
    const std::string name = fs::path(m_Files[index]).filename().string();
    Find(name);
    return name;
}

std::string PictureList::NameOf(size_t index) const
{
    const fs::path path(m_Files[index]);
    return m_IsFolder ? path.lexically_relative(m_Entry).string() : path.string();
}

std::string PictureList::FolderOf(size_t index) const
{
    return fs::path(m_Files[index]).parent_path().filename().string();
}

} // namespace tenon::tools::evaluate
