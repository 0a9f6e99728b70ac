// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: joining tensors and cutting them into views.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Slicing.hpp>

namespace tenon::test::infer_join_test
{

namespace
{

ConcatDescriptor Joined(uint32_t numViews, unsigned int axis, uint32_t rank = 2)
{
    ConcatDescriptor descriptor(numViews, rank);
    descriptor.SetConcatAxis(axis);
    return descriptor;
}

/// The axis that has `places` from itself to the end.
unsigned int FromEnd(unsigned int places)
{
    return 0U - places;
}

ConcatDescriptor WithOrigin(ConcatDescriptor descriptor, uint32_t view, uint32_t coordinate, uint32_t value)
{
    descriptor.SetViewOriginCoord(view, coordinate, value);
    return descriptor;
}

struct View
{
    std::vector<uint32_t> m_Origin;
    std::vector<uint32_t> m_Size;
};

SplitterDescriptor Views(const std::vector<View>& views, uint32_t rank)
{
    SplitterDescriptor descriptor(static_cast<uint32_t>(views.size()), rank);
    for (uint32_t view = 0; view < views.size(); ++view)
    {
        for (uint32_t i = 0; i < rank; ++i)
        {
            descriptor.SetViewOriginCoord(view, i, views[view].m_Origin[i]);
            descriptor.SetViewSize(view, i, views[view].m_Size[i]);
        }
    }
    return descriptor;
}

SplitterDescriptor Along(int32_t axis, SplitterDescriptor descriptor)
{
    descriptor.SetAxis(axis);
    return descriptor;
}

// Views whose axis, and with `isSized` sizes, arrive as inputs.
SplitterDescriptor AtRunTime(uint32_t numViews, bool isSized)
{
    SplitterDescriptor descriptor(numViews, 0);
    descriptor.m_ParametersAsInputs = true;
    descriptor.m_SizesAsInput = isSized;
    return descriptor;
}

SplitterDescriptor SizesAlone()
{
    SplitterDescriptor descriptor(1, 1);
    descriptor.m_SizesAsInput = true;
    return descriptor;
}

} // namespace

static InferCases MakeJoinCases()
{
    using enum LayerType;
    const auto stack = [](uint32_t axis, uint32_t numInputs, const TensorShape& shape = TensorShape())
    { return StackDescriptor(axis, numInputs, shape); };
    const auto halves = Views({{{0, 0}, {2, 3}}, {{0, 3}, {2, 3}}}, 2);
    return {
        Case(Concat, "axis 1", Joined(3, 1), {T({2, 3}), T({2, 0}), T({2, 5})}).Gives({"[2,8]"}),
        Case(Concat, "axis 0", Joined(2, 0), {T({2, 3}), T({1, 3})}).Gives({"[3,3]"}),
        Case(Concat, "one input", Joined(1, 0), {T({2, 3})}).Gives({"[2,3]"}),
        Case(Concat, "rank of descriptor does not matter", Joined(2, 0, 4), {T({2, 3}), T({1, 3})}).Gives({"[3,3]"}),
        Case(Concat, "origins", WithOrigin(Joined(2, 1), 1, 1, 3), {T({2, 3}), T({2, 5})}).Gives({"[2,8]"}),
        Case(Concat, "origin of another size", WithOrigin(Joined(2, 1), 1, 1, 4), {T({2, 3}), T({2, 5})})
            .Rejects("coordinate 1 of the origin of view 1 is 4"),
        Case(Concat, "origin along another axis", WithOrigin(Joined(2, 1), 1, 0, 2), {T({2, 3}), T({2, 5})})
            .Rejects("coordinate 0"),
        Case(Concat, "origins of another rank", WithOrigin(Joined(2, 1, 3), 1, 1, 3), {T({2, 3}), T({2, 5})})
            .Rejects("3 dimensions"),
        Case(Concat, "last axis", Joined(2, FromEnd(1)), {T({2, 3}), T({2, 5})})
            .Gives({"[2,8]"})
            .Resolves(Joined(2, 1)),
        Case(Concat, "last but one", Joined(2, FromEnd(2)), {T({2, 3}), T({1, 3})})
            .Gives({"[3,3]"})
            .Resolves(Joined(2, 0)),
        Case(Concat, "last axis with origins", WithOrigin(Joined(2, FromEnd(1)), 1, 1, 3), {T({2, 3}), T({2, 5})})
            .Gives({"[2,8]"})
            .Resolves(WithOrigin(Joined(2, 1), 1, 1, 3)),
        Case(Concat, "axis before the first", Joined(2, FromEnd(3)), {T({2, 3}), T({2, 3})}).Rejects("concat axis -3"),
        Case(Concat, "last axis of scalars", Joined(1, FromEnd(1)), {T({})}).Rejects("concat axis -1"),
        Case(Concat, "axis too large", Joined(2, 2), {T({2, 3}), T({2, 3})}).Rejects("concat axis 2"),
        Case(Concat, "other sizes", Joined(2, 1), {T({2, 3}), T({3, 3})}).Rejects("input 1 of shape [3,3]"),
        Case(Concat, "other rank", Joined(2, 1), {T({2, 3}), T({2, 3, 1})}).Rejects("input 1"),
        Case(Concat, "hole", Joined(3, 1), {T({2, 3}), Absent(), T({2, 3})}).Rejects("input 1 is not connected"),
        Case(Concat, "nothing", ConcatDescriptor(), {}).Rejects("at least one input"),
        Case(Concat, "above 32 bits", Joined(2, 0), {T({0xffffffffU, 0}), T({1, 0})}).Rejects("not in 0 to"),

        Case(Stack, "front", stack(0, 2), {T({3, 4}), T({3, 4})}).Gives({"[2,3,4]"}),
        Case(Stack, "back", stack(2, 3), {T({3, 4}), T({3, 4}), T({3, 4})}).Gives({"[3,4,3]"}),
        Case(Stack, "last axis", stack(FromEnd(1), 2), {T({3, 4}), T({3, 4})}).Gives({"[3,4,2]"}).Resolves(stack(2, 2)),
        Case(Stack, "first axis from the end", stack(FromEnd(3), 2), {T({3, 4}), T({3, 4})})
            .Gives({"[2,3,4]"})
            .Resolves(stack(0, 2)),
        Case(Stack, "axis before the first", stack(FromEnd(4), 2), {T({3, 4}), T({3, 4})}).Rejects("axis -4"),
        Case(Stack, "scalars", stack(0, 2), {T({}), T({})}).Gives({"[2]"}),
        Case(Stack, "shape given", stack(1, 1, {3, 4}), {T({3, 4})}).Gives({"[3,1,4]"}),
        Case(Stack, "another shape given", stack(1, 1, {4, 3}), {T({3, 4})}).Rejects("[4,3]"),
        Case(Stack, "unequal", stack(0, 2), {T({3, 4}), T({3, 5})}).Rejects("input 1 of shape [3,5]"),
        Case(Stack, "axis too large", stack(3, 1), {T({3, 4})}).Rejects("axis 3"),
        Case(Stack, "rank 9", stack(0, 1), {T({1, 1, 1, 1, 1, 1, 1, 1})}).Rejects("more than 8"),

        Case(Splitter, "boxes", Views({{{0, 1}, {1, 2}}, {{1, 0}, {1, 0}}}, 2), {T({2, 3})}).Gives({"[1,2]", "[1,0]"}),
        Case(Splitter, "complete along an axis", Along(1, halves), {T({2, 6})}).Gives({"[2,3]", "[2,3]"}),
        Case(Splitter, "equal parts", Along(-1, SplitterDescriptor(2, 0)), {T({2, 6})})
            .Gives({"[2,3]", "[2,3]"})
            .Resolves(Along(1, halves)),
        Case(Splitter, "sizes along the axis alone", Along(1, Views({{{0, 0}, {0, 3}}, {{0, 3}, {0, 3}}}, 2)),
             {T({2, 6})})
            .Gives({"[2,3]", "[2,3]"})
            .Resolves(Along(1, halves)),
        Case(Splitter, "one part empty", Along(0, Views({{{0}, {3}}, {{3}, {0}}}, 1)), {T({3})}).Gives({"[3]", "[0]"}),
        Case(Splitter, "outside", Views({{{0, 2}, {2, 2}}}, 2), {T({2, 3})})
            .Rejects("2 elements from 2 in dimension 1"),
        Case(Splitter, "overflow", Views({{{0xffffffffU}, {2}}}, 1), {T({3})}).Rejects("4294967295"),
        Case(Splitter, "other rank", Views({{{0, 0}, {2, 2}}}, 2), {T({4})}).Rejects("2 dimensions"),
        Case(Splitter, "no equal parts", Along(0, SplitterDescriptor(2, 1)), {T({3})}).Rejects("equal parts"),
        Case(Splitter, "axis", Along(2, halves), {T({2, 6})}).Rejects("axis 2"),
        Case(Splitter, "axis at run time", AtRunTime(2, false), {T({2, 6}), P({-1})})
            .Gives({"[2,3]", "[2,3]"})
            .Resolves(Along(1, halves)),
        Case(Splitter, "sizes at run time", AtRunTime(2, true), {T({2, 6}), P64({1}), P({3, 3})})
            .Gives({"[2,3]", "[2,3]"})
            .Resolves(Along(1, halves)),
        Case(Splitter, "the rest", AtRunTime(3, true), {T({6}), P({0}), P({1, -1, 2})})
            .Gives({"[1]", "[3]", "[2]"})
            .Resolves(Along(0, Views({{{0}, {1}}, {{1}, {3}}, {{4}, {2}}}, 1))),
        Case(Splitter, "no rest", AtRunTime(2, true), {T({6}), P({0}), P64({-1, 6})})
            .Gives({"[0]", "[6]"})
            .Resolves(Along(0, Views({{{0}, {0}}, {{0}, {6}}}, 1))),
        Case(Splitter, "axis at run time outside", AtRunTime(2, false), {T({2, 6}), P({2})}).Rejects("axis 2"),
        Case(Splitter, "two axes at run time", AtRunTime(2, false), {T({2, 6}), P({0, 1})}).Rejects("input 1"),
        Case(Splitter, "no axis at run time", AtRunTime(2, false), {T({2, 6}), P({})}).Rejects("input 1"),
        Case(Splitter, "no equal parts at run time", AtRunTime(2, false), {T({3}), P({0})}).Rejects("equal parts"),
        Case(Splitter, "other sum", AtRunTime(2, true), {T({6}), P({0}), P({1, 2})}).Rejects("make 3 in place of 6"),
        Case(Splitter, "two rests", AtRunTime(2, true), {T({6}), P({0}), P({-1, -1})}).Rejects("one -1"),
        Case(Splitter, "rest below 0", AtRunTime(3, true), {T({6}), P({0}), P({-1, 6, 1})}).Rejects("make 7"),
        Case(Splitter, "negative", AtRunTime(2, true), {T({6}), P({0}), P({-2, 8})}).Rejects("size -2"),
        Case(Splitter, "too large", AtRunTime(1, true), {T({6}), P({0}), P64({int64_t{1} << 62})})
            .Rejects("size 4611686018427387904"),
        Case(Splitter, "too few sizes", AtRunTime(2, true), {T({6}), P({0}), P({6})}).Rejects("1 sizes for 2"),
        Case(Splitter, "too many sizes", AtRunTime(1, true), {T({6}), P({0}), P({5, 1})}).Rejects("2 elements"),
        Case(Splitter, "sizes without an axis", SizesAlone(), {T({6}), Absent(), P({6})})
            .Rejects("m_ParametersAsInputs"),
        Case(Splitter, "no views", SplitterDescriptor(), {T({2, 6})}).Rejects("at least one view"),
    };
}

static const InferTable JoinTable(MakeJoinCases);

} // namespace tenon::test::infer_join_test
