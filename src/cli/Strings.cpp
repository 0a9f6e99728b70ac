// SPDX-License-Identifier: Apache-2.0
// See Strings.hpp.
#include "cli/Strings.hpp"

#include <algorithm>
#include <cctype>

namespace tenon::cli
{
namespace
{

bool IsControl(char c)
{
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7F;
}

} // namespace

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

bool EndsWithNoCase(std::string_view text, std::string_view lowerCaseEnd)
{
    if (text.size() < lowerCaseEnd.size())
    {
        return false;
    }
    const std::string_view end = text.substr(text.size() - lowerCaseEnd.size());
    return std::equal(end.begin(), end.end(), lowerCaseEnd.begin(),
                      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

std::string OneLine(std::string_view text)
{
    std::string line;
    line.reserve(text.size());
    bool isLineEnd = false; // until the next line's first character that is no blank
    for (const char c : Trim(text))
    {
        isLineEnd = isLineEnd || c == '\n';
        if (c == '\r' || (isLineEnd && (c == '\n' || c == ' ' || c == '\t')))
        {
            continue;
        }
        if (isLineEnd)
        {
            line += line.ends_with(':') || line.ends_with(';') ? " " : "; ";
            isLineEnd = false;
        }
        line += IsControl(c) ? '?' : c;
    }
    return line;
}

std::string QuotedList(const std::vector<std::string>& names)
{
    std::string list;
    for (size_t i = 0; i < names.size(); ++i)
    {
        if (i > 0)
        {
            list += i + 1 < names.size() ? ", " : " and ";
        }
        list += '\'';
        list += OneLine(names[i]);
        list += '\'';
    }
    return list;
}

} // namespace tenon::cli
