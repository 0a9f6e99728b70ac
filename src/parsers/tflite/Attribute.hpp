// SPDX-License-Identifier: Apache-2.0
// Attribute: an option of a TFLite operator as a plain value, whatever it was read from. OptionsReader and FlexOptions
// fill lists of them from a model file; another source of the same operators (a delegate's nodes) can fill them too.
// OperatorView hands them to the rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::tflite
{

struct Attribute
{
    /// Enumerators are integers. Lists of bytes are text. Without a value: of a kind that no row can read.
    using Value =
        std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

    std::string_view m_Name; ///< the source's own memory
    Value m_Value;
    bool m_IsSet = false; ///< otherwise the value only tells the kind, and the row says what holds
};

/// All options of one operator.
struct AttributeList
{
    std::vector<Attribute> m_Attributes;
    /// The list has all names that there are, set or not: that a row asks for another one, or for another kind, is a
    /// mistake in the row.
    bool m_IsComplete = false;
    /// Whether the source has options for the operator, set or not. TFLite's values where it has none may differ from
    /// the format's defaults.
    bool m_IsPresent = false;
    /// Why the options cannot be read; empty if they can. Matters only to a row that reads some.
    std::string m_Error;
};

} // namespace tenon::tflite
