// SPDX-License-Identifier: Apache-2.0
// See JsonReader.hpp.
#include "tools/profile/JsonReader.hpp"

#include "tools/common/Errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace tenon::tools
{

const JsonValue* JsonValue::Find(std::string_view name) const
{
    const auto found =
        std::find_if(m_Members.begin(), m_Members.end(), [&](const auto& member) { return member.first == name; });
    return found != m_Members.end() ? &found->second : nullptr;
}

double JsonValue::NumberOf(std::string_view name) const
{
    const JsonValue* const value = Find(name);
    return value != nullptr ? value->m_Number : 0.0;
}

std::string JsonValue::TextOf(std::string_view name) const
{
    const JsonValue* const value = Find(name);
    return value != nullptr ? value->m_Text : "";
}

class JsonReader
{
public:
    explicit JsonReader(std::string_view document) : m_Document(document) {}

    JsonValue Read()
    {
        JsonValue value = ReadValue(0);
        SkipSpace();
        Require(m_At == m_Document.size(), "text follows behind its end");
        return value;
    }

private:
    static constexpr unsigned int MaxDepth = 64; ///< of brackets within brackets

    [[noreturn]] void Fail(std::string_view problem) const
    {
        const auto lines = std::count(m_Document.begin(), m_Document.begin() + static_cast<std::ptrdiff_t>(m_At), '\n');
        throw InputError(fmt::format("it is no JSON: line {}: {}", lines + 1, problem));
    }

    void Require(bool isTrue, std::string_view problem) const
    {
        if (!isTrue)
        {
            Fail(problem);
        }
    }

    char Peek() const { return m_At < m_Document.size() ? m_Document[m_At] : '\0'; }

    void SkipSpace() { m_At = std::min(m_Document.find_first_not_of(" \t\r\n", m_At), m_Document.size()); }

    bool Take(char c)
    {
        SkipSpace();
        const bool isThere = m_At < m_Document.size() && m_Document[m_At] == c;
        m_At += isThere ? 1 : 0;
        return isThere;
    }

    JsonValue ReadValue(unsigned int depth)
    {
        Require(depth < MaxDepth, "brackets are nested too deep");
        SkipSpace();
        const size_t begin = m_At;
        JsonValue value;
        if (Peek() == '{')
        {
            ReadObject(value, depth);
        }
        else if (Peek() == '[')
        {
            ReadArray(value, depth);
        }
        else if (Peek() == '"')
        {
            value.m_Kind = JsonValue::Kind::String;
            value.m_Text = ReadString();
        }
        else
        {
            ReadWord(value);
        }
        value.m_Source = m_Document.substr(begin, m_At - begin);
        return value;
    }

    void ReadObject(JsonValue& value, unsigned int depth)
    {
        value.m_Kind = JsonValue::Kind::Object;
        Take('{');
        for (bool isFirst = true; !Take('}'); isFirst = false)
        {
            Require(isFirst || Take(','), "a comma or } is missing");
            SkipSpace();
            Require(Peek() == '"', "a name in quotes is missing");
            std::string name = ReadString();
            Require(Take(':'), "a colon is missing");
            value.m_Members.emplace_back(std::move(name), ReadValue(depth + 1));
        }
    }

    void ReadArray(JsonValue& value, unsigned int depth)
    {
        value.m_Kind = JsonValue::Kind::Array;
        Take('[');
        for (bool isFirst = true; !Take(']'); isFirst = false)
        {
            Require(isFirst || Take(','), "a comma or ] is missing");
            value.m_Elements.push_back(ReadValue(depth + 1));
        }
    }

    void ReadWord(JsonValue& value)
    {
        const size_t end = std::min(m_Document.find_first_of(",]} \t\r\n", m_At), m_Document.size());
        const std::string_view word = m_Document.substr(m_At, end - m_At);
        if (word == "true" || word == "false")
        {
            value.m_Kind = JsonValue::Kind::Boolean;
        }
        else if (word != "null")
        {
            value.m_Kind = JsonValue::Kind::Number;
            const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), value.m_Number);
            const bool isNumber = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
            Require(isNumber && error == std::errc() && last == word.data() + word.size(), "a value is missing");
        }
        m_At = end;
    }

    std::string ReadString()
    {
        std::string text;
        for (++m_At; Peek() != '"'; ++m_At)
        {
            Require(m_At < m_Document.size() && static_cast<unsigned char>(Peek()) >= 0x20, "a text has no end");
            if (Peek() == '\\')
            {
                ++m_At;
                ReadEscape(text);
            }
            else
            {
                text += Peek();
            }
        }
        ++m_At;
        return text;
    }

    /// Leaves the place at the last character of the escape.
    void ReadEscape(std::string& text)
    {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        const size_t letter = letters.find(Peek());
        if (letter != std::string_view::npos && m_At < m_Document.size())
        {
            text += meanings[letter];
            return;
        }
        uint32_t code = ReadCode();
        if (code >= 0xD800 && code < 0xDC00) // the first of a pair
        {
            Require(m_Document.substr(m_At + 1, 2) == "\\u", "half of a character is missing");
            m_At += 2;
            const uint32_t second = ReadCode();
            Require(second >= 0xDC00 && second < 0xE000, "half of a character is missing");
            code = 0x10000 + ((code - 0xD800) << 10U) + (second - 0xDC00);
        }
        AppendUtf8(text, code);
    }

    /// From 'u' to the last digit.
    uint32_t ReadCode()
    {
        const std::string_view digits = m_Document.substr(std::min(m_At + 1, m_Document.size()), 4);
        uint32_t code = 0;
        const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        Require(Peek() == 'u' && digits.size() == 4 && error == std::errc() && last == digits.data() + digits.size(),
                "an escape in a text is wrong");
        m_At += 4;
        return code;
    }

    static void AppendUtf8(std::string& text, uint32_t code)
    {
        constexpr uint32_t low = 0x3F;
        if (code < 0x80)
        {
            text += static_cast<char>(code);
            return;
        }
        const unsigned int numMore = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr uint32_t starts[] = {0, 0xC0, 0xE0, 0xF0};
        text += static_cast<char>(starts[numMore] | (code >> (6 * numMore)));
        for (unsigned int i = numMore; i-- > 0;)
        {
            text += static_cast<char>(0x80 | ((code >> (6 * i)) & low));
        }
    }

    std::string_view m_Document;
    size_t m_At = 0;
};

JsonValue ReadJson(std::string_view document)
{
    return JsonReader(document).Read();
}

} // namespace tenon::tools
