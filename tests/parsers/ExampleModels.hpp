// SPDX-License-Identifier: Apache-2.0
// Models of one operator for each row of the parser, of which at least one gets through the row. Used by the tests of
// options, and by the generator of docs/operators.md to see which layers an operator becomes.
#pragma once

#include "parsers/ModelBuilder.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tenon::test
{

/// A row of the parser.
struct ExampleRow
{
    std::string m_Name;
    ModelBuilder::Operator m_Code; ///< CUSTOM for operators that are known by name alone
    int m_MinInputs;
    int m_MaxInputs;
    int m_MinOutputs;
    int m_MaxOutputs;
    bool m_HasRawOptions;
};

const std::vector<ExampleRow>& GetExampleRows();

/// An options table that has fields, with the operators to which it belongs.
struct OptionsTable
{
    size_t m_Number;
    bool m_IsSecond;
    std::vector<ModelBuilder::Operator> m_Codes;
};

const std::vector<OptionsTable>& GetOptionsTables();

/// The bytes of a model whose only operator has this options table, with 1 in all fields.
std::vector<uint8_t> ModelWith(size_t number, bool second);

/// The operator in the subgraphs that examples refer to.
constexpr ModelBuilder::Operator BodyOperator = ModelBuilder::Operator::STABLEHLO_ADD;

/// Calls `visit` with models whose last operator in subgraph 0 is of the row: of several types and numbers of operands,
/// with and without options. Not every one fits the operator.
void VisitExamples(const ExampleRow& row, const std::function<void(const ModelBuilder&)>& visit);

} // namespace tenon::test
