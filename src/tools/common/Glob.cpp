// SPDX-License-Identifier: Apache-2.0
// See Glob.hpp.
#include "tools/common/Glob.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace tenon::tools
{
namespace
{

namespace fs = std::filesystem;

constexpr std::string_view AnyFolders = "**";

/// A set of bytes at the start of a pattern: "[a-z]".
struct ByteSet
{
    size_t m_Length = 0; ///< of the text in the pattern; 0 if there is no set
    bool m_HasByte = false;
};

ByteSet ReadSet(std::string_view pattern, char byte)
{
    const bool isInverted = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^');
    const size_t first = isInverted ? 2 : 1;
    const size_t end = pattern.find(']', first + 1); // a ] in the first place is a member
    if (pattern.empty() || pattern[0] != '[' || end == std::string_view::npos)
    {
        return {};
    }
    const auto code = [](char c) { return static_cast<unsigned char>(c); };
    bool isMember = false;
    for (size_t i = first; i < end; ++i)
    {
        const bool isRange = i + 2 < end && pattern[i + 1] == '-';
        const char last = pattern[isRange ? i + 2 : i];
        isMember = isMember || (code(pattern[i]) <= code(byte) && code(byte) <= code(last));
        i += isRange ? 2 : 0;
    }
    return {end + 1, isMember != isInverted};
}

/// The length of the pattern's first sign if it stands for this byte; 0 if it does not.
size_t MatchByte(std::string_view pattern, char byte)
{
    if (const ByteSet set = ReadSet(pattern, byte); set.m_Length > 0)
    {
        return set.m_HasByte ? set.m_Length : 0;
    }
    return !pattern.empty() && pattern[0] != '*' && (pattern[0] == '?' || pattern[0] == byte) ? 1 : 0;
}

bool IsHidden(const std::string& name)
{
    return name.starts_with('.');
}

std::vector<fs::directory_entry> ReadFolder(const fs::path& folder)
{
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
    {
        entries.push_back(*entry);
    }
    if (error)
    {
        throw InputError(fmt::format("the folder '{}' cannot be read: {}", OneLine(folder.string()), error.message()));
    }
    return entries;
}

/// Adds the files of the pattern's parts from `index` on, within `folder`.
void AddMatches(const fs::path& folder, const std::vector<std::string>& parts, size_t index,
                std::vector<std::string>& files)
{
    std::error_code none; // an entry that has gone meanwhile is no file
    const bool isLast = index + 1 == parts.size();
    const std::string& part = parts[index];
    if (!IsGlob(part))
    {
        const fs::path path = folder / part;
        if (isLast ? fs::is_regular_file(path, none) : fs::is_directory(path, none))
        {
            isLast ? files.push_back(path.string()) : AddMatches(path, parts, index + 1, files);
        }
        return;
    }
    const bool isDeep = part == AnyFolders && !isLast;
    if (isDeep)
    {
        AddMatches(folder, parts, index + 1, files);
    }
    for (const fs::directory_entry& entry : ReadFolder(folder))
    {
        const std::string name = entry.path().filename().string();
        if (IsHidden(name) != IsHidden(part) || !MatchesGlob(name, part))
        {
            continue;
        }
        const fs::path path = folder / name;
        if (isLast && entry.is_regular_file(none))
        {
            files.push_back(path.string());
        }
        else if (!isLast && entry.is_directory(none) && !(isDeep && entry.is_symlink(none)))
        {
            AddMatches(path, parts, isDeep ? index : index + 1, files);
        }
    }
}

bool IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// The digits at the start of the text, without zeros in front. The text is shortened by all of them.
std::string_view TakeNumber(std::string_view& text)
{
    const auto end = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
    std::string_view digits = text.substr(0, end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    text.remove_prefix(end);
    return digits;
}

void SortNaturally(std::vector<std::string>& names)
{
    std::sort(names.begin(), names.end(), IsNaturallyLess);
    names.erase(std::unique(names.begin(), names.end()), names.end()); // two ** lead to a file in several ways
}

} // namespace

bool IsGlob(std::string_view text)
{
    return text.find_first_of("*?[") != std::string_view::npos;
}

bool MatchesGlob(std::string_view name, std::string_view pattern)
{
    // The last * first stands for no byte, and for one more whenever the rest differs.
    std::string_view behindStar;
    std::string_view restAtStar;
    bool hasStar = false;
    while (!name.empty() || !pattern.empty())
    {
        if (pattern.starts_with('*'))
        {
            pattern.remove_prefix(1);
            behindStar = pattern;
            restAtStar = name;
            hasStar = true;
            continue;
        }
        if (const size_t length = name.empty() ? 0 : MatchByte(pattern, name[0]); length > 0)
        {
            pattern.remove_prefix(length);
            name.remove_prefix(1);
            continue;
        }
        if (!hasStar || restAtStar.empty())
        {
            return false;
        }
        restAtStar.remove_prefix(1);
        name = restAtStar;
        pattern = behindStar;
    }
    return true;
}

std::vector<std::string> ExpandGlob(const std::string& pattern)
{
    const fs::path path(pattern);
    std::vector<std::string> parts;
    for (const fs::path& part : path.relative_path())
    {
        const bool isAgain = part == AnyFolders && !parts.empty() && parts.back() == AnyFolders;
        if (!isAgain)
        {
            parts.push_back(part.string());
        }
    }
    std::vector<std::string> files;
    if (!parts.empty())
    {
        AddMatches(path.root_path(), parts, 0, files);
    }
    SortNaturally(files);
    return files;
}

std::vector<std::string> ListFolder(const std::string& folder)
{
    std::vector<std::string> files;
    for (const fs::directory_entry& entry : ReadFolder(folder))
    {
        std::error_code none;
        if (!IsHidden(entry.path().filename().string()) && entry.is_regular_file(none))
        {
            files.push_back(entry.path().string());
        }
    }
    SortNaturally(files);
    return files;
}

bool IsNaturallyLess(std::string_view a, std::string_view b)
{
    const std::string_view wholeA = a;
    const std::string_view wholeB = b;
    while (!a.empty() && !b.empty())
    {
        if (IsDigit(a[0]) && IsDigit(b[0]))
        {
            const std::string_view numberA = TakeNumber(a);
            const std::string_view numberB = TakeNumber(b);
            if (numberA != numberB)
            {
                return numberA.size() != numberB.size() ? numberA.size() < numberB.size() : numberA < numberB;
            }
        }
        else if (a[0] != b[0])
        {
            return static_cast<unsigned char>(a[0]) < static_cast<unsigned char>(b[0]);
        }
        else
        {
            a.remove_prefix(1);
            b.remove_prefix(1);
        }
    }
    return a.empty() != b.empty() ? a.empty() : wholeA < wholeB;
}

} // namespace tenon::tools
