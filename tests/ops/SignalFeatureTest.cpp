// SPDX-License-Identifier: Apache-2.0
// SignalFeature, bit for bit against results of TFLM's kernels (tflite-micro 0.dev20261023182759).
#include "harness/LayerRun.hpp"
#include "harness/MessageOf.hpp"
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

namespace tenon::test::signal_feature_test
{

namespace
{

using enum SignalFeatureFunction;
using Numbers = std::vector<double>;

TestTensor Tensor(DataType type, const Numbers& numbers)
{
    return Stored(TensorInfo(TensorShape({static_cast<unsigned int>(numbers.size())}), type), numbers);
}

TestTensor Scalar(DataType type, double number)
{
    return Stored(TensorInfo(TensorShape(Dimensionality::Scalar), type), {number});
}

SignalFeatureDescriptor Describe(SignalFeatureFunction function, uint32_t shift = 0)
{
    SignalFeatureDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_Shift = shift;
    return descriptor;
}

OpCase MakeCase(const SignalFeatureDescriptor& descriptor, std::vector<TestTensor> inputs, DataType type,
                const Numbers& output)
{
    OpCase op;
    op.m_Name = "function " + std::to_string(static_cast<int>(descriptor.m_Function));
    op.m_Type = LayerType::SignalFeature;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = std::move(inputs);
    op.m_Output = TensorInfo(TensorShape({static_cast<unsigned int>(output.size())}), type);
    op.m_Oracle = [output](const auto&) { return output; };
    op.m_Steps = 0;
    return op;
}

OpCase MakeWindow(uint32_t shift, const Numbers& weights, const Numbers& output)
{
    return MakeCase(
        Describe(Window, shift),
        {Tensor(DataType::Signed16, {-32768, 32767, -32768, 1, -1, 0}), Tensor(DataType::Signed16, weights)},
        DataType::Signed16, output);
}

OpCase MakeAutoScale(const Numbers& input, const Numbers& output)
{
    OpCase op = MakeCase(Describe(AutoScale), {Tensor(DataType::Signed16, input)}, DataType::Signed16, output);
    op.m_Output = op.m_Inputs[0].m_Info;
    op.m_MoreOutputs = {TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Signed32)};
    return op;
}

OpCase MakeEnergy(const Numbers& input, uint32_t start, uint32_t end, const Numbers& output)
{
    SignalFeatureDescriptor descriptor = Describe(Energy);
    descriptor.m_Start = start;
    descriptor.m_End = end;
    return MakeCase(descriptor, {Tensor(DataType::Signed16, input)}, DataType::Unsigned32, output);
}

OpCase MakeFilterBank(const Numbers& starts, const Numbers& weightStarts, const Numbers& widths, const Numbers& output)
{
    return MakeCase(Describe(FilterBank),
                    {Tensor(DataType::Unsigned32, {5, 4294967295, 7, 2147483648, 9, 11, 13}),
                     Tensor(DataType::Signed16, {100, 200, 32767, 7, 3, 4}),
                     Tensor(DataType::Signed16, {1, 2, 3, 4, 5, 32767}), Tensor(DataType::Signed16, starts),
                     Tensor(DataType::Signed16, weightStarts), Tensor(DataType::Signed16, widths)},
                    DataType::Unsigned64, output);
}

OpCase MakeSquareRoot(double bits, const Numbers& output)
{
    return MakeCase(
        Describe(SquareRoot),
        {Tensor(DataType::Unsigned64,
                {0, 1, 2, 3, 6, 7, 12, 13, 4294836225, 4294901760, 4294901761, 4294967295, 4294967296, 4295098368,
                 1099511640121, 9223372036854775808.0, 18446744065119619072.0, 18446744073709549568.0}),
         Scalar(DataType::Signed32, bits)},
        DataType::Unsigned32, output);
}

OpCase MakeGain(uint32_t shift, const Numbers& gains, const Numbers& output)
{
    return MakeCase(
        Describe(Gain, shift),
        {Tensor(DataType::Unsigned32, {0, 100, 5000, 12345, 70000, 1048576, 2147483648, 4294967295, 9, 33554432}),
         Tensor(DataType::Unsigned32, {0, 1, 2, 3, 100, 1500, 2147483648, 4294967295, 65535, 12345678}),
         Tensor(DataType::Signed16, gains)},
        DataType::Unsigned32, output);
}

OpCase MakeLog(uint32_t scale, uint32_t shift, const Numbers& output)
{
    SignalFeatureDescriptor descriptor = Describe(Log, shift);
    descriptor.m_Scale = scale;
    return MakeCase(descriptor,
                    {Tensor(DataType::Unsigned32,
                            {0, 1, 2, 3, 100, 65535, 65536, 65537, 12345678, 536870912, 2147483648, 4294967295})},
                    DataType::Signed16, output);
}

/// Gains of 2^21 / (noise / 2^7 + 80)^0.95, as the micro speech front end has them.
const Numbers SpeechGains = {
    32636, 32633, 32630, -6,    0,    0, 32624, -12,   0,    0, 32612, -23,   -2,   0, 32587, -48,
    0,     0,     32539, -96,   0,    0, 32443, -190,  0,    0, 32253, -378,  4,    0, 31879, -739,
    18,    0,     31158, -1409, 62,   0, 29811, -2567, 202,  0, 27446, -4301, 562,  0, 23707, -6265,
    1230,  0,     18672, -7458, 1952, 0, 13166, -7030, 2212, 0, 8348,  -5342, 1868, 0, 4874,  -3459,
    1282,  0,     2697,  -2025, 774,  0, 1446,  -1120, 436,  0, 762,   -596,  232,  0, 398,   -313,
    122,   0,     207,   -164,  64,   0, 107,   -85,   34,   0, 56,    -45,   18,   0, 29,    -22,
    8,     0,     15,    -13,   6,    0, 8,     -8,    4,    0, 4,     -2,    0,    0, 2,     -3,
    2,     0,     1,     0,     0,    0, 1,     -3,    2,    0, 0,     0,     0};
const Numbers AnyGains = {
    -4387,  21919,  -6165,  2533,   25297,  -12800, -12208, 2913,   3043,   -19624, 4231,   26147,  -29930, -14609,
    -26285, 19883,  -17297, 5088,   -32590, -7163,  12011,  21677,  5152,   -13243, -10355, -14790, -5301,  26826,
    -30083, 20140,  -6491,  -32263, 22366,  -20494, -30288, 31034,  10036,  -9265,  12539,  -2042,  -18399, -28003,
    -13403, -24155, -20998, -3546,  4319,   -31668, -8566,  23700,  -24239, 20424,  -13828, 19387,  -16753, 12349,
    31907,  1297,   7231,   25893,  -1400,  16815,  -724,   -2287,  4980,   27846,  31527,  -16189, -7543,  -29249,
    -29020, 25881,  -20673, 1094,   -32277, 25630,  -19549, 31632,  6719,   -25435, -15905, -120,   22030,  -26013,
    29594,  -821,   -24753, 6296,   20054,  -12354, 10588,  -21011, 32304,  10292,  -20386, -23369, 17387,  1277,
    -11013, 24536,  -19729, 16837,  -15759, 29759,  28718,  1533,   -1384,  721,    -4256,  -16586, 24381,  -30978,
    23420,  3676,   26006,  20920,  -31291, -27332, 32480,  -11534, 12209,  -17423, 26399,  -25414, 19858};

} // namespace

