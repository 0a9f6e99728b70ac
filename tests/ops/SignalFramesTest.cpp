// SPDX-License-Identifier: Apache-2.0
// SignalFrames, bit for bit against results of TFLM's kernels (tflite-micro 0.dev20261023182759). These leave frames
// that are not complete as they were; here they have zeros, or older frames, for the samples that are missing.
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

namespace tenon::test::signal_frames_test
{

namespace
{

using enum SignalFramesFunction;
using Numbers = std::vector<double>;
using Sizes = std::vector<unsigned int>;

TensorInfo MakeInfo(const Sizes& sizes, DataType type)
{
    return {TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data()), type};
}

SignalFramesDescriptor Describe(SignalFramesFunction function, uint32_t size, uint32_t step, bool isPrefilled = false,
                                uint32_t leftContext = 0)
{
    SignalFramesDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_FrameSize = size;
    descriptor.m_FrameStep = step;
    descriptor.m_Prefill = isPrefilled;
    descriptor.m_LeftContext = leftContext;
    return descriptor;
}

/// A signal before and after a run.
struct Kept
{
    Numbers m_Before;
    Numbers m_After;
};

OpCase MakeCase(const SignalFramesDescriptor& descriptor, const TestTensor& data, const TensorInfo& end,
                const Kept& kept, const TensorInfo& output, const Numbers& frames)
{
    OpCase op;
    op.m_Name = "frames of " + data.m_Info.ToString();
    op.m_Type = LayerType::SignalFrames;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {data, Stored(end, kept.m_Before)};
    op.m_Output = output;
    op.m_MoreOutputs = {end};
    op.m_Oracle = [=](const auto&)
    {
        Numbers all = frames;
        all.insert(all.end(), kept.m_After.begin(), kept.m_After.end());
        return all;
    };
    op.m_Steps = 0;
    return op;
}

/// With the count before and after the run.
OpCase WithCount(OpCase op, double before, bool isComplete, double after)
{
    op.m_Inputs.push_back(Stored(TensorInfo(TensorShape({1}), DataType::Signed32), {before}));
    op.m_MoreOutputs.emplace_back(TensorShape(Dimensionality::Scalar), DataType::Boolean);
    op.m_MoreOutputs.emplace_back(TensorShape({1}), DataType::Signed32);
    op.m_Oracle = [oracle = op.m_Oracle, isComplete, after](const std::vector<RealTensor>& in)
    {
        Numbers all = oracle(in);
        all.push_back(isComplete ? 1 : 0);
        all.push_back(after);
        return all;
    };
    return op;
}

OpCase MakeCut(const SignalFramesDescriptor& descriptor, const Sizes& lines, const Numbers& samples, const Kept& kept,
               const Numbers& frames)
{
    const size_t numLines = lines.empty() ? 1 : lines[0];
    const auto with = [&](std::initializer_list<size_t> last)
    {
        Sizes sizes = lines;
        for (const size_t size : last)
        {
            sizes.push_back(static_cast<unsigned int>(size));
        }
        return MakeInfo(sizes, DataType::Signed16);
    };
    const size_t size = descriptor.m_FrameSize;
    return MakeCase(descriptor, Stored(with({samples.size() / numLines}), samples),
                    with({kept.m_Before.size() / numLines}), kept, with({frames.size() / numLines / size, size}),
                    frames);
}

OpCase MakeStack(const SignalFramesDescriptor& descriptor, const Numbers& frame, const Numbers& before,
                 const Numbers& stack)
{
    const TensorInfo info = MakeInfo({static_cast<unsigned int>(stack.size())}, DataType::Signed16);
    return MakeCase(descriptor, Stored(MakeInfo({static_cast<unsigned int>(frame.size())}, DataType::Signed16), frame),
                    info, {before, stack}, info, stack);
}

} // namespace

ISA_TEST(SignalFrames, FramesThatBeginBeforeTheSignal)
{
    const SignalFramesDescriptor cut = Describe(Cut, 5, 2);
    CheckOp(WithCount(MakeCut(cut, {}, {-24, 79, 10, 77}, {{0, 0, 0, 0, 0, 0}, {0, 0, -24, 79, 10, 77}},
                              {0, 0, 0, 0, -24, 0, 0, -24, 79, 10}),
                      0, false, 2));
    CheckOp(WithCount(MakeCut(cut, {}, {-34, 29, -34, -74}, {{0, 0, -24, 79, 10, 77}, {10, 77, -34, 29, -34, -74}},
                              {-24, 79, 10, 77, -34, 10, 77, -34, 29, -34}),
                      2, true, 2));
    // Two lines.
    const SignalFramesDescriptor lines = Describe(Cut, 4, 3);
    CheckOp(WithCount(MakeCut(lines, {2}, {-74, 73, 77, 48, 33, -84},
                              {Numbers(12), {0, 0, 0, -74, 73, 77, 0, 0, 0, 48, 33, -84}}, {0, 0, 0, -74, 0, 0, 0, 48}),
                      0, false, 1));
    CheckOp(WithCount(
        MakeCut(lines, {2}, {58, -15, 54, 83, -66, -46},
                {{0, 0, 0, -74, 73, 77, 0, 0, 0, 48, 33, -84}, {-74, 73, 77, 58, -15, 54, 48, 33, -84, 83, -66, -46}},
                {-74, 73, 77, 58, 48, 33, -84, 83}),
        1, true, 1));
}

