// SPDX-License-Identifier: Apache-2.0
// See JsonWriter.hpp.
#include "json/JsonWriter.hpp"

#include "text/Utf8.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <utility>

namespace tenon
{

std::string QuoteJson(std::string_view text)
{
    std::string quoted = "\"";
    while (!text.empty())
    {
        const size_t length = text::Utf8Length(text, 0);
        const char c = text.front();
        if (length == 0)
        {
            quoted += "\xEF\xBF\xBD";
        }
        else if (c == '"' || c == '\\')
        {
            quoted += '\\';
            quoted += c;
        }
        else if (static_cast<unsigned char>(c) < 0x20)
        {
            quoted += fmt::format("\\u{:04x}", static_cast<unsigned int>(c));
        }
        else
        {
            quoted += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return quoted + '"';
}

void JsonWriter::Separate()
{
    if (m_HasKey)
    {
        m_HasKey = false;
        return;
    }
    if (IsInLine())
    {
        m_Text += m_IsFirst ? "" : ", ";
    }
    else if (m_Depth > 0)
    {
        m_Text += m_IsFirst ? "\n" : ",\n";
        m_Text.append(m_Depth, ' ');
    }
    m_IsFirst = false;
}

void JsonWriter::Key(std::string_view name)
{
    Separate();
    m_Text += QuoteJson(name) + ": ";
    m_HasKey = true;
}

void JsonWriter::Begin(char bracket, Layout layout)
{
    Separate();
    m_Text += bracket;
    ++m_Depth;
    if (layout == Layout::Line && !IsInLine())
    {
        m_LineDepth = m_Depth;
    }
    m_IsFirst = true;
}

void JsonWriter::End(char bracket)
{
    if (m_LineDepth == m_Depth)
    {
        m_LineDepth = 0;
        m_IsFirst = true;
    }
    --m_Depth;
    if (!m_IsFirst && !IsInLine())
    {
        m_Text += '\n';
        m_Text.append(m_Depth, ' ');
    }
    m_Text += bracket;
    m_IsFirst = false;
}

void JsonWriter::String(std::string_view text)
{
    Separate();
    m_Text += QuoteJson(text);
}

void JsonWriter::Number(double value)
{
    Separate();
    m_Text += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void JsonWriter::Number(float value)
{
    Separate();
    m_Text += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void JsonWriter::Number(uint64_t value)
{
    Separate();
    m_Text += fmt::format("{}", value);
}

void JsonWriter::Number(int64_t value)
{
    Separate();
    m_Text += fmt::format("{}", value);
}

void JsonWriter::Null()
{
    Separate();
    m_Text += "null";
}

void JsonWriter::Json(std::string_view value)
{
    Separate();
    m_Text += value;
}

std::string JsonWriter::Take()
{
    return std::exchange(m_Text, std::string());
}

} // namespace tenon
