// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes one JSON document piece by piece. Dumps, profiles and ExecuteNetwork's report use it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace tenon
{

/// Names and texts may hold any bytes: bytes that are not UTF-8 become U+FFFD. Numbers that JSON does not have become
/// null.
class JsonWriter
{
public:
    /// The layout of the content of brackets. In a line there is only one line, whatever further brackets within have.
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
    void Boolean(bool value) { Json(value ? "true" : "false"); }
    void Null();
    /// A name and its value.
    void Member(std::string_view name, std::string_view text)
    {
        Key(name);
        String(text);
    }
    template <typename T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) void Member(std::string_view name, T value)
    {
        Key(name);
        Any(value);
    }
    void Member(std::string_view name, std::same_as<bool> auto value)
    {
        Key(name);
        Boolean(value);
    }
    /// A name and a list of numbers.
    template <typename Values>
    void Numbers(std::string_view name, const Values& values)
    {
        Key(name);
        BeginArray();
        for (const auto value : values)
        {
            Any(value);
        }
        EndArray();
    }

    /// A value that is JSON already.
    void Json(std::string_view value);

    const std::string& Text() const { return m_Text; }
    /// The text since the last call: for documents that need not be in memory as a whole.
    std::string Take();

private:
    template <typename T>
    void Any(T value)
    {
        using Whole = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        Number(static_cast<std::conditional_t<std::is_floating_point_v<T>, T, Whole>>(value));
    }
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