ISA_TEST(SignalFeature, WindowsOfTflm)
{
    CheckOp(MakeWindow(0, {-32768, 32767, 32767, -1, 1, 5}, {32767, 32767, -32768, -1, -1, 0}));
    CheckOp(MakeWindow(12, {4000, 3000, -50, 4096, 4096, 7}, {-32000, 23999, 400, 1, -1, 0}));
    // Each line has the same window.
    OpCase lines = MakeCase(Describe(Window, 1),
                            {Stored(TensorInfo(TensorShape({2, 1, 2}), DataType::Signed16), {3, 5, -3, -5}),
                             Tensor(DataType::Signed16, {1, 10})},
                            DataType::Signed16, {1, 25, -2, -25});
    lines.m_Output.SetShape(TensorShape({2, 1, 2}));
    CheckOp(lines);
}

ISA_TEST(SignalFeature, AutoScalesOfTflm)
{
    const std::pair<Numbers, Numbers> all[] = {
        {{-32768, 5, 0, 0}, {0, 20480, 0, 0, 12}}, {{-32768, 100, -32768}, {-32768, 100, -32768, 0}},
        {{-32768, -5, 3}, {0, 24576, 24576, 13}},  {{16383, -16384}, {16383, -16384, 0}},
        {{0, 0, -1, 0}, {0, 0, -16384, 0, 14}},    {{0, 0, 0}, {0, 0, 0, 0}},
        {{100, -300, 7}, {6400, -19200, 448, 6}},  {{255, -256}, {16320, -16384, 6}},
    };
    for (const auto& [input, output] : all)
    {
        CheckOp(MakeAutoScale(input, output));
    }
}

