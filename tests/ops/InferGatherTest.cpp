// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: reading and writing by index, and detection.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Indexing.hpp>
#include <tenon/descriptors/Vision.hpp>

namespace tenon::test::infer_gather_test
{

namespace
{

GatherDescriptor Along(int32_t axis, int32_t batchDims = 0)
{
    GatherDescriptor descriptor(axis);
    descriptor.m_BatchDims = batchDims;
    return descriptor;
}

ScatterNdDescriptor IntoShape()
{
    return ScatterNdDescriptor(ScatterNdFunction::Update, false);
}

InferCases DetectionCases()
{
    constexpr LayerType type = LayerType::DetectionPostProcess;
    const auto detection = Made<DetectionPostProcessDescriptor>(
        [](auto& d)
        {
            d.m_MaxDetections = 3;
            d.m_MaxClassesPerDetection = 2;
            d.m_NumClasses = 2;
        });
    const auto huge = Made<DetectionPostProcessDescriptor>(
        [](auto& d) { d.m_MaxDetections = d.m_MaxClassesPerDetection = 0x10000U; }, detection);
    return {
        Case(type, "with background", detection, {T({1, 6, 4}), T({1, 6, 3}), T({6, 4})})
            .Gives({"[1,6,4]", "[1,6]", "[1,6]", "[1]"}),
        Case(type, "without", detection, {T({1, 6, 4}), T({1, 6, 2}), T({6, 4})})
            .Gives({"[1,6,4]", "[1,6]", "[1,6]", "[1]"}),
        Case(type, "classes", detection, {T({1, 6, 4}), T({1, 6, 4}), T({6, 4})}).Rejects("the scores"),
        Case(type, "batch", detection, {T({2, 6, 4}), T({2, 6, 3}), T({6, 4})}).Rejects("the boxes"),
        Case(type, "scores of other boxes", detection, {T({1, 6, 4}), T({1, 5, 3}), T({6, 4})}).Rejects("the scores"),
        Case(type, "anchors of other boxes", detection, {T({1, 6, 4}), T({1, 6, 3}), T({5, 4})}).Rejects("the anchors"),
        Case(type, "rank", detection, {T({6, 4}), T({1, 6, 3}), T({6, 4})}).Rejects("input 0"),
        Case(type, "above 32 bits", huge, {T({1, 6, 4}), T({1, 6, 3}), T({6, 4})}).Rejects("not in 0 to"),
    };
}

} // namespace

static InferCases MakeGatherCases()
{
    using enum LayerType;
    const GatherNdDescriptor tuples;
    const auto batches = Made<GatherNdDescriptor>([](auto& d) { d.m_BatchDims = 1; });
    const GatherElementsDescriptor elements(1);
    const ScatterElementsDescriptor update(1);
    const ScatterNdDescriptor into;
    InferCases all = {
        Case(Gather, "axis 0", Along(0), {T({5, 6}), T({2, 3})}).Gives({"[2,3,6]"}),
        Case(Gather, "axis 1", Along(1), {T({5, 6, 7}), T({2})}).Gives({"[5,2,7]"}),
        Case(Gather, "last axis", Along(-1), {T({5, 6}), T({})}).Gives({"[5]"}).Resolves(Along(1)),
        Case(Gather, "batch", Along(1, 1), {T({2, 5, 6}), T({2, 3})}).Gives({"[2,3,6]"}),
        Case(Gather, "batch counted from the end", Along(-2, -1), {T({2, 5, 6}), T({2, 3})})
            .Gives({"[2,3,6]"})
            .Resolves(Along(1, 1)),
        Case(Gather, "axis behind the batch", Along(2, 1), {T({2, 5, 6}), T({2, 3})}).Gives({"[2,5,3]"}),
        Case(Gather, "axis too large", Along(2), {T({5, 6}), T({1})}).Rejects("axis 2"),
        Case(Gather, "batch above axis", Along(0, 1), {T({2, 5}), T({2, 3})}).Rejects("1 batch dimensions"),
        Case(Gather, "batch above rank", Along(2, 2), {T({2, 5, 6}), T({2})}).Rejects("2 batch dimensions"),
        Case(Gather, "batch below rank", Along(1, -3), {T({2, 5}), T({2, 3})}).Rejects("-3 batch dimensions"),
        Case(Gather, "batch of another size", Along(1, 1), {T({2, 5}), T({3, 3})}).Rejects("batch dimension 0 differs"),
        Case(Gather, "scalar", Along(0), {T({}), T({1})}).Rejects("axis 0"),
        Case(Gather, "rank 9", Along(0), {T({1, 1, 1, 1, 1}), T({1, 1, 1, 1, 1})}).Rejects("more than 8"),

        Case(GatherNd, "slices", tuples, {T({5, 6, 7}), T({2, 3, 2})}).Gives({"[2,3,7]"}),
        Case(GatherNd, "elements", tuples, {T({5, 6}), T({4, 2})}).Gives({"[4]"}),
        Case(GatherNd, "one tuple", tuples, {T({5, 6}), T({1})}).Gives({"[6]"}),
        Case(GatherNd, "empty tuples", tuples, {T({5, 6}), T({3, 0})}).Gives({"[3,5,6]"}),
        Case(GatherNd, "tuple too long", tuples, {T({5, 6}), T({2, 3})}).Rejects("length 3"),
        Case(GatherNd, "scalar indices", tuples, {T({5, 6}), T({})}).Rejects("scalar"),

        Case(GatherNd, "batch", batches, {T({2, 6, 7}), T({2, 3, 1})}).Gives({"[2,3,7]"}),
        Case(GatherNd, "one tuple a batch", batches, {T({2, 6, 7}), T({2, 2})}).Gives({"[2]"}),
        Case(GatherNd, "batch of another size", batches, {T({2, 6}), T({3, 1})}).Rejects("batch dimension 0 differs"),
        Case(GatherNd, "batch above rank", batches, {T({2, 6}), T({2})}).Rejects("1 batch dimensions"),
        Case(GatherNd, "tuple too long behind a batch", batches, {T({2, 6}), T({2, 2})}).Rejects("length 2"),

        Case(GatherElements, "smaller", elements, {T({5, 6}), T({4, 9})}).Gives({"[4,9]"}),
        Case(GatherElements, "none", elements, {T({5, 6}), T({5, 0})}).Gives({"[5,0]"}),
        Case(GatherElements, "from the end", GatherElementsDescriptor(-1), {T({5, 6}), T({4, 9})})
            .Gives({"[4,9]"})
            .Resolves(elements),
        Case(GatherElements, "larger", elements, {T({5, 6}), T({6, 6})}).Rejects("dimension 0"),
        Case(GatherElements, "rank", elements, {T({5, 6}), T({5})}).Rejects("as many dimensions"),
        Case(GatherElements, "axis", GatherElementsDescriptor(2), {T({5, 6}), T({5, 6})}).Rejects("axis 2"),

        Case(ScatterElements, "smaller", update, {T({5, 6}), T({4, 9}), T({4, 9})}).Gives({"[5,6]"}),
        Case(ScatterElements, "from the end", ScatterElementsDescriptor(-1), {T({5, 6}), T({4, 9}), T({4, 9})})
            .Gives({"[5,6]"})
            .Resolves(update),
        Case(ScatterElements, "larger", update, {T({5, 6}), T({6, 6}), T({6, 6})}).Rejects("dimension 0"),
        Case(ScatterElements, "updates", update, {T({5, 6}), T({4, 9}), T({4, 8})}).Rejects("input 2"),
        Case(ScatterElements, "axis", ScatterElementsDescriptor(-3), {T({5, 6}), T({5, 6}), T({5, 6})})
            .Rejects("axis -3"),

        Case(ScatterNd, "slices into a tensor", into, {T({5, 6}), T({3, 1}), T({3, 6})}).Gives({"[5,6]"}),
        Case(ScatterNd, "elements into a shape", IntoShape(), {P({5, 6}), T({3, 2}), T({3})}).Gives({"[5,6]"}),
        Case(ScatterNd, "updates of another shape", into, {T({5, 6}), T({3, 1}), T({3, 5})}).Rejects("[3,6]"),
        Case(ScatterNd, "tuple too long", into, {T({5, 6}), T({3, 3}), T({3})}).Rejects("length 3"),
        Case(ScatterNd, "negative shape", IntoShape(), {P({5, -6}), T({3, 2}), T({3})}).Rejects("-6"),
        Case(ScatterNd, "axis", Made<ScatterNdDescriptor>([](auto& d) { d.m_AxisEnabled = true; }),
             {T({5, 6}), T({3, 1}), T({3, 6})})
            .Rejects("axis"),
    };
    const InferCases detection = DetectionCases();
    all.insert(all.end(), detection.begin(), detection.end());
    return all;
}

static const InferTable GatherTable(MakeGatherCases);

} // namespace tenon::test::infer_gather_test
