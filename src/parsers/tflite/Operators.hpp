// SPDX-License-Identifier: Apache-2.0
// The table of TFLite's operators that Tenon has layers for: one row each (operators/Rows.hpp), found by name.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"
#include "parsers/tflite/OperatorView.hpp"

#include <tenon/Span.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace tenon::tflite
{

/// Adds the layers of one operator to the network. Throws ParseException, UnimplementedException or, from the network,
/// InvalidArgumentException.
using RowFunction = void (*)(const OperatorView& op, NetworkBuilder& builder);

/// How many operands; the optional ones among them come last.
struct OperatorRow
{
    static constexpr uint16_t AnyNumber = std::numeric_limits<uint16_t>::max();

    std::string_view m_Name;
    RowFunction m_Function = nullptr;
    uint16_t m_MinInputs = 0;
    uint16_t m_MaxInputs = 0; ///< AnyNumber: no limit
    uint16_t m_MinOutputs = 0;
    uint16_t m_MaxOutputs = 0; ///< AnyNumber: no limit
    bool m_IsCustom = false;   ///< the name is a custom_code, not one of the enumerators of BuiltinOperator
};

/// The row of this name in a table that is sorted by name; null if there is none.
const OperatorRow* FindRow(Span<const OperatorRow> table, std::string_view name);

/// All rows of custom operators, or of builtin ones, sorted by name.
Span<const OperatorRow> GetRows(bool isCustom);

/// The row of a builtin operator, or of a custom one by its custom_code; null for an operator that no row knows.
const OperatorRow* FindRow(std::string_view name, bool isCustom);

/// Calls the row's function after checking the number of operands.
void AddOperator(const OperatorRow& row, const OperatorView& op, NetworkBuilder& builder);

} // namespace tenon::tflite
