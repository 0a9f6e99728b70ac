// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: control flow, states, and dimensions of size 1.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/ControlFlow.hpp>

namespace tenon::test::infer_control_flow_test
{

namespace
{

CaseInput Condition(std::initializer_list<unsigned int> sizes)
{
    CaseInput input = T(sizes);
    input.m_Info.SetDataType(DataType::Boolean);
    return input;
}

ExpandDimsDescriptor Expand(int32_t axis)
{
    return Made<ExpandDimsDescriptor>([&](auto& d) { d.m_Axis = axis; });
}

SqueezeDescriptor Drop(std::vector<int32_t> axes)
{
    return Made<SqueezeDescriptor>([&](auto& d) { d.m_Axis = std::move(axes); });
}

} // namespace

static InferCases MakeControlFlowCases()
{
    using enum LayerType;
    const auto branch = Made<IfDescriptor>(
        [](auto& d)
        {
            d.m_NumInputs = 2;
            d.m_NumOutputs = 2;
        });
    const auto loop = Made<WhileDescriptor>([](auto& d) { d.m_NumVariables = 2; });
    const auto fedAxis = Made<ExpandDimsDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; });
    const StateDescriptor state("s");
    const StateDescriptor batched("s", 1);
    const TensorShape unknown;
    const TensorShape anyBatch({1, 8}, {false, true});
    return {
        Case(If, "known by the run", branch, {Condition({1}), T({2})}).Gives({"[unknown rank]", "[unknown rank]"}),
        Case(If, "two conditions", branch, {Condition({2}), T({2})}).Rejects("condition"),
        Case(If, "number as condition", branch, {T({1}), T({2})}).Rejects("Float32, not Boolean"),
        Case(If, "input absent", branch, {Condition({}), Absent()}).Rejects("input 1"),
        Case(While, "known by the run", loop, {T({2}), T({})}).Gives({"[unknown rank]", "[unknown rank]"}),
        Case(While, "input absent", loop, {T({2}), Absent()}).Rejects("input 1"),
        Case(ReadState, "declared", state, {Absent(), Absent()}).Declares({TensorShape({1, 8})}).Gives({"[1,8]"}),
        Case(ReadState, "unknown", state, {Absent(), Absent()}).Declares({unknown}).Gives({"[unknown rank]"}),
        Case(ReadState, "of the initial value", state, {T({3, 4}), Absent()}).Declares({unknown}).Gives({"[3,4]"}),
        Case(ReadState, "batch of a reference", batched, {Absent(), T({7, 5, 3})})
            .Declares({anyBatch})
            .Gives({"[5,8]"}),
        Case(ReadState, "reference too small", batched, {Absent(), T({7})}).Declares({anyBatch}).Rejects("dimension 1"),
        Case(ReadState, "reference without rank", batched, {Absent(), T({7, 5})})
            .Declares({unknown})
            .Rejects("declared rank"),
        Case(ReadState, "initial value of another type", state, {Condition({2}), Absent()})
            .Declares({unknown})
            .Rejects("of another type"),
        Case(ReadState, "no name", StateDescriptor(), {Absent(), Absent()}).Rejects("m_Name"),
        Case(WriteState, "any", state, {T({2})}).Gives({}),
        Case(WriteState, "no name", StateDescriptor(), {T({2})}).Rejects("m_Name"),
        Case(ExpandDims, "first", Expand(0), {T({2, 3})}).Gives({"[1,2,3]"}),
        Case(ExpandDims, "last", Expand(-1), {T({2, 3})}).Gives({"[2,3,1]"}),
        Case(ExpandDims, "scalar", Expand(0), {T({})}).Gives({"[1]"}),
        Case(ExpandDims, "fed", fedAxis, {T({2, 3}), P({-2})}).Gives({"[2,1,3]"}).Resolves(Expand(-2)),
        Case(ExpandDims, "outside", Expand(3), {T({2, 3})}).Rejects("axis 3"),
        Case(ExpandDims, "two axes", fedAxis, {T({2, 3}), P({0, 1})}).Rejects("in place of 1"),
        Case(ExpandDims, "huge axis", fedAxis, {T({2}), P64({int64_t{1} << 40})}).Rejects("beyond 32 bits"),
        Case(ExpandDims, "rank 9", Expand(0), {T({1, 1, 1, 1, 1, 1, 1, 1})}).Rejects("8"),
        Case(Squeeze, "all", Drop({}), {T({1, 2, 1})}).Gives({"[2]"}),
        Case(Squeeze, "to a scalar", Drop({}), {T({1, 1})}).Gives({"[]"}),
        Case(Squeeze, "listed", Drop({-1, 2}), {T({1, 2, 1})}).Gives({"[1,2]"}),
        Case(Squeeze, "not 1", Drop({1}), {T({1, 2, 1})}).Rejects("dimension 1"),
        Case(Squeeze, "outside", Drop({3}), {T({1, 2, 1})}).Rejects("axis 3"),
    };
}

static const InferTable ControlFlowTable(MakeControlFlowCases);

} // namespace tenon::test::infer_control_flow_test