ISA_TEST(SignalFrames, PrefilledFrames)
{
    CheckOp(WithCount(MakeCut(Describe(Cut, 5, 2, true), {}, {86, -30, 14, -43}, {Numbers(5), {0, 86, -30, 14, -43}},
                              {0, 0, 0, 86, -30, 0, 86, -30, 14, -43}),
                      0, true, 0));
    CheckOp(WithCount(MakeCut(Describe(Cut, 5, 2, true), {}, {-87, -41, -82, 61},
                              {{0, 86, -30, 14, -43}, {-43, -87, -41, -82, 61}},
                              {-30, 14, -43, -87, -41, -43, -87, -41, -82, 61}),
                      0, true, 0));
    CheckOp(
        WithCount(MakeCut(Describe(Cut, 2, 2, true), {}, {1, 2, 3, 4}, {{5, 6}, {3, 4}}, {1, 2, 3, 4}), 0, true, 0));
}

ISA_TEST(SignalFrames, SamplesBetweenFramesAreLeftOut)
{
    CheckOp(WithCount(
        MakeCut(Describe(Cut, 2, 3), {}, {-14, 24, 50, 54, 2, -74}, {Numbers(3), {54, 2, -74}}, {-14, 24, 54, 2}), 0,
        true, 0));
}

ISA_TEST(SignalFrames, StacksOfFrames)
{
    const SignalFramesDescriptor stack = Describe(Stack, 3, 2, false, 1);
    const Numbers first = {0, 0, -8, -79, -8, -79}; // the frame is repeated
    const Numbers second = {-8, -79, -8, -79, -40, -89};
    const Numbers third = {-8, -79, -40, -89, 83, -72};
    CheckOp(WithCount(MakeStack(stack, {-8, -79}, Numbers(6), first), 0, false, 3));
    CheckOp(WithCount(MakeStack(stack, {-40, -89}, first, second), 3, true, 2));
    CheckOp(WithCount(MakeStack(stack, {83, -72}, second, third), 2, false, 3));
    CheckOp(WithCount(MakeStack(stack, {75, 65}, third, {-40, -89, 83, -72, 75, 65}), 3, true, 2));
    CheckOp(WithCount(MakeStack(Describe(Stack, 3, 1, false, 2), {42}, Numbers(3), {42, 42, 42}), 0, true, 3));
    CheckOp(WithCount(MakeStack(Describe(Stack, 1, 1), {42, 43}, Numbers(2), {42, 43}), 0, true, 1));
    // A count that no run gives.
    CheckOp(WithCount(MakeStack(stack, {-40, -89}, first, second), 2000000000, true, 2));
}

ISA_TEST(SignalFrames, SumsOfFrames)
{
    const auto add = [](const Sizes& sizes, uint32_t step, const Numbers& frames, const Kept& kept,
                        const Sizes& outputSizes, const Numbers& output, DataType type = DataType::Signed16)
    {
        Sizes end(sizes.begin(), sizes.end() - 2);
        end.push_back(sizes.back());
        OpCase op = MakeCase(Describe(OverlapAdd, 1, step), Stored(MakeInfo(sizes, type), frames), MakeInfo(end, type),
                             kept, MakeInfo(outputSizes, type), output);
        CheckOp(op);
    };
    add({2, 3}, 2, {-5100, -12900, -11400, -15600, -7200, 28800}, {Numbers(3), {28800, 0, 0}}, {4},
        {-5100, -12900, -27000, -7200});
    add({2, 3}, 2, {5400, -900, -26100, -5100, 10500, 26100}, {{28800, 0, 0}, {26100, 0, 0}}, {4},
        {32767, -900, -31200, 10500}); // saturates
    add({2, 1, 3}, 1, {37, 67, 74, 36, -23, 99}, {Numbers(6), {67, 74, 0, -23, 99, 0}}, {2, 1}, {37, 36});
    add({2, 1, 3}, 1, {71, 58, 97, 65, -93, 66}, {{67, 74, 0, -23, 99, 0}, {132, 97, 0, 6, 66, 0}}, {2, 1}, {138, 42});
    add({2, 2}, 1, {0.5, 0.25, 4, 8}, {{1, 2}, {8, 0}}, {2}, {1.5, 6.25}, DataType::Float32);
    add({1, 2}, 2, {3, 4}, {{1, 2}, {0, 0}}, {2}, {4, 6}, DataType::Float32);
}

