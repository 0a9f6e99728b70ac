// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that run other subgraphs or keep values between runs.
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

void AddIf(const OperatorView& op, NetworkBuilder& builder)
{
    builder.AddIf(op, op.Int("then_subgraph_index", 0), op.Int("else_subgraph_index", 0));
}

void AddWhile(const OperatorView& op, NetworkBuilder& builder)
{
    builder.AddWhile(op, op.Int("cond_subgraph_index", 0), op.Int("body_subgraph_index", 0));
}

void AddCall(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Inline(op, op.Int64("subgraph", 0));
}

void AddCallOnce(const OperatorView& op, NetworkBuilder& builder)
{
    builder.InlineOnce(op.Int("init_subgraph_index", 0));
}

void AddVarHandle(const OperatorView& op, NetworkBuilder& builder)
{
    builder.BindHandle(op, op.Text("container"), op.Text("shared_name"));
}

void AddReadVariable(const OperatorView& op, NetworkBuilder& builder)
{
    builder.ReadVariable(op);
}

void AddAssignVariable(const OperatorView& op, NetworkBuilder& builder)
{
    builder.AssignVariable(op);
}

} // namespace

Span<const OperatorRow> GetControlFlowRows()
{
    static constexpr OperatorRow rows[] = {
        {"ASSIGN_VARIABLE", AddAssignVariable, 2, 2, 0, 0},
        {"CALL", AddCall, 0, Any, 0, Any},
        {"CALL_ONCE", AddCallOnce, 0, 0, 0, 0},
        {"IF", AddIf, 1, Any, 0, Any},
        {"READ_VARIABLE", AddReadVariable, 1, 1, 1, 1},
        {"VAR_HANDLE", AddVarHandle, 0, 0, 1, 1},
        {"WHILE", AddWhile, 0, Any, 0, Any},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
