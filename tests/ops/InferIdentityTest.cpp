// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: layers that compute nothing.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/External.hpp>

namespace tenon::test::infer_identity_test
{

static InferCases MakeIdentityCases()
{
    using enum LayerType;
    const NullDescriptor none;
    const TensorShape unknown;
    const TensorShape partial({2, 0}, {true, false});
    const auto custom = Made<CustomDescriptor>(
        [](auto& d)
        {
            d.m_Name = "SVDF";
            d.m_NumInputs = 1;
            d.m_NumOutputs = 2;
        });
    return {
        Case(Input, "declared", none, {}).Declares({TensorShape({1, 2})}).Gives({"[1,2]"}),
        Case(Input, "unknown", none, {}).Declares({unknown}).Gives({"[unknown rank]"}),
        Case(Constant, "declared", none, {}).Declares({TensorShape({3})}).Gives({"[3]"}),
        Case(Output, "none", none, {T({1, 2})}).Gives({}),
        Case(Custom, "declared", custom, {T({4})})
            .Declares({TensorShape({3}), unknown})
            .Gives({"[3]", "[unknown rank]"}),
        Case(StandIn, "declared", StandInDescriptor(1, 1), {T({4})}).Declares({partial}).Gives({"[2,?]"}),
        Case(PreCompiled, "declared", PreCompiledDescriptor(2, 1), {T({4}), T({5})})
            .Declares({TensorShape({9})})
            .Gives({"[9]"}),
        Case(ConvertFp16ToFp32, "same", none, {T({2, 3})}).Gives({"[2,3]"}),
        Case(ConvertFp32ToFp16, "same", none, {T({2, 3})}).Gives({"[2,3]"}),
        Case(MemCopy, "same", none, {T({2, 3})}).Gives({"[2,3]"}),
        Case(MemImport, "same", none, {T({2, 3})}).Gives({"[2,3]"}),
        Case(Map, "none", none, {T({2, 3})}).Gives({}),
        Case(Unmap, "none", none, {T({2, 3})}).Gives({}),
        Case(Merge, "equal", none, {T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(Merge, "unequal", none, {T({2, 3}), T({3, 2})}).Rejects("[2,3] and [3,2]"),
        Case(Switch, "both", none, {T({2, 3}), T({1})}).Gives({"[2,3]", "[2,3]"}),
        Case(Rank, "scalar", none, {T({2, 3})}).Gives({"[]"}),
        Case(Shape, "rank 3", none, {T({2, 0, 3})}).Gives({"[3]"}),
        Case(Shape, "scalar", none, {T({})}).Gives({"[0]"}),
    };
}

static const InferTable IdentityTable(MakeIdentityCases);

} // namespace tenon::test::infer_identity_test
