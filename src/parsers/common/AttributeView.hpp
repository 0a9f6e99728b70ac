// SPDX-License-Identifier: Apache-2.0
// AttributeView: the attributes of one operator, which a row reads by name and kind.
#pragma once

#include "parsers/common/Attribute.hpp"

#include <tenon/Exceptions.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::parsers
{

/// A row asks for an option that its operator does not have. This is a mistake in the row, and does not depend on the
/// model.
class UnknownOptionException : public Exception
{
public:
    using Exception::Exception;
};

class AttributeView
{
public:
    /// `kind`: the format's word for an attribute, for messages.
    AttributeView(std::string name, AttributeList attributes, const char* kind = "option")
        : m_Name(std::move(name)), m_Attributes(std::move(attributes)), m_Kind(kind)
    {
    }

    /// The operator's name: "CONV_2D", or the name of a custom operator.
    const std::string& Name() const { return m_Name; }
    const AttributeList& Attributes() const { return m_Attributes; }

    // Attributes that the source omits have the value `fallback`, or are empty. All functions throw ParseException for
    // a value that is too large for the result, and UnknownOptionException for a name or kind that a complete list does
    // not have. If the list is not complete (options of custom operators, attributes of ONNX), any name is allowed,
    // integers are valid as flags and real numbers, and any other wrong kind is an error of the model: ParseException.
    bool Has(std::string_view name) const;
    /// Whether the source has options, even if all have their defaults. It is false for custom operators.
    bool HasOptions() const { return m_Attributes.m_IsPresent; }
    bool Bool(std::string_view name, bool fallback) const;
    int32_t Int(std::string_view name, int32_t fallback) const;
    int64_t Int64(std::string_view name, int64_t fallback) const;
    /// An integer as a descriptor's field. Throws ParseException if it is below `min`.
    uint32_t Unsigned(std::string_view name, int32_t fallback, int32_t min) const;
    float Float(std::string_view name, float fallback) const;
    std::string Text(std::string_view name) const;
    std::vector<std::string> Texts(std::string_view name) const;
    std::vector<int32_t> Ints(std::string_view name) const;
    std::vector<int64_t> Int64s(std::string_view name) const;
    std::vector<float> Floats(std::string_view name) const;

    /// Throws ParseException. The caller adds the operator's name and index.
    [[noreturn]] void Fail(const std::string& message) const;

private:
    const Attribute* Find(std::string_view name) const;
    template <typename T>
    const T* Get(std::string_view name) const;
    bool IsInteger(std::string_view name) const;
    int32_t ToInt(std::string_view name, int64_t value) const;
    float ToFloat(std::string_view name, double value) const;
    [[noreturn]] void FailKind(std::string_view name) const;

    std::string m_Name;
    AttributeList m_Attributes;
    const char* m_Kind;
};

} // namespace tenon::parsers
