// SPDX-License-Identifier: Apache-2.0
// See TextFile.hpp.
#include "tools/common/TextFile.hpp"

#include "text/OptionWords.hpp"
#include "text/Utf8.hpp"
#include "tools/common/Elements.hpp"
#include "tools/common/Errors.hpp"
#include "tools/common/File.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::tools
{
namespace
{

constexpr std::string_view Separators = " \t\r\n,:";
/// What a message quotes of a word, in characters.
constexpr size_t MaxQuotedWord = 40;
/// Between the type and the values of WriteTextTensor().
constexpr std::string_view EndOfStart = " : ";
/// Text that is written at once, in bytes.
constexpr size_t MaxChunk = 65536;

bool IsContinuation(char c)
{
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The line and column of a place in a text, both from 1. Columns count characters.
struct Position
{
    size_t m_Line = 1;
    size_t m_Column = 1;
};

Position PositionOf(std::string_view content, size_t at)
{
    const std::string_view before = content.substr(0, at);
    const size_t lineEnd = before.rfind('\n');
    const std::string_view line = before.substr(lineEnd == std::string_view::npos ? 0 : lineEnd + 1);
    Position position;
    position.m_Line += static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
    position.m_Column += line.size() - static_cast<size_t>(std::count_if(line.begin(), line.end(), IsContinuation));
    return position;
}

/// Whether only bytes that would follow are missing for a character of UTF-8.
bool IsBeginOfCharacter(std::string_view bytes)
{
    const auto first = static_cast<unsigned char>(bytes[0]);
    const size_t length = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return bytes.size() < length && std::all_of(bytes.begin() + 1, bytes.end(), IsContinuation);
}

[[noreturn]] void ThrowWrongWord(std::string_view content, size_t at, std::string_view word, DataType type)
{
    const Position position = PositionOf(content, at);
    std::string message = fmt::format("column {} of line {}: '{}' is no value of type {}", position.m_Column,
                                      position.m_Line, Printable(word, MaxQuotedWord), GetDataTypeName(type));
    double real = 0.0;
    if (IsQuantizedType(type) && ParseElement(DataType::Float64, word, reinterpret_cast<std::byte*>(&real), 0))
    {
        message += "; --quantize-input takes real numbers";
    }
    else if (content.find_first_not_of(Separators) == at) // perhaps no text with numbers at all
    {
        message += "; read are .npy, PNG, JPEG and BMP pictures, raw bytes in a .bin file, and text with numbers";
    }
    throw InputError(message);
}

/// The bytes of "name, Type : " at the start of a text; 0 where it begins otherwise. A name may have these signs, too.
size_t SkipStart(std::string_view content, DataType type)
{
    constexpr size_t longestType = 16; // so that a name without a type is looked at once
    const std::string_view line = content.substr(0, content.find_first_of("\r\n"));
    for (size_t end = 0; (end = line.find(EndOfStart, end)) != std::string_view::npos; ++end)
    {
        const std::string_view before = line.substr(end - std::min(end, longestType), std::min(end, longestType));
        const size_t comma = before.rfind(", ");
        const std::string_view name = comma == std::string_view::npos ? "" : before.substr(comma + 2);
        const std::optional<DataType> found = FindDataType(name);
        if (found == type)
        {
            return end + EndOfStart.size();
        }
        if (found)
        {
            throw InputError(
                fmt::format("it says that its values are of type {}; expected {}", name, GetDataTypeName(type)));
        }
    }
    return 0;
}

} // namespace

std::string_view SkipByteOrderMark(std::string_view content)
{
    using namespace std::string_view_literals;
    for (const std::string_view mark : {"\xFF\xFE"sv, "\xFE\xFF"sv, "\0\0\xFE\xFF"sv})
    {
        if (content.starts_with(mark))
        {
            throw InputError("it is text in UTF-16 or UTF-32, as its byte order mark says; save it as UTF-8");
        }
    }
    constexpr std::string_view utf8 = "\xEF\xBB\xBF";
    return content.substr(content.starts_with(utf8) ? utf8.size() : 0);
}

std::vector<std::string> ReadLines(std::string_view content)
{
    content = SkipByteOrderMark(content);
    if (const size_t zero = content.find('\0'); zero != std::string_view::npos)
    {
        throw InputError(fmt::format("line {} has a byte of zero, so it is no text in UTF-8; save it as that",
                                     PositionOf(content, zero).m_Line));
    }
    std::vector<std::string> lines;
    while (!content.empty())
    {
        const size_t end = std::min(content.find_first_of("\r\n"), content.size());
        lines.emplace_back(text::Trim(content.substr(0, end)));
        const bool isPair = content.substr(end).starts_with("\r\n");
        content.remove_prefix(std::min(end + (isPair ? 2 : 1), content.size()));
    }
    while (!lines.empty() && lines.back().empty())
    {
        lines.pop_back();
    }
    return lines;
}

bool IsText(std::string_view start)
{
    start = SkipByteOrderMark(start);
    for (size_t at = 0; at < start.size();)
    {
        const auto code = static_cast<unsigned char>(start[at]);
        if ((code < 0x20 || code == 0x7F) && Separators.find(start[at]) == std::string_view::npos)
        {
            return false;
        }
        const size_t length = text::Utf8Length(start, at);
        if (length == 0)
        {
            return IsBeginOfCharacter(start.substr(at));
        }
        at += length;
    }
    return true;
}

Buffer ParseTextTensor(std::string_view content, const TensorInfo& info)
{
    content = SkipByteOrderMark(content);
    const DataType type = info.GetDataType();
    const uint64_t wanted = info.GetShape().GetNumElements64();
    const bool canFit = wanted <= content.size(); // each number takes a character at least
    Buffer data(canFit ? info.GetNumBytes() : 0);
    std::memset(data.Data(), 0, data.Size());
    Buffer spare(GetDataTypeBits(type) / 8 + 1); // for what is only looked at
    std::memset(spare.Data(), 0, spare.Size());
    uint64_t count = 0;
    for (size_t begin = SkipStart(content, type);
         (begin = content.find_first_not_of(Separators, begin)) != std::string_view::npos; ++count)
    {
        const size_t end = std::min(content.find_first_of(Separators, begin), content.size());
        const std::string_view word = content.substr(begin, end - begin);
        const bool isKept = canFit && count < wanted;
        if (!ParseElement(type, word, isKept ? data.Data() : spare.Data(), isKept ? static_cast<size_t>(count) : 0))
        {
            ThrowWrongWord(content, begin, word, type);
        }
        begin = end;
    }
    if (!canFit)
    {
        throw InputError(
            fmt::format("it has {} numbers, fewer than the {} of {}", count, wanted, info.GetShape().ToString()));
    }
    if (count != wanted)
    {
        throw InputError(
            fmt::format("it has {} numbers; expected the {} of {}", count, wanted, info.GetShape().ToString()));
    }
    return data;
}

void WriteTextTensor(const std::string& path, const std::string& name, const TensorInfo& info, const std::byte* data)
{
    const DataType type = info.GetDataType();
    OutputFile file(path);
    std::string text = fmt::format("{}, {}{}", OneLine(name), GetDataTypeName(type), EndOfStart);
    const uint64_t count = info.GetShape().GetNumElements64();
    for (size_t i = 0; i < count; ++i)
    {
        AppendPlainElement(type, data, i, text);
        text += ' ';
        if (text.size() >= MaxChunk)
        {
            file.Write(text.data(), text.size());
            text.clear();
        }
    }
    file.Write(text.data(), text.size());
    file.Close();
}

} // namespace tenon::tools
