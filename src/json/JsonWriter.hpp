// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes one JSON document piece by piece. Dumps, profiles and ExecuteNetwork's report use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon
{

/// Names and texts may hold any bytes: what is not UTF-8 becomes U+FFFD. Numbers that JSON has not become null.
class JsonWriter
{
public:
    /// How what is in brackets is set. In a line there is only one line, whatever is in further brackets within.
    enum class Layout : uint8_t
    {
        Lines,
        Line
    };

    /// The value that follows belongs to this name.
    void Key(std::string_view name);

    void BeginObject(Layout layout = Layout::Lines) { Begin('{', layout); }
    void EndObject() { End('}'); }
    void BeginArray(Layout layout = Layout::Lines) { Begin('[', layout); }
    void EndArray() { End(']'); }

    void String(std::string_view text);
    void Number(double value);
    void Number(float value);
    void Number(uint64_t value);
    void Number(int64_t value);
    void Null();
    /// A value that is JSON already.
    void Json(std::string_view value);

    const std::string& Text() const { return m_Text; }
    /// The text since the last call: for documents that need not be in memory as a whole.
    std::string Take();

private:
    void Begin(char bracket, Layout layout);
    void End(char bracket);
    /// Comma and line end before a value or name, unless it is the first or belongs to a name.
    void Separate();
    bool IsInLine() const { return m_LineDepth != 0; }

    std::string m_Text;
    unsigned int m_Depth = 0;
    unsigned int m_LineDepth = 0; ///< of the outermost bracket that is in one line; 0 where there is none
    bool m_IsFirst = true;
    bool m_HasKey = false;
};

/// The text in quotes, escaped.
std::string QuoteJson(std::string_view text);

} // namespace tenon
