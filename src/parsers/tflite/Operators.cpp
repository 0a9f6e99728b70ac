// SPDX-License-Identifier: Apache-2.0
// The operator table: see Operators.hpp. Called by the parser.
#include "parsers/tflite/Operators.hpp"

#include "parsers/tflite/operators/Rows.hpp"

#include <vector>

namespace tenon::tflite
{

namespace
{

/// The rows of custom operators, or of builtin ones.
std::vector<OperatorRow> JoinRows(bool isCustom)
{
    return parsers::JoinRows<OperatorRow>({GetActivationRows(), GetControlFlowRows(), GetConvolutionRows(),
                                           GetDetectionRows(), GetElementwiseRows(), GetLookupRows(),
                                           GetMediaPipeRows(), GetPoolingRows(), GetRandomRows(), GetRearrangeRows(),
                                           GetRecurrentRows(), GetReduceRows(), GetReshapeRows(),
                                           GetSignalLibraryRows(), GetSignalRows(), GetSliceRows(), GetStablehloRows()},
                                          [&](const OperatorRow& row) { return row.m_IsCustom == isCustom; });
}

} // namespace

Span<const OperatorRow> GetRows(bool isCustom)
{
    static const std::vector<OperatorRow> builtinRows = JoinRows(false);
    static const std::vector<OperatorRow> customRows = JoinRows(true);
    const std::vector<OperatorRow>& rows = isCustom ? customRows : builtinRows;
    return {rows.data(), rows.size()};
}

const OperatorRow* FindRow(std::string_view name, bool isCustom)
{
    return parsers::FindRow(GetRows(isCustom), name);
}

} // namespace tenon::tflite
