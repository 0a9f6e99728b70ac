// SPDX-License-Identifier: Apache-2.0
// The table of TFLite's operators that Tenon has layers for: one row each (operators/Rows.hpp), found by name.
#pragma once

#include "parsers/common/OperatorRow.hpp"
#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Span.hpp>

#include <string_view>

namespace tenon::tflite
{

/// The name of a custom operator's row is its custom_code, of any other row an enumerator of BuiltinOperator.
using OperatorRow = parsers::OperatorRow<OperatorView, NetworkBuilder>;

/// All rows of custom or builtin operators, sorted by name.
Span<const OperatorRow> GetRows(bool isCustom);

/// The row of a builtin operator, or of a custom operator by its custom_code; null for an operator that no row knows.
const OperatorRow* FindRow(std::string_view name, bool isCustom);

} // namespace tenon::tflite