ISA_TEST(SignalFeature, EnergiesOfTflm)
{
    CheckOp(
        MakeEnergy({-32768, -32768, -32768, 0, 32767, 32767, 3, -4}, 0, 4, {2147483648.0, 1073741824, 2147352578, 25}));
    CheckOp(MakeEnergy({1, 2, 3, 4, 5, 6, 7, 8}, 1, 3, {0, 25, 61, 0})); // TFLM leaves out those outside
    CheckOp(MakeEnergy({1, 2}, 1, 1, {0}));
}

ISA_TEST(SignalFeature, FilterBanksOfTflm)
{
    CheckOp(MakeFilterBank({1, 0, 4}, {0, 2, 3}, {2, 3, 3}, {34359902230, 17179869378}));
    CheckOp(MakeFilterBank({2, 4, 4}, {0, 4, 0}, {1, 2, 0}, {78, 360482}));
}

ISA_TEST(SignalFeature, SquareRootsOfTflm)
{
    CheckOp(MakeSquareRoot(0, {0, 1, 1, 2, 2, 3, 3, 4, 65535, 65535, 65535, 65535, 65536, 65537, 1048576, 3037000500,
                               4294967295, 4294967295}));
    CheckOp(MakeSquareRoot(
        3, {0, 0, 0, 0, 0, 0, 0, 0, 8191, 8191, 8191, 8191, 8192, 8192, 131072, 379625062, 536870911, 536870911}));
}

ISA_TEST(SignalFeature, GainsOfTflm)
{
    CheckOp(MakeGain(6, SpeechGains, {0, 732, 39767, 98271, 552553, 7337152, 0, 0, 0, 319424}));
    CheckOp(MakeGain(3, AnyGains, {0, 4217, 67048594, 34318, 66346729, 15593408, 62914496, 41942935, 493, 45678528}));
}

ISA_TEST(SignalFeature, LogarithmsOfTflm)
{
    CheckOp(MakeLog(64, 3, {0, 133, 177, 203, 428, 843, 843, 843, 1178, 0, 0, 1420}));
    CheckOp(MakeLog(1600, 0, {0, 0, 1109, 1758, 7368, 17747, 17745, 17745, 26126, 32162, 32767, 32767}));
    CheckOp(MakeLog(65535, 1, {0, 32767, 25315, 32767, 19545, 32767, 32767, 32767, 1422, 32767, 0, 11914}));
}

ISA_TEST(SignalFeature, RefusesWhatDoesNotFit)
{
    CheckUnsupported(MakeWindow(32, Numbers(6), Numbers(6)), SupportCode::UnsupportedParameters, "the maximum is 31");
    CheckUnsupported(MakeGain(64, SpeechGains, Numbers(10)), SupportCode::UnsupportedParameters, "the maximum is 63");
    OpCase bytes = MakeWindow(0, Numbers(6), Numbers(6));
    bytes.m_Inputs[1].m_Info.SetDataType(DataType::Unsigned32);
    bytes.m_Inputs[1] = Stored(bytes.m_Inputs[1].m_Info, Numbers(6));
    CheckUnsupported(bytes, SupportCode::UnsupportedType, "input 1 is Unsigned32, but must be Signed16");
    OpCase starts = MakeFilterBank({1, 0}, {0, 2}, {0, 0}, {0});
    starts.m_Inputs[5] = Tensor(DataType::Signed32, {0, 0});
    CheckUnsupported(starts, SupportCode::UnsupportedType, "input 5");
    OpCase bits = MakeAutoScale({1}, {16384, 14});
    bits.m_MoreOutputs[0].SetDataType(DataType::Signed64);
    CheckUnsupported(bits, SupportCode::UnsupportedType, "output 1");

    CheckRejectsShapes(MakeGain(6, Numbers(124), Numbers(10)), "125 elements are wanted");
    CheckRejectsShapes(MakeEnergy({1, 2, 3, 4}, 0, 3, {0, 0}), "do not fit together");
    CheckRejectsShapes(MakeWindow(0, Numbers(6), Numbers(5)), "do not fit together");
    CheckRejectsShapes(MakeFilterBank({1, 0}, {0, 2}, {0, 0}, {0, 0}), "3 elements are wanted");
}

