// SPDX-License-Identifier: Apache-2.0
// The operators of TFLite that Tenon has layers for: each file here has the functions of a family and, at its end, a
// row for each operator, by its name in tflite.fbs or, with IsCustom, by its custom_code. The function may read any
// field of the operator's options table there, and for a custom operator any entry of its FlexBuffers options or, with
// HasRawOptions, their bytes. Included by the files here, and by Operators.cpp, which joins the rows.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"
#include "parsers/tflite/Operators.hpp"
#include "parsers/tflite/operators/Enumerations.hpp"

#include <cstddef>
#include <iterator>
#include <numeric>
#include <vector>

namespace tenon::tflite
{

/// The maximum number of a row's operands if there is no limit.
constexpr uint16_t Any = OperatorRow::AnyNumber;
constexpr bool IsCustom = true;
constexpr bool HasRawOptions = true;

/// All inputs of the operator, in their order.
inline std::vector<size_t> AllInputs(const OperatorView& op)
{
    std::vector<size_t> operands(op.NumInputs());
    std::iota(operands.begin(), operands.end(), size_t{0});
    return operands;
}

Span<const OperatorRow> GetActivationRows();
Span<const OperatorRow> GetControlFlowRows();
Span<const OperatorRow> GetConvolutionRows();
Span<const OperatorRow> GetDetectionRows();
Span<const OperatorRow> GetElementwiseRows();
Span<const OperatorRow> GetLookupRows();
Span<const OperatorRow> GetMediaPipeRows();
Span<const OperatorRow> GetPoolingRows();
Span<const OperatorRow> GetRandomRows();
Span<const OperatorRow> GetRearrangeRows();
Span<const OperatorRow> GetRecurrentRows();
Span<const OperatorRow> GetReduceRows();
Span<const OperatorRow> GetReshapeRows();
Span<const OperatorRow> GetSignalLibraryRows();
Span<const OperatorRow> GetSignalRows();
Span<const OperatorRow> GetSliceRows();
Span<const OperatorRow> GetStablehloRows();

} // namespace tenon::tflite
