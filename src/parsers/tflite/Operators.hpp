// SPDX-License-Identifier: Apache-2.0
// The table of TFLite's builtin operators that Tenon has layers for: one row each, found by code.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"
#include "parsers/tflite/OperatorView.hpp"

#include <cstdint>

namespace tenon::tflite
{

/// Adds the layers of one operator to the network. Throws ParseException, UnimplementedException or, from the network,
/// InvalidArgumentException.
using RowFunction = void (*)(const OperatorView& op, NetworkBuilder& builder);

/// How many operands; the optional ones among them come last.
struct OperatorRow
{
    RowFunction m_Function = nullptr;
    uint16_t m_MinInputs = 0;
    uint16_t m_MaxInputs = 0;
    uint16_t m_MinOutputs = 0;
    uint16_t m_MaxOutputs = 0;
};

/// The row of a builtin code; null for one that no row knows.
const OperatorRow* FindRow(int32_t builtin);

/// Calls the row's function after checking the number of operands.
void AddOperator(const OperatorRow& row, const OperatorView& op, NetworkBuilder& builder);

} // namespace tenon::tflite
