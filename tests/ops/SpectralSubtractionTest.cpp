// SPDX-License-Identifier: Apache-2.0
// SpectralSubtraction, bit for bit against results of TFLM's kernel (tflite-micro 0.dev20261023182759).
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

namespace tenon::test::spectral_subtraction_test
{

namespace
{

using Numbers = std::vector<double>;

OpCase MakeCase(bool isClamping, const Numbers& channels, const Numbers& noiseBefore, const Numbers& output,
                const Numbers& noise)
{
    SpectralSubtractionDescriptor descriptor;
    descriptor.m_Smoothing = 400;
    descriptor.m_OneMinusSmoothing = 624;
    descriptor.m_AlternateSmoothing = 900;
    descriptor.m_AlternateOneMinusSmoothing = 124;
    descriptor.m_SmoothingBits = 4;
    descriptor.m_Bits = 10;
    descriptor.m_MinSignalRemaining = 50;
    descriptor.m_Clamping = isClamping;
    const auto infoOf = [](const Numbers& numbers)
    { return TensorInfo(TensorShape({static_cast<unsigned int>(numbers.size())}), DataType::Unsigned32); };
    OpCase op;
    op.m_Name = isClamping ? "clamping" : "not clamping";
    op.m_Type = LayerType::SpectralSubtraction;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {Stored(infoOf(channels), channels), Stored(infoOf(noiseBefore), noiseBefore)};
    op.m_Output = infoOf(output);
    op.m_MoreOutputs = {infoOf(noise)};
    op.m_Oracle = [=](const auto&)
    {
        Numbers all = output;
        all.insert(all.end(), noise.begin(), noise.end());
        return all;
    };
    op.m_Steps = 0;
    return op;
}

} // namespace

// One run after the other: the noise goes on.
ISA_TEST(SpectralSubtraction, RunsOfTflm)
{
    CheckOp(MakeCase(false, {1000, 2000, 4294967295, 7}, {0, 0, 0, 0}, {609, 242, 209715199, 0},
                     {6250, 28125, 1677721593, 98}));
    CheckOp(MakeCase(false, {10, 5, 3, 1073741824}, {6250, 28125, 1677721593, 98}, {0, 0, 0, 52428800},
                     {3871, 3476, 1022361614, 11}));
    CheckOp(MakeCase(false, {500, 2000, 100, 8}, {3871, 3476, 1022361614, 11}, {157, 215, 4, 0},
                     {5483, 28545, 623002233, 113}));
    CheckOp(MakeCase(true, {1000, 2000, 4294967295, 7}, {0, 0, 0, 0}, {609, 242, 209715199, 0},
                     {6250, 28125, 1677721593, 98}));
    CheckOp(
        MakeCase(true, {10, 5, 3, 1073741824}, {6250, 28125, 1677721593, 98}, {0, 0, 0, 52428800}, {160, 80, 48, 0}));
    CheckOp(MakeCase(true, {500, 2000, 100, 8}, {160, 80, 48, 0}, {298, 241, 59, 1}, {3222, 28134, 654, 112}));
}

ISA_TEST(SpectralSubtraction, RefusesWhatDoesNotFit)
{
    const Numbers two(2);
    CheckRejectsShapes(MakeCase(false, two, Numbers(3), two, two), "2 elements are wanted");
    CheckRejectsShapes(MakeCase(false, two, two, two, Numbers(3)), "2 elements are wanted");
    OpCase op = MakeCase(false, two, two, two, two);
    op.m_MoreOutputs[0].SetDataType(DataType::Signed32);
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 1");
    for (const bool isOfNoise : {false, true})
    {
        SpectralSubtractionDescriptor descriptor;
        descriptor.m_SmoothingBits = isOfNoise ? 32 : 0;
        descriptor.m_Bits = isOfNoise ? 0 : 64;
        op = MakeCase(false, two, two, two, two);
        op.m_Descriptor = MakeDescriptor(descriptor);
        CheckUnsupported(op, SupportCode::UnsupportedParameters, "the maxima are 31 and 63");
    }
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const SpectralSubtractionDescriptor any;
    return {
        Case(SpectralSubtraction, "channels", any, {T({8}), T({8})}).Gives({"[8]", "[8]"}),
        Case(SpectralSubtraction, "noise of other channels", any, {T({8}), T({7})}).Rejects("the noise"),
        Case(SpectralSubtraction, "rank", any, {T({1, 8}), T({1, 8})}).Rejects("1"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::spectral_subtraction_test