ISA_TEST(SignalFrames, RefusesWhatDoesNotFit)
{
    const auto cut = [](const SignalFramesDescriptor& descriptor) {
        return WithCount(MakeCut(descriptor, {}, Numbers(4), {Numbers(6), Numbers(6)}, Numbers(10)), 0, false, 0);
    };
    CheckRejectsShapes(cut(Describe(Cut, 5, 3)), "do not fit together");
    CheckRejectsShapes(cut(Describe(Cut, 5, 2, true)), "5 elements are wanted");
    CheckRejectsShapes(cut(Describe(Cut, 5, 0)), "do not fit together");
    const auto stack = [](uint32_t size, uint32_t step, uint32_t leftContext)
    {
        return WithCount(MakeStack(Describe(Stack, size, step, false, leftContext), Numbers(2), Numbers(6), Numbers(6)),
                         0, false, 0);
    };
    CheckRejectsShapes(stack(3, 4, 0), "do not fit together");
    CheckRejectsShapes(stack(3, 1, 3), "do not fit together");
    CheckRejectsShapes(stack(2, 1, 0), "do not fit together");
    OpCase count = stack(3, 1, 0);
    count.m_Inputs[2] = Stored(TensorInfo(TensorShape({2}), DataType::Signed32), {0, 0});
    CheckRejectsShapes(count, "1 elements are wanted");
    count.m_Inputs[2] = Stored(TensorInfo(TensorShape({1}), DataType::Signed64), {0});
    CheckUnsupported(count, SupportCode::UnsupportedType, "input 2");
    OpCase floats = stack(3, 1, 0);
    floats.m_Inputs[0] = Stored(MakeInfo({2}, DataType::Float32), Numbers(2));
    floats.m_Inputs[1] = Stored(MakeInfo({6}, DataType::Float32), Numbers(6));
    floats.m_Output.SetDataType(DataType::Float32);
    floats.m_MoreOutputs[0].SetDataType(DataType::Float32);
    CheckUnsupported(floats, SupportCode::UnsupportedType, "input 0");
}

static InferCases MakeInferCases()
{
    constexpr LayerType type = LayerType::SignalFrames;
    return {
        Case(type, "cut", Describe(Cut, 400, 160), {T({2, 320}), T({2, 480}), T({1})})
            .Gives({"[2,2,400]", "[2,480]", "[]", "[1]"}),
        Case(type, "prefilled", Describe(Cut, 480, 320, true), {T({320}), T({480}), T({})})
            .Gives({"[1,480]", "[480]", "[]", "[]"}),
        Case(type, "part of a step", Describe(Cut, 5, 3), {T({4}), T({6}), T({1})}).Rejects("a multiple"),
        Case(type, "no step", Describe(Cut, 5, 0), {T({4}), T({6}), T({1})}).Rejects("at least 1"),
        Case(type, "step above the size", Describe(Cut, 2, 4, true), {T({4}), T({2}), T({1})}).Rejects("not exceed"),
        Case(type, "other end", Describe(Cut, 5, 2), {T({4}), T({5}), T({1})}).Rejects("the end of the signal"),
        Case(type, "two counts", Describe(Cut, 5, 2), {T({4}), T({6}), T({2})}).Rejects("the count"),
        Case(type, "scalar", Describe(Cut, 5, 2), {T({}), T({6}), T({1})}).Rejects("scalar"),
        Case(type, "stack", Describe(Stack, 3, 2, false, 1), {T({4}), T({12}), T({1})})
            .Gives({"[12]", "[12]", "[]", "[1]"}),
        Case(type, "step above the stack", Describe(Stack, 3, 4), {T({4}), T({12}), T({1})})
            .Rejects("neither the step"),
        Case(type, "context above the stack", Describe(Stack, 3, 1, false, 3), {T({4}), T({12}), T({1})})
            .Rejects("the repeated ones"),
        Case(type, "sums", Describe(OverlapAdd, 1, 4), {T({2, 3, 8}), T({2, 8})}).Gives({"[2,12]", "[2,8]"}),
        Case(type, "sums by a step above the size", Describe(OverlapAdd, 1, 9), {T({3, 8}), T({8})})
            .Rejects("not above"),
        Case(type, "sums of a line", Describe(OverlapAdd, 1, 4), {T({8}), T({8})}).Rejects("[..., frames"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::signal_frames_test
