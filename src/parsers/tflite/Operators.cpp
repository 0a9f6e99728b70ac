// SPDX-License-Identifier: Apache-2.0
// The operator table: see Operators.hpp. Called by the parser.
#include "parsers/tflite/Operators.hpp"

#include "parsers/tflite/operators/Rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace tenon::tflite
{

namespace
{

/// The rows of all families that are of custom operators, or of builtin ones, sorted by name.
std::vector<OperatorRow> JoinRows(bool isCustom)
{
    std::vector<OperatorRow> joined;
    for (const Span<const OperatorRow> family :
         {GetActivationRows(), GetControlFlowRows(), GetConvolutionRows(), GetDetectionRows(), GetElementwiseRows(),
          GetLookupRows(), GetPoolingRows(), GetRandomRows(), GetRearrangeRows(), GetRecurrentRows(), GetReduceRows(),
          GetReshapeRows(), GetSignalRows(), GetSliceRows(), GetStablehloRows()})
    {
        std::copy_if(family.begin(), family.end(), std::back_inserter(joined),
                     [&](const OperatorRow& row) { return row.m_IsCustom == isCustom; });
    }
    std::sort(joined.begin(), joined.end(),
              [](const OperatorRow& a, const OperatorRow& b) { return a.m_Name < b.m_Name; });
    return joined;
}

void CheckCount(const OperatorView& op, const char* kind, size_t count, size_t least, size_t most)
{
    if (count >= least && (most == Any || count <= most))
    {
        return;
    }
    op.Fail(most == Any     ? fmt::format("has {} {}, needs at least {}", count, kind, least)
            : least == most ? fmt::format("has {} {}, needs {}", count, kind, least)
                            : fmt::format("has {} {}, needs {} to {}", count, kind, least, most));
}

} // namespace

const OperatorRow* FindRow(Span<const OperatorRow> table, std::string_view name)
{
    const OperatorRow* row =
        std::lower_bound(table.begin(), table.end(), name,
                         [](const OperatorRow& entry, std::string_view wanted) { return entry.m_Name < wanted; });
    return row != table.end() && row->m_Name == name ? row : nullptr;
}

Span<const OperatorRow> GetRows(bool isCustom)
{
    static const std::vector<OperatorRow> builtinRows = JoinRows(false);
    static const std::vector<OperatorRow> customRows = JoinRows(true);
    const std::vector<OperatorRow>& rows = isCustom ? customRows : builtinRows;
    return {rows.data(), rows.size()};
}

const OperatorRow* FindRow(std::string_view name, bool isCustom)
{
    return FindRow(GetRows(isCustom), name);
}

void AddOperator(const OperatorRow& row, const OperatorView& op, NetworkBuilder& builder)
{
    CheckCount(op, "inputs", op.NumInputs(), row.m_MinInputs, row.m_MaxInputs);
    CheckCount(op, "outputs", op.NumOutputs(), row.m_MinOutputs, row.m_MaxOutputs);
    row.m_Function(op, builder);
}

} // namespace tenon::tflite
