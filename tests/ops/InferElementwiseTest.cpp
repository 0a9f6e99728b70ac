// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: operations on single elements.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/External.hpp>

namespace tenon::test::infer_elementwise_test
{

static InferCases MakeElementwiseCases()
{
    using enum LayerType;
    const NullDescriptor none;
    const ElementwiseBinaryDescriptor add;
    return {
        Case(Activation, "any rank", ActivationDescriptor(), {T({2, 3, 4})}).Gives({"[2,3,4]"}),
        Case(Activation, "scalar", ActivationDescriptor(), {T({})}).Gives({"[]"}),
        Case(Cast, "same", none, {T({7})}).Gives({"[7]"}),
        Case(Dequantize, "same", none, {T({7, 0})}).Gives({"[7,0]"}),
        Case(ElementwiseUnary, "same", ElementwiseUnaryDescriptor(), {T({1, 2})}).Gives({"[1,2]"}),
        Case(FakeQuantization, "same", FakeQuantizationDescriptor(), {T({1, 2})}).Gives({"[1,2]"}),
        Case(Floor, "same", none, {T({1, 2})}).Gives({"[1,2]"}),
        Case(Quantize, "same", QuantizeDescriptor(), {T({1, 2})}).Gives({"[1,2]"}),

        Case(ElementwiseBinary, "equal", add, {T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(ElementwiseBinary, "ones", add, {T({2, 1, 4}), T({1, 3, 1})}).Gives({"[2,3,4]"}),
        Case(ElementwiseBinary, "second shorter", add, {T({2, 3, 4}), T({4})}).Gives({"[2,3,4]"}),
        Case(ElementwiseBinary, "first shorter", add, {T({3, 1}), T({5, 1, 4})}).Gives({"[5,3,4]"}),
        Case(ElementwiseBinary, "scalar", add, {T({2, 3}), T({})}).Gives({"[2,3]"}),
        Case(ElementwiseBinary, "scalars", add, {T({}), T({})}).Gives({"[]"}),
        Case(ElementwiseBinary, "one to zero", add, {T({2, 1}), T({2, 0})}).Gives({"[2,0]"}),
        Case(ElementwiseBinary, "rank 8", add, {T({1, 1, 1, 1, 1, 1, 1, 2}), T({8, 7, 6, 5, 4, 3, 2, 1})})
            .Gives({"[8,7,6,5,4,3,2,2]"}),
        Case(ElementwiseBinary, "unequal", add, {T({2, 3}), T({2, 4})}).Rejects("[2,3] and [2,4]"),
        Case(ElementwiseBinary, "zero and three", add, {T({0}), T({3})}).Rejects("broadcast"),
        Case(Comparison, "broadcast", ComparisonDescriptor(), {T({2, 1}), T({3})}).Gives({"[2,3]"}),
        Case(Comparison, "unequal", ComparisonDescriptor(), {T({2}), T({3})}).Rejects("broadcast"),
        Case(LogicalBinary, "broadcast", LogicalBinaryDescriptor(), {T({2, 1}), T({3})}).Gives({"[2,3]"}),
        Case(LogicalBinary, "unequal", LogicalBinaryDescriptor(), {T({2}), T({3})}).Rejects("broadcast"),
        Case(Prelu, "alpha per channel", none, {T({1, 4, 4, 8}), T({1, 1, 8})}).Gives({"[1,4,4,8]"}),
        Case(Prelu, "unequal", none, {T({1, 8}), T({7})}).Rejects("broadcast"),

        Case(Fused, "add mul add", FusedDescriptor(), {T({1, 4}), T({2, 4}), T({4}), T({4})}).Gives({"[2,4]", "[2,4]"}),
        Case(Fused, "one output", FusedDescriptor(4, 1, FusedKernelType::AddMulAdd),
             {T({2, 4}), T({2, 4}), T({4}), T({4})})
            .Gives({"[2,4]"}),
        Case(Fused, "unequal", FusedDescriptor(), {T({2, 4}), T({2, 4}), T({3}), T({4})}).Rejects("broadcast"),
        Case(Fused, "too few inputs", FusedDescriptor(3, 2, FusedKernelType::AddMulAdd), {T({2}), T({2}), T({2})})
            .Rejects("AddMulAdd has 4 inputs"),
        Case(Fused, "input missing", FusedDescriptor(), {T({2}), T({2}), Absent(), T({2})})
            .Rejects("input 2 is not connected"),
    };
}

static const InferTable ElementwiseTable(MakeElementwiseCases);

} // namespace tenon::test::infer_elementwise_test
