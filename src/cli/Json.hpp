// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes one JSON document piece by piece. Report.cpp uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::cli
{

/// Names and texts may hold any bytes: what is not UTF-8 becomes U+FFFD. Numbers that JSON has not become null.
class JsonWriter
{
public:
    /// The value that follows belongs to this name.
    void Key(std::string_view name);

    void BeginObject() { Begin('{'); }
    void EndObject() { End('}'); }
    void BeginArray() { Begin('['); }
    void EndArray() { End(']'); }

    void String(std::string_view text);
    void Number(double value);
    void Number(uint64_t value);
    void Number(int64_t value);
    void Null();

    const std::string& Text() const { return m_Text; }

private:
    void Begin(char bracket);
    void End(char bracket);
    /// Comma and line end before a value or name, unless it is the first or belongs to a name.
    void Separate();

    std::string m_Text;
    unsigned int m_Depth = 0;
    bool m_IsFirst = true;
    bool m_HasKey = false;
};

/// The text in quotes, escaped.
std::string QuoteJson(std::string_view text);

} // namespace tenon::cli
