// SPDX-License-Identifier: Apache-2.0
// OperatorRow: a front end's entry for an operator: a function that adds its layers, and the allowed numbers of
// operands. A table of rows is sorted by name.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Span.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

namespace tenon::parsers
{

/// The number of operands of an operator; optional operands come last.
struct OperandCounts
{
    static constexpr uint16_t AnyNumber = std::numeric_limits<uint16_t>::max();

    uint16_t m_Min = 0;
    uint16_t m_Max = 0; ///< AnyNumber: no limit

    /// Throws ParseException for another count. `kind`: "inputs".
    void Check(const char* kind, size_t count) const;
};

/// `Operator` is the function's view of the operator, `Builder` the receiver of the layers.
template <typename Operator, typename Builder>
struct OperatorRow
{
    static constexpr uint16_t AnyNumber = OperandCounts::AnyNumber;
    /// Throws ParseException, UnimplementedException or, from the network, InvalidArgumentException.
    using Function = void (*)(const Operator& op, Builder& builder);

    std::string_view m_Name;
    Function m_Function = nullptr;
    uint16_t m_MinInputs = 0;
    uint16_t m_MaxInputs = 0; ///< AnyNumber: no limit
    uint16_t m_MinOutputs = 0;
    uint16_t m_MaxOutputs = 0;    ///< AnyNumber: no limit
    bool m_IsCustom = false;      ///< the operator is not one of the format's own
    bool m_HasRawOptions = false; ///< its function reads OperatorView::RawOptions() in place of attributes
};

/// The rows of all families for which `belongs` is true, sorted by name.
template <typename Row, typename Belongs>
std::vector<Row> JoinRows(std::initializer_list<Span<const Row>> families, Belongs belongs)
{
    std::vector<Row> joined;
    for (const Span<const Row> family : families)
    {
        std::copy_if(family.begin(), family.end(), std::back_inserter(joined), belongs);
    }
    std::sort(joined.begin(), joined.end(), [](const Row& a, const Row& b) { return a.m_Name < b.m_Name; });
    return joined;
}

/// The row of this name in a table that is sorted by name; null if there is none.
template <typename Row>
const Row* FindRow(Span<const Row> table, std::string_view name)
{
    const Row* row = std::lower_bound(table.begin(), table.end(), name,
                                      [](const Row& entry, std::string_view wanted) { return entry.m_Name < wanted; });
    return row != table.end() && row->m_Name == name ? row : nullptr;
}

/// Calls the row's function after checking the number of operands.
template <typename Operator, typename Builder>
void AddOperator(const OperatorRow<Operator, Builder>& row, const Operator& op, Builder& builder)
{
    OperandCounts{row.m_MinInputs, row.m_MaxInputs}.Check("inputs", op.NumInputs());
    OperandCounts{row.m_MinOutputs, row.m_MaxOutputs}.Check("outputs", op.NumOutputs());
    row.m_Function(op, builder);
}

} // namespace tenon::parsers
