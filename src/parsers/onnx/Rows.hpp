// SPDX-License-Identifier: Apache-2.0
// The table of ONNX operators that Tenon reads: operators.def lists them, and operators/ has a function for each.
#pragma once

#include "parsers/onnx/GraphBuilder.hpp"
#include "parsers/onnx/Operator.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

namespace tenon::onnx
{

/// One operator from a version of its operator set on, up to the version of its next row.
struct Row
{
    static constexpr uint16_t AnyNumber = std::numeric_limits<uint16_t>::max();
    /// Adds the layers of a node and sets its outputs. Throws ParseException for an invalid node, and
    /// UnimplementedException for a node that no layer can compute.
    using Function = void (*)(Operator& op, GraphBuilder& graph);

    std::string_view m_Domain;
    std::string_view m_Name;
    int64_t m_Since = 1;
    Function m_Function = nullptr;
    uint16_t m_MinInputs = 0; ///< the inputs after these are optional
    uint16_t m_MaxInputs = 0; ///< AnyNumber: no limit
    uint16_t m_MaxOutputs = 1;
};

/// The newest version of ai.onnx that the rows were written for.
constexpr int64_t NewestOpset = 28;

/// The row of an operator in a version of its set; null if there is none.
const Row* FindRow(std::string_view domain, std::string_view name, int64_t version);
/// Whether there is a row of the operator for any version.
bool IsKnownOperator(std::string_view domain, std::string_view name);

/// Calls the row's function after checking the number of inputs and outputs.
void AddOperator(const Row& row, Operator& op, GraphBuilder& graph);

namespace rows
{

#define TENON_ONNX_OPERATOR(name, since, function, minInputs, maxInputs, maxOutputs)                                   \
    void function(Operator& op, GraphBuilder& graph);
#define TENON_MICROSOFT_OPERATOR TENON_ONNX_OPERATOR
#include "parsers/onnx/operators.def"

/// Floats of 16 bits as Float32, because their squares, powers and sums may exceed their range. Other types are
/// unchanged.
inline Value Widened(GraphBuilder& graph, const Value& x)
{
    const bool isShort = x.Type() == DataType::Float16 || x.Type() == DataType::BFloat16;
    return isShort ? graph.Cast(x, DataType::Float32) : x;
}

/// The product of two operands of two dimensions or more.
using MatrixProduct = std::function<Value(const Value& a, const Value& b)>;

/// numpy.matmul: an operand of one dimension gets a second one for the product, which the result loses again. Throws
/// ParseException for an operand without dimensions.
Value MultiplyAsNumpy(const Operator& op, GraphBuilder& graph, const Value& a, const Value& b,
                      const MatrixProduct& multiply);

} // namespace rows

} // namespace tenon::onnx
