// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: layers that choose.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Vision.hpp>

namespace tenon::test::infer_selection_test
{

namespace
{

InferCases SuppressionCases()
{
    constexpr LayerType type = LayerType::NonMaxSuppression;
    const NonMaxSuppressionDescriptor hard;
    const auto soft = Made<NonMaxSuppressionDescriptor>([](auto& d) { d.m_Soft = true; });
    return {
        Case(type, "hard", hard, {T({6, 4}), T({6}), P({3}), T({}), T({})}).Gives({"[3]", "[]"}),
        Case(type, "soft", soft, {T({6, 4}), T({6}), P({3}), T({}), T({}), T({})}).Gives({"[3]", "[3]", "[]"}),
        Case(type, "no boxes", hard, {T({0, 4}), T({0}), P({0}), T({}), T({})}).Gives({"[0]", "[]"}),
        Case(type, "no sigma", soft, {T({6, 4}), T({6}), P({3}), T({}), T({}), Absent()}).Rejects("not connected"),
        Case(type, "corners", hard, {T({6, 5}), T({6}), P({3}), T({}), T({})}).Rejects("4 numbers"),
        Case(type, "scores", hard, {T({6, 4}), T({5}), P({3}), T({}), T({})}).Rejects("6 boxes"),
        Case(type, "limit", hard, {T({6, 4}), T({6}), P({-3}), T({}), T({})}).Rejects("-3"),
        Case(type, "threshold", hard, {T({6, 4}), T({6}), P({3}), T({2}), T({})}).Rejects("overlap threshold"),
    };
}

} // namespace

static InferCases MakeSelectionCases()
{
    using enum LayerType;
    const TopKDescriptor last;
    const auto slices = Made<UniqueDescriptor>(
        [](auto& d)
        {
            d.m_AxisEnabled = true;
            d.m_Axis = -1;
        });
    const auto first = Made<TopKDescriptor>([](auto& d) { d.m_Axis = 0; });
    const auto outside = Made<TopKDescriptor>([](auto& d) { d.m_Axis = -3; });
    const SelectDescriptor broadcast;
    const auto bySlice = Made<SelectDescriptor>([](auto& d) { d.m_ConditionBySlice = true; });
    InferCases all = {
        Case(Select, "broadcast", broadcast, {T({2, 1}), T({3}), T({4, 1, 1})}).Gives({"[4,2,3]"}),
        Case(Select, "scalars", broadcast, {T({}), T({}), T({})}).Gives({"[]"}),
        Case(Select, "declared scalar", broadcast, {T({}), T({1}), T({1, 1})})
            .Declares({TensorShape(Dimensionality::Scalar)})
            .Gives({"[]"}),
        Case(Select, "mismatch", broadcast, {T({2}), T({3}), T({3})}).Rejects("broadcast"),
        Case(Select, "slices", bySlice, {T({2}), T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(Select, "elements", bySlice, {T({2, 3}), T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(Select, "all or nothing", bySlice, {T({}), T({2, 3}), T({2, 3})}).Gives({"[2,3]"}),
        Case(Select, "different", bySlice, {T({2}), T({2, 3}), T({2, 1})}).Rejects("the same"),
        Case(Select, "slices mismatch", bySlice, {T({3}), T({2, 3}), T({2, 3})}).Rejects("does not choose"),

        Case(TopK, "rows", last, {T({2, 5}), P({3})}).Gives({"[2,3]", "[2,3]"}),
        Case(TopK, "columns", first, {T({5, 2}), P({3})}).Gives({"[3,2]", "[3,2]"}),
        Case(TopK, "axis", outside, {T({5, 2}), P({3})}).Rejects("axis -3"),
        Case(TopK, "none", last, {T({5}), P({0})}).Gives({"[0]", "[0]"}),
        Case(TopK, "negative", last, {T({5}), P({-4})}).Gives({"[0]", "[0]"}),
        Case(TopK, "too many", last, {T({2, 5}), P({6})}).Rejects("no more than 5"),
        Case(TopK, "scalar", last, {T({}), P({1})}).Rejects("scalar"),
        Case(TopK, "two numbers", last, {T({2, 5}), P({1, 2})}).Rejects("2 elements"),

        Case(Unique, "flat", UniqueDescriptor(), {T({5})}).Gives({"[unknown rank]", "[unknown rank]"}),
        Case(Unique, "all outputs", Made<UniqueDescriptor>([](auto& d) { d.m_FirstsAndCounts = true; }), {T({5})})
            .Gives({"[unknown rank]", "[unknown rank]", "[unknown rank]", "[unknown rank]"}),
        Case(Unique, "slices", slices, {T({5, 1})})
            .Gives({"[unknown rank]", "[unknown rank]"})
            .Resolves(Made<UniqueDescriptor>([](auto& d) { d.m_Axis = 1; }, slices)),
        Case(Unique, "axis", slices, {T({})}).Rejects("axis -1"),
        Case(Unique, "rank", UniqueDescriptor(), {T({5, 1})}).Rejects("1 dimensions"),

        Case(Where, "any", NullDescriptor(), {T({5, 1})}).Gives({"[unknown rank]"}),
        Case(Where, "scalar", NullDescriptor(), {T({})}).Rejects("scalar"),
    };
    const InferCases suppression = SuppressionCases();
    all.insert(all.end(), suppression.begin(), suppression.end());
    return all;
}

static const InferTable SelectionTable(MakeSelectionCases);

} // namespace tenon::test::infer_selection_test
