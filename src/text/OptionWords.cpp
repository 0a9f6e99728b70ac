// SPDX-License-Identifier: Apache-2.0
// See OptionWords.hpp.
#include "text/OptionWords.hpp"

#include <algorithm>
#include <iterator>

namespace tenon::text
{

std::string_view Trim(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r\n";
    const size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos)
    {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> Split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    if (text.empty())
    {
        return parts;
    }
    size_t begin = 0;
    while (true)
    {
        const size_t end = text.find(separator, begin);
        parts.emplace_back(Trim(text.substr(begin, end == std::string_view::npos ? end : end - begin)));
        if (end == std::string_view::npos)
        {
            return parts;
        }
        begin = end + 1;
    }
}

std::optional<bool> ParseFlag(std::string_view text)
{
    constexpr std::string_view trueWords[] = {"true", "True", "TRUE", "1", "on", "yes"};
    constexpr std::string_view falseWords[] = {"false", "False", "FALSE", "0", "off", "no"};
    if (std::find(std::begin(trueWords), std::end(trueWords), text) != std::end(trueWords))
    {
        return true;
    }
    const bool isFalse = std::find(std::begin(falseWords), std::end(falseWords), text) != std::end(falseWords);
    return isFalse ? std::optional(false) : std::nullopt;
}

} // namespace tenon::text
