// SPDX-License-Identifier: Apache-2.0
// Attribute: an option of an operator as a plain value, whatever it was read from. The front ends fill lists of them
// from model files; another source of the same operators (a delegate's nodes) can fill them too. AttributeView hands
// them to the rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::parsers
{

struct Attribute
{
    /// Enumerators are integers. Lists of bytes are text. Without a value: of a kind that no row can read.
    using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

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
    /// Whether the source has options for the operator, set or not. What holds where it has none may differ from the
    /// format's defaults, as in TFLite.
    bool m_IsPresent = false;
    /// Why the options cannot be read; empty if they can. Matters only to a row that reads some.
    std::string m_Error;
};

} // namespace tenon::parsers
