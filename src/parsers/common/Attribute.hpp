// SPDX-License-Identifier: Apache-2.0
// Attribute: an option of an operator as a plain value, independent of its source. The front ends fill lists of them
// from model files; another source of the same operators (a delegate's nodes) can fill them, too. AttributeView passes
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
    /// Enumerators are integers. Lists of bytes are text. std::monostate stands for a kind that no row can read.
    using Value = std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

    std::string_view m_Name; ///< in the source's own memory
    Value m_Value;
    bool m_IsSet = false; ///< otherwise the value only gives the kind, and the row chooses the default
};

/// All options of one operator.
struct AttributeList
{
    std::vector<Attribute> m_Attributes;
    /// The list has all names of the operator, set or not. A row that asks for another name or kind has a mistake.
    bool m_IsComplete = false;
    /// Whether the source has options for the operator, set or not. If it has none, the values may differ from the
    /// format's defaults, as in TFLite.
    bool m_IsPresent = false;
    /// The reason why the options cannot be read; empty if they can. It matters only to a row that reads options.
    std::string m_Error;
};

} // namespace tenon::parsers
