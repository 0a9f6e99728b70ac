// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: lookups, and tensors that are made from indices.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Indexing.hpp>

namespace tenon::test::infer_lookup_test
{

namespace
{

OneHotDescriptor Along(int32_t axis)
{
    return Made<OneHotDescriptor>([axis](auto& d) { d.m_Axis = axis; });
}

} // namespace

static InferCases MakeLookupCases()
{
    using enum LayerType;
    const NullDescriptor none;
    const EmbeddingLookupSparseDescriptor sparse;
    return {
        Case(DynamicUpdateSlice, "box", none, {T({4, 5}), T({2, 5}), T({2})}).Gives({"[4,5]"}),
        Case(DynamicUpdateSlice, "scalar", none, {T({}), T({}), T({0})}).Gives({"[]"}),
        Case(DynamicUpdateSlice, "too large", none, {T({4, 5}), T({5, 1}), T({2})}).Rejects("does not fit"),
        Case(DynamicUpdateSlice, "rank", none, {T({4, 5}), T({4}), T({2})}).Rejects("does not fit"),
        Case(DynamicUpdateSlice, "starts", none, {T({4, 5}), T({1, 1}), T({3})}).Rejects("start indices"),

        Case(EmbeddingLookup, "slices", none, {T({7}), T({3, 4, 5})}).Gives({"[7,4,5]"}),
        Case(EmbeddingLookup, "elements", none, {T({7}), T({3})}).Gives({"[7]"}),
        Case(EmbeddingLookup, "numbers", none, {T({7, 1}), T({3, 4})}).Rejects("input 0"),
        Case(EmbeddingLookup, "table", none, {T({7}), T({})}).Rejects("input 1"),

        Case(EmbeddingLookupSparse, "bags", sparse, {T({6}), T({6, 3}), P({2, 3, 9}), T({6}), T({5, 4})})
            .Gives({"[2,3,4]"}),
        Case(EmbeddingLookupSparse, "one bag", sparse, {T({6}), T({6, 1}), P({9}), T({6}), T({5, 4})}).Gives({"[4]"}),
        Case(EmbeddingLookupSparse, "places", sparse, {T({6}), T({5, 2}), P({2, 3}), T({6}), T({5, 4})})
            .Rejects("a place to each"),
        Case(EmbeddingLookupSparse, "no dimension", sparse, {T({6}), T({6, 0}), P({}), T({6}), T({5, 4})})
            .Rejects("without a dimension"),
        Case(EmbeddingLookupSparse, "weights", sparse, {T({6}), T({6, 2}), P({2, 3}), T({5}), T({5, 4})})
            .Rejects("weights"),
        Case(EmbeddingLookupSparse, "shape", sparse, {T({6}), T({6, 2}), P({2, 3, 4}), T({6}), T({5, 4})})
            .Rejects("dense shape"),
        Case(EmbeddingLookupSparse, "negative", sparse, {T({6}), T({6, 2}), P({-2, 3}), T({6}), T({5, 4})})
            .Rejects("-2"),

        Case(HashtableLookup, "slices", none, {T({7}), T({3}), T({3, 4})}).Gives({"[7,4]", "[7]"}),
        Case(HashtableLookup, "values", none, {T({7}), T({3}), T({3})}).Gives({"[7]", "[7]"}),
        Case(HashtableLookup, "fewer slices than keys", none, {T({7}), T({3}), T({2, 4})}).Rejects("3 keys"),

        Case(OneHot, "last", OneHotDescriptor(), {T({2, 3}), P({4}), T({}), T({})})
            .Gives({"[2,3,4]"})
            .Resolves(Along(2)),
        Case(OneHot, "first", Along(0), {T({2, 3}), P({4}), T({}), T({1})}).Gives({"[4,2,3]"}),
        Case(OneHot, "scalar", Along(0), {T({}), P({4}), T({}), T({})}).Gives({"[4]"}),
        Case(OneHot, "none", Along(1), {T({2}), P({0}), T({}), T({})}).Gives({"[2,0]"}),
        Case(OneHot, "negative depth", Along(1), {T({2}), P({-1}), T({}), T({})}).Rejects("-1"),
        Case(OneHot, "axis", Along(2), {T({2}), P({3}), T({}), T({})}).Rejects("axis 2"),
        Case(OneHot, "two depths", Along(1), {T({2}), P({3, 3}), T({}), T({})}).Rejects("depth"),
        Case(OneHot, "values", Along(1), {T({2}), P({3}), T({2}), T({})}).Rejects("on value"),

        Case(SparseToDense, "places", none, {T({6, 2}), P({4, 5}), T({6}), T({})}).Gives({"[4,5]"}),
        Case(SparseToDense, "one value", none, {T({6, 2}), P64({4, 5}), T({}), T({1})}).Gives({"[4,5]"}),
        Case(SparseToDense, "flat", none, {T({6}), P({4}), T({6}), T({})}).Gives({"[4]"}),
        Case(SparseToDense, "one place", none, {T({}), P({4}), T({1}), T({})}).Gives({"[4]"}),
        Case(SparseToDense, "length", none, {T({6, 3}), P({4, 5}), T({6}), T({})}).Rejects("3 indices"),
        Case(SparseToDense, "rank", none, {T({6, 1, 1}), P({4}), T({6}), T({})}).Rejects("or flat"),
        Case(SparseToDense, "values", none, {T({6, 2}), P({4, 5}), T({5}), T({})}).Rejects("the values"),
        Case(SparseToDense, "default", none, {T({6, 2}), P({4, 5}), T({6}), T({2})}).Rejects("default value"),
    };
}

static const InferTable LookupTable(MakeLookupCases);

} // namespace tenon::test::infer_lookup_test
