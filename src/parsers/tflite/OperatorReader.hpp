// SPDX-License-Identifier: Apache-2.0
// OperatorReader: makes OperatorViews from a model file. The parser calls it once per operator. The delegate, which
// makes such views from an interpreter's nodes, uses the functions for names and operands.
#pragma once

#include "parsers/common/OperatorView.hpp"
#include "parsers/tflite/Model.hpp"
#include "parsers/tflite/TensorTable.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Span.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace tenon::tflite
{

using parsers::OperatorView;

/// The operator of an entry of a subgraph.
struct OperatorCode
{
    int32_t m_Builtin = 0; ///< a number of schema::BuiltinOperator, or a number that is newer than the schema
    std::string m_Name;    ///< "CONV_2D", or a custom operator's name
    int32_t m_Version = 1;

    /// Whether the operator is identified by its name alone.
    bool IsCustom() const;
};

/// "CONV_2D", or "BUILTIN_n" for a number that is newer than the schema.
std::string NameOfBuiltin(int32_t builtin);

/// The tensors of the numbers, by `get`; null for -1. Exceptions get the operand's position as context. `kind`:
/// "input".
template <typename Get>
OperatorView::Operands ReadOperands(Span<const int32_t> numbers, const char* kind, Get get)
{
    OperatorView::Operands operands;
    operands.reserve(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        try
        {
            operands.push_back(numbers[i] == -1 ? nullptr : &get(numbers[i]));
        }
        catch (Exception& error)
        {
            error.AddContext(fmt::format("{} {}", kind, i));
            throw;
        }
    }
    return operands;
}

enum class OptionsAs : uint8_t
{
    Attributes, ///< attributes, for a row
    Raw         ///< bytes, for an operator that no row knows, and for a row that reads them itself
};

/// Throws ParseException when the model has no such code.
OperatorCode ReadOperatorCode(Model& model, const schema::Operator& op);

/// Throws ParseException for operands and options that do not fit, UnimplementedException for tensors that no layer can
/// have; their texts do not name the operator.
OperatorView ReadOperator(Model& model, TensorTable& tensors, const schema::Operator& op, const OperatorCode& code,
                          size_t index, OptionsAs options);

} // namespace tenon::tflite
