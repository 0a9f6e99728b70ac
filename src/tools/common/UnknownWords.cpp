// SPDX-License-Identifier: Apache-2.0
// See UnknownWords.hpp.
#include "tools/common/UnknownWords.hpp"

#include "text/Nearest.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tenon::tools
{
namespace
{

/// What a message quotes of a word, in characters.
constexpr size_t MaxQuotedOption = 60;

/// "-5" and "-.5" are values.
bool IsOption(const std::string& word)
{
    return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9');
}

std::string_view WithoutDashes(std::string_view word)
{
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

std::string NameOf(const std::string& word)
{
    return word.substr(0, word.find('='));
}

/// A single letter is compared with single letters, and a word with words.
std::string DescribeOption(const std::string& word, const std::vector<std::string>& options)
{
    const std::string name = NameOf(word);
    const std::string_view bare = WithoutDashes(name);
    const bool isLong = name[1] == '-' || bare.size() > 1;
    std::vector<std::string> bareOptions;
    for (const std::string& option : options)
    {
        if ((option[1] == '-') == isLong)
        {
            bareOptions.emplace_back(WithoutDashes(option));
        }
    }
    const std::optional<std::string> nearest = text::FindNearest(bare, bareOptions);
    return fmt::format("there is no option '{}'", Printable(name, MaxQuotedOption)) +
           (nearest ? fmt::format("; the nearest is {}{}", isLong ? "--" : "-", *nearest) : "");
}

} // namespace

std::string DescribeUnknownWords(const std::vector<std::string>& unknown, const std::vector<std::string>& given,
                                 const std::vector<std::string>& options)
{
    std::string text;
    size_t next = 0;            // in `given`, behind the last unknown word
    bool isAfterOption = false; // whether that was an unknown option
    for (const std::string& word : unknown)
    {
        const auto from = given.begin() + static_cast<std::ptrdiff_t>(next);
        const auto found = std::find(from, given.end(), word); // not there for "-q" out of "-Nq"
        const bool isValue = isAfterOption && found == from && found != given.end() && !IsOption(word);
        next = found != given.end() ? static_cast<size_t>(found - given.begin()) + 1 : next;
        isAfterOption = IsOption(word) && word.find('=') == std::string::npos;
        if (!isValue)
        {
            text += text.empty() ? "" : "; ";
            text += IsOption(word) ? DescribeOption(word, options)
                                   : fmt::format("'{}' belongs to no option", Printable(word, MaxQuotedOption));
        }
    }
    return text;
}

std::string DescribeOneDash(const std::vector<std::string>& given, const std::vector<std::string>& options,
                            const std::vector<std::string>& withValue)
{
    const auto has = [](const std::vector<std::string>& names, const std::string& name)
    { return std::find(names.begin(), names.end(), name) != names.end(); };
    std::string text;
    for (size_t i = 0; i < given.size() && given[i] != "--"; ++i)
    {
        const std::string name = NameOf(given[i]);
        if (has(withValue, given[i]))
        {
            ++i; // its value may be any word
        }
        else if (name.size() > 2 && IsOption(name) && has(options, "-" + name))
        {
            text += fmt::format("{}there is no option '{}'; did you mean '-{}'?", text.empty() ? "" : " ", name, name);
        }
    }
    return text;
}

} // namespace tenon::tools
