// SPDX-License-Identifier: Apache-2.0
// See Strings.hpp.
#include "tools/common/Strings.hpp"

#include "text/OptionWords.hpp"
#include "text/Utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tenon::tools
{
namespace
{

bool IsControl(char c)
{
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7F;
}

} // namespace

std::vector<std::string> SplitEscaped(std::string_view text, char separator)
{
    constexpr char escape = '\\';
    std::vector<std::string> parts;
    std::string part;
    size_t kept = 0; // characters of the part that are no blanks at its end
    for (size_t i = 0; i < text.size(); ++i)
    {
        const bool isEscaped =
            text[i] == escape && i + 1 < text.size() && (text[i + 1] == separator || text[i + 1] == escape);
        i += isEscaped ? 1 : 0;
        if (!isEscaped && text[i] == separator)
        {
            part.resize(kept);
            parts.push_back(std::exchange(part, {}));
            kept = 0;
            continue;
        }
        const bool isBlank = text::Trim(text.substr(i, 1)).empty();
        if (!isBlank || !part.empty())
        {
            part += text[i];
        }
        kept = isBlank ? kept : part.size();
    }
    part.resize(kept);
    if (!text.empty())
    {
        parts.push_back(std::move(part));
    }
    return parts;
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
    for (const char c : text::Trim(text))
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

std::string Printable(std::string_view text, size_t maxCharacters)
{
    constexpr std::string_view c1 = "\xC2"; // with a byte below 0xA0: control characters beyond ASCII
    std::string shown;
    size_t at = 0;
    for (size_t count = 0; at < text.size() && count < maxCharacters; ++count)
    {
        const size_t length = text::Utf8Length(text, at);
        const bool isC1 = length == 2 && text[at] == c1[0] && static_cast<unsigned char>(text[at + 1]) < 0xA0;
        if (length == 0 || isC1 || IsControl(text[at]))
        {
            shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[at]));
            ++at;
            continue;
        }
        shown += text.substr(at, length);
        at += length;
    }
    return shown + (at < text.size() ? "..." : "");
}

std::string NameCell(std::string_view name)
{
    constexpr size_t MaxCharacters = 40;
    const std::string line = OneLine(name);
    return line.size() > MaxCharacters ? Printable(line, MaxCharacters - 3) : line;
}

std::string FormatRows(const TextRows& rows, std::string_view indent)
{
    std::vector<size_t> widths(rows.front().size() - 1);
    for (const auto& row : rows)
    {
        for (size_t i = 0; i < widths.size(); ++i)
        {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string text;
    for (const auto& row : rows)
    {
        std::string line(indent);
        for (size_t i = 0; i < widths.size(); ++i)
        {
            line += fmt::format("{:{}}  ", row[i], widths[i]);
        }
        line += row.back();
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
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

std::string QuoteSome(std::vector<std::string> names)
{
    constexpr size_t maxNames = 16;
    const size_t numMore = names.size() - std::min(names.size(), maxNames);
    names.resize(names.size() - numMore);
    return names.empty() ? "none" : QuotedList(names) + (numMore > 0 ? fmt::format(" and {} more", numMore) : "");
}

} // namespace tenon::tools
