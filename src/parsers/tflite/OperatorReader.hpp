// SPDX-License-Identifier: Apache-2.0
// OperatorReader: makes OperatorViews from a model file. The parser calls it once per operator. Names and operands are
// also for the delegate, which makes such views from an interpreter's nodes.
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

/// Which operator an entry of a subgraph is.
struct OperatorCode
{
    int32_t m_Builtin = 0; ///< a number of schema::BuiltinOperator, or one that is newer than the schema
    std::string m_Name;    ///< "CONV_2D", or a custom operator's name

    /// Known by its name alone.
    bool IsCustom() const;
};

/// "CONV_2D", or "BUILTIN_n" for a number that is newer than the schema.
std::string NameOfBuiltin(int32_t builtin);

/// The tensors that the numbers stand for, by `get`; null for -1. What it throws gets the operand's place as context.
/// `kind`: "input".
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
    Attributes, ///< for a row
    Raw         ///< bytes, for an operator that no row knows
};

/// Throws ParseException when the model has no such code.
OperatorCode ReadOperatorCode(Model& model, const schema::Operator& op);

/// Throws ParseException for operands and options that do not fit, UnimplementedException for tensors that no layer can
/// have; neither names the operator.
OperatorView ReadOperator(Model& model, TensorTable& tensors, const schema::Operator& op, const OperatorCode& code,
                          size_t index, OptionsAs options);

} // namespace tenon::tflite