TEST(SignalFeature, RunsRefuseChannelsThatAreNotThere)
{
    const auto backend = GetTestBackends().front();
    const auto message = [&](const OpCase& op)
    { return MessageOf<RuntimeException>([&] { RunOp(*backend, op, RunVariant()); }); };
    EXPECT_NE(message(MakeFilterBank({1, 0, 5}, {0, 2, 3}, {2, 3, 3}, {0, 0})).find("channel 2 has 3 energies from 5"),
              std::string::npos);
    EXPECT_NE(message(MakeFilterBank({1, 0, 4}, {0, 4, 3}, {2, 3, 3}, {0, 0})).find("weights from 4"),
              std::string::npos);
    EXPECT_NE(message(MakeFilterBank({-1, 0, 4}, {0, 2, 3}, {2, 3, 3}, {0, 0})).find("energies from -1"),
              std::string::npos);
    EXPECT_NE(message(MakeSquareRoot(32, Numbers(18))).find("is 32; roots are shifted by 0 to 31"), std::string::npos);
    EXPECT_NE(message(MakeSquareRoot(-1, Numbers(18))).find("is -1"), std::string::npos);
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const auto energy = [](uint32_t start, uint32_t end)
    {
        return Made<SignalFeatureDescriptor>(
            [&](auto& d)
            {
                d.m_Start = start;
                d.m_End = end;
            },
            Describe(Energy));
    };
    const auto bank = Describe(FilterBank);
    return {
        Case(SignalFeature, "window", Describe(Window), {T({2, 3}), T({3})}).Gives({"[2,3]"}),
        Case(SignalFeature, "short window", Describe(Window), {T({2, 3}), T({2})}).Rejects("must be [3]"),
        Case(SignalFeature, "window of a scalar", Describe(Window), {T({}), T({1})}).Rejects("scalar"),
        Case(SignalFeature, "scale", Describe(AutoScale), {T({8})}).Gives({"[8]", "[]"}),
        Case(SignalFeature, "energy", energy(1, 3), {T({8})}).Gives({"[4]"}),
        Case(SignalFeature, "half a frequency", energy(1, 3), {T({9})}).Rejects("two each"),
        Case(SignalFeature, "energies behind the last", energy(1, 5), {T({8})}).Rejects("a part of them"),
        Case(SignalFeature, "bank", bank, {T({9}), T({5}), T({5}), T({4}), T({4}), T({4})}).Gives({"[3]"}),
        Case(SignalFeature, "bank without starts", bank, {T({9}), T({5}), T({5}), T({0}), T({0}), T({0})})
            .Rejects("is empty"),
        Case(SignalFeature, "other unweights", bank, {T({9}), T({5}), T({6}), T({4}), T({4}), T({4})})
            .Rejects("the unweights"),
        Case(SignalFeature, "other widths", bank, {T({9}), T({5}), T({5}), T({4}), T({4}), T({3})})
            .Rejects("the widths"),
        Case(SignalFeature, "root", Describe(SquareRoot), {T({8}), T({})}).Gives({"[8]"}),
        Case(SignalFeature, "two shifts", Describe(SquareRoot), {T({8}), T({2})}).Rejects("1 elements are wanted"),
        Case(SignalFeature, "gain", Describe(Gain), {T({8}), T({8}), T({125})}).Gives({"[8]"}),
        Case(SignalFeature, "noise of other channels", Describe(Gain), {T({8}), T({7}), T({125})}).Rejects("the noise"),
        Case(SignalFeature, "few gains", Describe(Gain), {T({8}), T({8}), T({124})}).Rejects("the gains"),
        Case(SignalFeature, "log", Describe(Log), {T({8})}).Gives({"[8]"}),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::signal_feature_test
