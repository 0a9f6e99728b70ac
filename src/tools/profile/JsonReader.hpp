// SPDX-License-Identifier: Apache-2.0
// JsonReader: the values of a JSON document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::tools
{

class JsonValue
{
public:
    enum class Kind : uint8_t
    {
        Null,
        Boolean,
        Number,
        String,
        Array,
        Object
    };

    bool IsObject() const { return m_Kind == Kind::Object; }
    /// The member of an object; null if it is absent, or this is no object.
    const JsonValue* Find(std::string_view name) const;
    /// The number of a member; 0 if there is none.
    double NumberOf(std::string_view name) const;
    /// The text of a member; empty if there is none.
    std::string TextOf(std::string_view name) const;
    const std::vector<JsonValue>& GetElements() const { return m_Elements; }
    /// The text of the document from which this value was read.
    std::string_view GetSource() const { return m_Source; }

private:
    friend class JsonReader;

    Kind m_Kind = Kind::Null;
    double m_Number = 0.0;
    std::string m_Text;
    std::vector<std::pair<std::string, JsonValue>> m_Members; ///< of an object
    std::vector<JsonValue> m_Elements;                        ///< of an array
    std::string_view m_Source;
};

/// Reads a whole document, to which the result refers. Throws InputError, which says in which line the error is.
JsonValue ReadJson(std::string_view document);

} // namespace tenon::tools
