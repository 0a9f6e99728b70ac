// SPDX-License-Identifier: Apache-2.0
// See UnknownWords.hpp.
#include "cli/UnknownWords.hpp"

#include "cli/Nearest.hpp"
#include "cli/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::cli
{
namespace
{

/// What a message quotes of a word, in characters.
constexpr size_t MaxQuoted = 60;

bool IsOption(const std::string& word)
{
    return word.size() > 1 && word[0] == '-';
}

std::string_view WithoutDashes(std::string_view word)
{
    return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

std::string DescribeOption(const std::string& word, const std::vector<std::string>& options)
{
    const std::string name = word.substr(0, word.find('='));
    const std::string_view bare = WithoutDashes(name);
    std::vector<std::string> bareOptions;
    for (const std::string& option : options)
    {
        bareOptions.emplace_back(WithoutDashes(option));
    }
    const std::string& nearest = FindNearest(bare, bareOptions);
    const std::string& option =
        options[static_cast<size_t>(std::find(bareOptions.begin(), bareOptions.end(), nearest) - bareOptions.begin())];
    // All single letters are equally near to each other.
    const bool isNear = bare.size() > 1 || EndsWithNoCase(bare, nearest) || EndsWithNoCase(nearest, bare);
    return fmt::format("there is no option '{}'", Printable(name, MaxQuoted)) +
           (isNear ? fmt::format("; the nearest is {}", option) : "");
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
                                   : fmt::format("'{}' belongs to no option", Printable(word, MaxQuoted));
        }
    }
    return text;
}

} // namespace tenon::cli
