// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: ranges, running sums, sequences, segments, shapes as values, and diagonals.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <limits>

namespace tenon::test::infer_sequence_test
{

namespace
{

template <typename T>
InferCase RangeOf(const char* name, DataType type, T start, T limit, T delta)
{
    const auto scalar = [type](T value) { return Shaped<T>({}, {value}, type); };
    return Case(LayerType::Range, name, NullDescriptor(), {scalar(start), scalar(limit), scalar(delta)});
}

InferCase Quantized(int8_t start, int8_t limit, int8_t delta)
{
    InferCase result = RangeOf<int8_t>("quantized", DataType::QAsymmS8, start, limit, delta);
    for (CaseInput& input : result.m_Inputs)
    {
        input.m_Info.SetQuantizationScale(0.5f);
        input.m_Info.SetQuantizationOffset(1);
    }
    return result;
}

InferCases RangeCases()
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
    constexpr int64_t highest = std::numeric_limits<int64_t>::max();
    const auto integers = [](const char* name, int32_t start, int32_t limit, int32_t delta)
    { return RangeOf<int32_t>(name, DataType::Signed32, start, limit, delta); };
    const auto wide = [](const char* name, int64_t start, int64_t limit, int64_t delta)
    { return RangeOf<int64_t>(name, DataType::Signed64, start, limit, delta); };
    const auto floats = [](const char* name, float start, float limit, float delta)
    { return RangeOf<float>(name, DataType::Float32, start, limit, delta); };
    const auto halves = [](const char* name, uint16_t start, uint16_t limit, uint16_t delta)
    { return RangeOf<uint16_t>(name, DataType::Float16, start, limit, delta); };
    return {
        integers("up", 0, 7, 2).Gives({"[4]"}),
        integers("down", 10, 4, -3).Gives({"[2]"}),
        integers("empty", 3, 3, 1).Gives({"[0]"}),
        integers("no step", 0, 7, 0).Rejects("in steps of 0"),
        integers("away", 0, 7, -1).Rejects("cannot go"),
        wide("all numbers", lowest, highest, highest).Gives({"[3]"}),
        wide("all numbers down", highest, lowest, lowest).Gives({"[2]"}),
        wide("too many", lowest, highest, 1).Rejects("does not fit"),
        floats("floats", 0.0f, 1.0f, 0.3f).Gives({"[4]"}),
        floats("floats down", 1.0f, 0.0f, -0.5f).Gives({"[2]"}),
        floats("endless", 0.0f, infinity, 1.0f).Rejects("does not fit"),
        floats("NaN", 0.0f, nan, 1.0f).Rejects("cannot go"),
        floats("tiny steps", 0.0f, 1.0f, 1e-30f).Rejects("does not fit"),
        // 0 to 3 in steps of 0.75; 0 to 1 in steps of 0.0999756, a quotient that rounds to 10
        halves("halves", 0x0000, 0x4200, 0x3A00).Gives({"[4]"}),
        halves("rounded quotient", 0x0000, 0x3C00, 0x2E66).Gives({"[10]"}),
        halves("infinity", 0x0000, 0x7C00, 0x3C00).Rejects("does not fit"),
        RangeOf<uint16_t>("bfloat16", DataType::BFloat16, 0x0000, 0x4040, 0x3F80).Gives({"[3]"}),
        // 0 to 3 in steps of 0.5, with integers' rounding up: (3 + 0.5 - 1) / 0.5
        Quantized(1, 7, 2).Gives({"[5]"}),
        Case(LayerType::Range, "two starts", NullDescriptor(), {P({0, 1}), P({4}), P({1})}).Rejects("start"),
        Case(LayerType::Range, "two types", NullDescriptor(), {P({0}), P64({4}), P({1})}).Rejects("one type"),
    };
}

} // namespace

