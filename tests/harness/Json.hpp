// SPDX-License-Identifier: Apache-2.0
// A small, strict parser of JSON, for checks of Tenon's output. Json is one value with its contents.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::test
{

struct Json
{
    enum class Kind
    {
        Null,
        Boolean,
        Number,
        Text,
        Array,
        Object
    };

    Kind m_Kind = Kind::Null;
    double m_Number = 0.0; ///< 1 for true
    std::string m_Text;
    std::vector<Json> m_Items;        ///< items of an array or object
    std::vector<std::string> m_Names; ///< names of an object, by item

    /// Throws std::runtime_error for invalid JSON, repeated names, control characters and text that is not UTF-8.
    static Json Parse(std::string_view text);

    /// A member by name; null if there is none.
    const Json* Find(std::string_view name) const
    {
        for (size_t i = 0; i < m_Names.size(); ++i)
        {
            if (m_Names[i] == name)
            {
                return &m_Items[i];
            }
        }
        return nullptr;
    }

    /// A member by name. Throws std::runtime_error, which lists the known names.
    const Json& At(std::string_view name) const
    {
        if (const Json* found = Find(name))
        {
            return *found;
        }
        std::string all;
        for (const std::string& each : m_Names)
        {
            all += " " + each;
        }
        throw std::runtime_error("no member " + std::string(name) + " among" + all);
    }

    /// The members whose names begin with `prefix`.
    std::vector<const Json*> FindAll(std::string_view prefix) const
    {
        std::vector<const Json*> found;
        for (size_t i = 0; i < m_Names.size(); ++i)
        {
            if (std::string_view(m_Names[i]).substr(0, prefix.size()) == prefix)
            {
                found.push_back(&m_Items[i]);
            }
        }
        return found;
    }
};

class JsonParser
{
public:
    explicit JsonParser(std::string_view text) : m_Text(text) {}

    Json ParseAll()
    {
        Json value = ParseValue();
        SkipBlanks();
        Check(m_At == m_Text.size(), "something follows");
        return value;
    }

private:
    void Check(bool isRight, const char* what) const
    {
        if (!isRight)
        {
            throw std::runtime_error(std::string(what) + " at offset " + std::to_string(m_At));
        }
    }

    char Peek() const { return m_At < m_Text.size() ? m_Text[m_At] : '\0'; }

    void SkipBlanks()
    {
        while (m_At < m_Text.size() && std::string_view(" \n\r\t").find(Peek()) != std::string_view::npos)
        {
            ++m_At;
        }
    }

    bool Take(char c)
    {
        SkipBlanks();
        const bool isThere = m_At < m_Text.size() && Peek() == c;
        m_At += isThere ? 1 : 0;
        return isThere;
    }

    bool TakeWord(std::string_view word)
    {
        const bool isThere = m_Text.substr(m_At, word.size()) == word;
        m_At += isThere ? word.size() : 0;
        return isThere;
    }

    Json ParseValue()
    {
        SkipBlanks();
        Json value;
        if (Peek() == '{' || Peek() == '[')
        {
            const bool isObject = Peek() == '{';
            value.m_Kind = isObject ? Json::Kind::Object : Json::Kind::Array;
            ParseItems(value, isObject);
        }
        else if (Peek() == '"')
        {
            value.m_Kind = Json::Kind::Text;
            value.m_Text = ParseText();
        }
        else if (TakeWord("true"))
        {
            value.m_Kind = Json::Kind::Boolean;
            value.m_Number = 1.0;
        }
        else if (TakeWord("false"))
        {
            value.m_Kind = Json::Kind::Boolean;
        }
        else if (!TakeWord("null"))
        {
            value.m_Kind = Json::Kind::Number;
            value.m_Number = ParseNumber();
        }
        return value;
    }

    void ParseItems(Json& value, bool isObject)
    {
        const char end = isObject ? '}' : ']';
        ++m_At;
        if (Take(end))
        {
            return;
        }
        do
        {
            if (isObject)
            {
                SkipBlanks();
                std::string name = ParseText();
                Check(value.Find(name) == nullptr, "a name stands twice");
                Check(Take(':'), "no colon");
                value.m_Names.push_back(std::move(name));
                value.m_Items.push_back(ParseValue());
            }
            else
            {
                value.m_Items.push_back(ParseValue());
            }
        } while (Take(','));
        Check(Take(end), "no comma or closing bracket");
    }

    std::string ParseText()
    {
        Check(Peek() == '"', "no text");
        ++m_At;
        std::string text;
        while (Peek() != '"')
        {
            Check(m_At < m_Text.size(), "the text does not end");
            Check(static_cast<unsigned char>(Peek()) >= 0x20, "a control character");
            if (Peek() == '\\')
            {
                text += ParseEscape();
                continue;
            }
            const size_t length = SequenceLength();
            text += m_Text.substr(m_At, length);
            m_At += length;
        }
        ++m_At;
        return text;
    }

    /// The length of the UTF-8 sequence at the current position.
    size_t SequenceLength() const
    {
        const auto first = static_cast<unsigned char>(Peek());
        const size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        Check(length != 0 && first < 0xF5 && m_At + length <= m_Text.size(), "no UTF-8");
        for (size_t i = 1; i < length; ++i)
        {
            Check((static_cast<unsigned char>(m_Text[m_At + i]) & 0xC0) == 0x80, "no UTF-8");
        }
        return length;
    }

    /// Parses an escape; only characters below 128 are supported.
    char ParseEscape()
    {
        constexpr std::string_view letters = "\"\\/bfnrt";
        constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
        ++m_At;
        if (Peek() == 'u')
        {
            const std::string digits(m_Text.substr(m_At + 1, 4));
            char* end = nullptr;
            const unsigned long code = std::strtoul(digits.c_str(), &end, 16);
            Check(digits.size() == 4 && end == digits.c_str() + 4 && code < 0x80, "an unknown escape");
            m_At += 5;
            return static_cast<char>(code);
        }
        const size_t found = letters.find(Peek());
        Check(m_At < m_Text.size() && found != std::string_view::npos, "an unknown escape");
        ++m_At;
        return meanings[found];
    }

    size_t SkipDigits()
    {
        const size_t begin = m_At;
        while (Peek() >= '0' && Peek() <= '9')
        {
            ++m_At;
        }
        return m_At - begin;
    }

    double ParseNumber()
    {
        const size_t begin = m_At;
        TakeWord("-");
        const bool isZero = Peek() == '0';
        const size_t digits = SkipDigits();
        Check(digits == 1 || (digits > 1 && !isZero), "no value");
        if (TakeWord("."))
        {
            Check(SkipDigits() != 0, "no digit behind the point");
        }
        if (TakeWord("e") || TakeWord("E"))
        {
            if (!TakeWord("+"))
            {
                TakeWord("-");
            }
            Check(SkipDigits() != 0, "no exponent");
        }
        return std::strtod(std::string(m_Text.substr(begin, m_At - begin)).c_str(), nullptr);
    }

    std::string_view m_Text;
    size_t m_At = 0;
};

inline Json Json::Parse(std::string_view text)
{
    return JsonParser(text).ParseAll();
}

} // namespace tenon::test
