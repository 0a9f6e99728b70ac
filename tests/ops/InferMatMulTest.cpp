// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: matrix products.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Products.hpp>

namespace tenon::test::infer_mat_mul_test
{

static InferCases MakeMatMulCases()
{
    using enum LayerType;
    using B = BatchMatMulDescriptor;
    using F = FullyConnectedDescriptor;
    const auto channelsLast = Made<B>([](B& d) { d.m_DataLayoutX = d.m_DataLayoutY = DataLayout::NHWC; });
    const auto biased = Made<F>([](F& d) { d.m_BiasEnabled = true; });
    const auto transposed = Made<F>([](F& d) { d.m_TransposeWeightMatrix = true; });
    const auto keepDims = Made<F>([](F& d) { d.m_KeepDims = true; }, transposed);
    return {
        Case(BatchMatMul, "matrices", B(), {T({2, 3}), T({3, 4})}).Gives({"[2,4]"}),
        Case(BatchMatMul, "transposed x", B(true, false), {T({3, 2}), T({3, 4})}).Gives({"[2,4]"}),
        Case(BatchMatMul, "adjoint y", B(false, false, false, true), {T({2, 3}), T({4, 3})}).Gives({"[2,4]"}),
        Case(BatchMatMul, "batches broadcast", B(), {T({5, 1, 2, 3}), T({6, 3, 4})}).Gives({"[5,6,2,4]"}),
        Case(BatchMatMul, "first shorter", B(), {T({2, 3}), T({6, 3, 4})}).Gives({"[6,2,4]"}),
        Case(BatchMatMul, "one row", B(), {T({1, 3}), T({3, 4})}).Gives({"[1,4]"}),
        Case(BatchMatMul, "nothing to add", B(), {T({2, 0}), T({0, 4})}).Gives({"[2,4]"}),
        Case(BatchMatMul, "channels last", channelsLast, {T({1, 2, 3, 7}), T({1, 3, 4, 7})}).Gives({"[1,2,4,7]"}),
        Case(BatchMatMul, "unequal", B(), {T({2, 3}), T({4, 3})}).Rejects("3 columns"),
        Case(BatchMatMul, "batches unequal", B(), {T({5, 2, 3}), T({6, 3, 4})}).Rejects("broadcast"),
        Case(BatchMatMul, "vector", B(), {T({3}), T({3, 4})}).Rejects("holds no matrices"),
        Case(BatchMatMul, "transposed and adjoint", B(true, false, true, false), {T({3, 2}), T({3, 4})})
            .Rejects("transposed"),
        Case(BatchMatMul, "mixed layouts", Made<B>([](B& d) { d.m_DataLayoutX = DataLayout::NHWC; }),
             {T({1, 2, 3, 7}), T({1, 3, 4, 7})})
            .Rejects("channels last"),

        Case(FullyConnected, "matrix", F(), {T({2, 3}), T({3, 4})}).Gives({"[2,4]"}),
        Case(FullyConnected, "weights by rows", transposed, {T({2, 3}), T({4, 3})}).Gives({"[2,4]"}),
        Case(FullyConnected, "image", transposed, {T({2, 3, 4, 5}), T({7, 60})}).Gives({"[2,7]"}),
        Case(FullyConnected, "leading dimensions become rows", transposed, {T({2, 3, 5}), T({7, 5})}).Gives({"[6,7]"}),
        Case(FullyConnected, "keep dimensions", keepDims, {T({2, 3, 5}), T({7, 5})}).Gives({"[2,3,7]"}),
        Case(FullyConnected, "vector", F(), {T({3}), T({3, 4})}).Gives({"[1,4]"}),
        Case(FullyConnected, "no inputs a row", transposed, {T({2, 2, 0}), T({2, 0})}).Gives({"[4,2]"}),
        Case(FullyConnected, "no rows", F(), {T({0, 3}), T({3, 4})}).Gives({"[0,4]"}),
        Case(FullyConnected, "bias", biased, {T({2, 3}), T({3, 4}), T({4})}).Gives({"[2,4]"}),
        Case(FullyConnected, "bias left open", biased, {T({2, 3}), T({3, 4}), Absent()}).Gives({"[2,4]"}),
        Case(FullyConnected, "bias too long", biased, {T({2, 3}), T({3, 4}), T({5})}).Rejects("the bias"),
        Case(FullyConnected, "rows do not fit", F(), {T({2, 5}), T({3, 4})}).Rejects("rows of 3"),
        Case(FullyConnected, "no inputs but data", F(), {T({2, 5}), T({0, 4})}).Rejects("rows of 0"),
        Case(FullyConnected, "keep dimensions of another size", keepDims, {T({2, 5, 3}), T({7, 5})})
            .Rejects("another size"),
        Case(FullyConnected, "keep dimensions of a scalar", keepDims, {T({}), T({7, 1})}).Rejects("another size"),
        Case(FullyConnected, "weights of rank 3", F(), {T({2, 3}), T({1, 3, 4})}).Rejects("input 1"),
    };
}

static const InferTable MatMulTable(MakeMatMulCases);

} // namespace tenon::test::infer_mat_mul_test