static InferCases MakeSequenceCases()
{
    using enum LayerType;
    const NullDescriptor none;
    const auto cumSum = [](int32_t axis, bool asInput = false)
    {
        return Made<CumSumDescriptor>(
            [=](auto& d)
            {
                d.m_Axis = axis;
                d.m_ParametersAsInputs = asInput;
            });
    };
    const auto reverse = [](int32_t sequence, int32_t batch)
    {
        return Made<ReverseSequenceDescriptor>(
            [=](auto& d)
            {
                d.m_SequenceDimension = sequence;
                d.m_BatchDimension = batch;
            });
    };
    const UnsortedSegmentDescriptor sum;
    InferCases all = {
        Case(BroadcastArgs, "lengths", none, {T({2}), T({4})}).Gives({"[4]"}),
        Case(BroadcastArgs, "scalars", none, {T({0}), T({0})}).Gives({"[0]"}),
        Case(BroadcastArgs, "rank", none, {T({2}), T({})}).Rejects("1 dimensions"),

        Case(CumSum, "axis", cumSum(1), {T({2, 3})}).Gives({"[2,3]"}),
        Case(CumSum, "from the end", cumSum(-1), {T({2, 3})}).Gives({"[2,3]"}).Resolves(cumSum(1)),
        Case(CumSum, "axis as input", cumSum(0, true), {T({2, 3}), P({-2})}).Gives({"[2,3]"}).Resolves(cumSum(0)),
        Case(CumSum, "no such axis", cumSum(2), {T({2, 3})}).Rejects("axis 2"),
        Case(CumSum, "two axes", cumSum(0, true), {T({2, 3}), P({0, 1})}).Rejects("2 elements"),

        Case(MatrixDiag, "matrices", none, {T({2, 3})}).Gives({"[2,3,3]"}),
        Case(MatrixDiag, "scalar", none, {T({})}).Rejects("scalar"),
        Case(MatrixSetDiag, "matrices", none, {T({2, 3, 4}), T({2, 3})}).Gives({"[2,3,4]"}),
        Case(MatrixSetDiag, "diagonal", none, {T({2, 3, 4}), T({2, 4})}).Rejects("[2,3]"),
        Case(MatrixSetDiag, "rank", none, {T({3}), T({})}).Rejects("no matrices"),

        Case(ReverseSequence, "batch first", reverse(1, 0), {T({2, 3}), T({2})}).Gives({"[2,3]"}),
        Case(ReverseSequence, "from the end", reverse(-2, -1), {T({2, 3}), T({3})})
            .Gives({"[2,3]"})
            .Resolves(reverse(0, 1)),
        Case(ReverseSequence, "one dimension", reverse(1, 1), {T({2, 3}), T({3})}).Rejects("cannot be both"),
        Case(ReverseSequence, "lengths", reverse(1, 0), {T({2, 3}), T({3})}).Rejects("the lengths"),
        Case(ReverseSequence, "axis", reverse(2, 0), {T({2, 3}), T({2})}).Rejects("axis 2"),

        Case(SegmentSum, "slices", none, {T({4, 3}), P({0, 0, 1, 2})}).Gives({"[3,3]"}),
        Case(SegmentSum, "nothing", none, {T({0, 3}), P({})}).Gives({"[0,3]"}),
        Case(SegmentSum, "start", none, {T({2}), P({1, 1})}).Rejects("start at 0"),
        Case(SegmentSum, "gap", none, {T({2}), P({0, 2})}).Rejects("2 after 0"),
        Case(SegmentSum, "falling", none, {T({3}), P({0, 1, 0})}).Rejects("0 after 1"),
        Case(SegmentSum, "negative", none, {T({2}), P({-1, 0})}).Rejects("-1"),
        Case(SegmentSum, "numbers", none, {T({3}), P({0, 0})}).Rejects("a number to each"),
        Case(SegmentSum, "scalar", none, {T({}), P({})}).Rejects("scalar"),

        Case(UnsortedSegment, "slices", sum, {T({4, 3, 2}), T({4, 3}), P({7})}).Gives({"[7,2]"}),
        Case(UnsortedSegment, "scalar", sum, {T({4}), T({}), Shaped({}, std::vector<int32_t>{2})}).Gives({"[2,4]"}),
        Case(UnsortedSegment, "prefix", sum, {T({4, 3}), T({3}), P({2})}).Rejects("not the start"),
        Case(UnsortedSegment, "negative", sum, {T({4}), T({4}), P({-2})}).Rejects("-2"),
        Case(UnsortedSegment, "two numbers", sum, {T({4}), T({4}), P({2, 2})}).Rejects("2 elements"),
    };
    const InferCases ranges = RangeCases();
    all.insert(all.end(), ranges.begin(), ranges.end());
    return all;
}

static const InferTable SequenceTable(MakeSequenceCases);

} // namespace tenon::test::infer_sequence_test
