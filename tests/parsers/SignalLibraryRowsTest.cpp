// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of the .tflite parser for the operators of TFLM's signal library. Numbers are those of TFLM's
// kernels (tflite-micro 0.dev20261023182759); runs go on with the state of those before.
#include "parsers/ModelRun.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tenon::test::signal_library_rows_test
{

namespace
{

using testing::ElementsAreArray;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;
using Sizes = std::vector<int32_t>;
using Options = std::map<std::string, int>;
using Samples = std::vector<int16_t>;

std::vector<uint8_t> Map(const Options& options)
{
    flexbuffers::Builder builder;
    builder.Map(
        [&]
        {
            for (const auto& [name, value] : options)
            {
                const bool isFlag = name == "prefill" || name == "clamping";
                isFlag ? builder.Bool(name.c_str(), value != 0) : builder.Int(name.c_str(), value);
            }
        });
    builder.Finish();
    return builder.GetBuffer();
}

void AddOperator(ModelBuilder& model, const char* name, const std::vector<int32_t>& inputs,
                 const std::vector<int32_t>& outputs, const Options& options)
{
    model.AddOperator(Operator::CUSTOM, inputs, outputs).custom_options =
        options.empty() ? std::vector<uint8_t>() : Map(options);
    auto& code = *model.Model().operator_codes.back();
    code.custom_code = name;
}

struct Operand
{
    Sizes m_Shape;
    Type m_Type;
};

/// An operator on graph inputs. An output without sizes is a scalar.
ModelBuilder CustomOp(const char* name, const std::vector<Operand>& inputs, const std::vector<Operand>& outputs,
                      const Options& options)
{
    ModelBuilder model;
    std::vector<int32_t> from;
    std::vector<int32_t> to;
    for (const Operand& input : inputs)
    {
        from.push_back(model.AddInput("in" + std::to_string(from.size()), input.m_Shape, input.m_Type));
    }
    for (const Operand& output : outputs)
    {
        to.push_back(model.AddOutput("out" + std::to_string(to.size()), output.m_Shape, output.m_Type));
        model.Tensor(to.back()).has_rank = true;
    }
    AddOperator(model, name, from, to, options);
    return model;
}

TensorShape ShapeOf(const Sizes& sizes)
{
    const std::vector<unsigned int> copy(sizes.begin(), sizes.end());
    return {static_cast<unsigned int>(copy.size()), copy.data()};
}

/// A run that follows the one before; nothing is expected of an output that is not complete.
struct Step
{
    Samples m_Input;
    Samples m_Output;
    bool m_IsComplete = true;
};

void ExpectSteps(const ModelBuilder& model, const Sizes& shape, const std::vector<Step>& steps)
{
    ModelRun run(model);
    for (const Step& step : steps)
    {
        const std::vector<Data> results = run.Run({Data::Of(ShapeOf(shape), step.m_Input)});
        if (results.size() > 1)
        {
            EXPECT_EQ(results[1].As<uint8_t>(), std::vector<uint8_t>{step.m_IsComplete ? uint8_t{1} : uint8_t{0}});
        }
        if (step.m_IsComplete)
        {
            EXPECT_THAT(results[0].As<int16_t>(), ElementsAreArray(step.m_Output));
        }
    }
}

template <typename D>
D Read(LayerType type, const char* name, const std::vector<Operand>& inputs, const std::vector<Operand>& outputs,
       const Options& options)
{
    return Parsed(CustomOp(name, inputs, outputs, options)).Get<D>(type);
}

constexpr Type I16 = Type::INT16;

/// A text that names the option for each one that is left out.
void ExpectNeedsAll(const char* name, const std::vector<Operand>& inputs, const std::vector<Operand>& outputs,
                    const Options& options)
{
    for (const auto& [option, value] : options)
    {
        Options rest = options;
        rest.erase(option);
        EXPECT_THAT(ErrorOf<ParseException>(CustomOp(name, inputs, outputs, rest)),
                    HasSubstr("option " + option + " is missing"));
    }
}

const Options FramerOptions = {{"frame_size", 5}, {"frame_step", 2}, {"prefill", 0}};

} // namespace

TEST(TfLiteSignalLibraryRows, FeaturesHaveTheOptionsOfTheModel)
{
    using D = SignalFeatureDescriptor;
    constexpr LayerType type = LayerType::SignalFeature;
    const auto expect =
        [](const D& got, SignalFeatureFunction function, uint32_t shift, uint32_t start, uint32_t end, uint32_t scale)
    {
        D wanted;
        wanted.m_Function = function;
        wanted.m_Shift = shift;
        wanted.m_Start = start;
        wanted.m_End = end;
        wanted.m_Scale = scale;
        EXPECT_TRUE(got == wanted) << static_cast<int>(function);
    };
    using enum SignalFeatureFunction;
    const std::vector<Operand> line = {{{8}, I16}};
    const std::vector<Operand> channels = {{{8}, Type::UINT32}};
    expect(Read<D>(type, "SignalWindow", {{{2, 8}, I16}, {{8}, I16}}, {{{2, 8}, I16}}, {{"shift", 12}}), Window, 12, 0,
           0, 1);
    expect(Read<D>(type, "SignalFftAutoScale", line, {{{8}, I16}, {{}, Type::INT32}}, {}), AutoScale, 0, 0, 0, 1);
    expect(Read<D>(type, "SignalEnergy", line, {{{4}, Type::UINT32}}, {{"start_index", 1}, {"end_index", 3}}), Energy,
           0, 1, 3, 1);
    expect(Read<D>(type, "SignalFilterBankSquareRoot", {{{8}, Type::UINT64}, {{}, Type::INT32}}, channels, {}),
           SquareRoot, 0, 0, 0, 1);
    expect(Read<D>(type, "SignalPCAN", {channels[0], channels[0], {{125}, I16}}, channels, {{"snr_shift", 6}}), Gain, 6,
           0, 0, 1);
    expect(Read<D>(type, "SignalFilterBankLog", channels, line, {{"input_correction_bits", 3}, {"output_scale", 1600}}),
           Log, 3, 0, 0, 1600);
    expect(Read<D>(type, "SignalFilterBank", {channels[0], {{5}, I16}, {{5}, I16}, {{4}, I16}, {{4}, I16}, {{4}, I16}},
                   {{{3}, Type::UINT64}}, {{"num_channels", 3}}),
           FilterBank, 0, 0, 0, 1);

    ExpectNeedsAll("SignalEnergy", line, {{{4}, Type::UINT32}}, {{"start_index", 1}, {"end_index", 3}});
    ExpectNeedsAll("SignalFilterBankLog", channels, line, {{"input_correction_bits", 3}, {"output_scale", 1600}});
    EXPECT_THAT(ErrorOf<ParseException>(
                    CustomOp("SignalPCAN", {channels[0], channels[0], {{125}, I16}}, channels, {{"snr_shift", -1}})),
                HasSubstr("snr_shift is -1"));
}

TEST(TfLiteSignalLibraryRows, FilterBank)
{
    const auto make = [](int channels)
    {
        ModelBuilder model;
        const auto constant = [&](const Samples& values)
        { return model.AddConstant<int16_t>("", {static_cast<int32_t>(values.size())}, values, I16); };
        const int32_t energies = model.AddInput("energies", {7}, Type::UINT32);
        AddOperator(model, "SignalFilterBank",
                    {energies, constant({100, -200, 32767, -32768, 3, 4}), constant({1, 2, -3, 4, 5, 32767}),
                     constant({1, 0, 4}), constant({0, 2, 3}), constant({2, 3, 3})},
                    {model.AddOutput("sums", {2}, Type::UINT64)}, {{"num_channels", channels}});
        return model;
    };
    const std::vector<uint32_t> energies = {5, 4294967295U, 7, 2147483648U, 9, 11, 13};
    const std::vector<uint64_t> sums = {18446603340516360221U, 17179574373U};
    EXPECT_THAT(ModelRun(make(2)).Run({Data::Of(TensorShape({7}), energies)})[0].As<uint64_t>(),
                ElementsAreArray(sums));
    EXPECT_THAT(ErrorOf<ParseException>(make(3)), HasSubstr("has 3 starts in place of 4"));
}

TEST(TfLiteSignalLibraryRows, FourierTransforms)
{
    using D = SignalFftDescriptor;
    const auto make = [](const char* name, Type type, int number) {
        return CustomOp(name, {{{10}, type}}, {{{10}, type}}, {{"T", number}, {"fft_length", 8}});
    };
    for (const auto& [type, number] : {std::pair(I16, 7), std::pair(Type::INT32, 2), std::pair(Type::FLOAT32, 0)})
    {
        for (const char* name : {"SignalRfft", "SignalIrfft"})
        {
            const Parsed parsed(make(name, type, number));
            EXPECT_EQ(parsed.Get<D>(LayerType::SignalFft).m_Length, 8u);
            EXPECT_EQ(parsed.Get<D>(LayerType::SignalFft).m_Inverse, std::string(name) == "SignalIrfft");
        }
    }
    EXPECT_THAT(ErrorOf<ParseException>(make("SignalRfft", I16, 2)), HasSubstr("which is not the type of option T, 2"));
    EXPECT_THAT(ErrorOf<ParseException>(make("SignalRfft", Type::INT8, 9)), HasSubstr("option T, 9"));
    ExpectNeedsAll("SignalIrfft", {{{10}, I16}}, {{{8}, I16}}, {{"T", 7}, {"fft_length", 8}});
    EXPECT_THAT(
        ErrorOf<ParseException>(CustomOp("SignalRfft", {{{10}, I16}}, {{{10}, I16}}, {{"T", 7}, {"fft_length", 1}})),
        HasSubstr("fft_length is 1"));
}

TEST(TfLiteSignalLibraryRows, SpectralSubtraction)
{
    const Options options = {{"num_channels", 4},
                             {"smoothing", 400},
                             {"alternate_smoothing", 900},
                             {"one_minus_smoothing", 624},
                             {"alternate_one_minus_smoothing", 124},
                             {"smoothing_bits", 4},
                             {"min_signal_remaining", 50},
                             {"clamping", 1},
                             {"spectral_subtraction_bits", 10}};
    const std::vector<Operand> inputs = {{{4}, Type::UINT32}};
    const std::vector<Operand> outputs = {{{4}, Type::UINT32}, {{4}, Type::UINT32}};
    const char* name = "SignalFilterBankSpectralSubtraction";
    struct Numbers
    {
        std::vector<uint32_t> m_Input;
        std::vector<uint32_t> m_Output;
        std::vector<uint32_t> m_Noise;
    };
    const Numbers steps[] = {
        {{1000, 2000, 4294967295U, 7}, {609, 242, 209715199, 0}, {6250, 28125, 1677721593, 98}},
        {{10, 5, 3, 1073741824}, {0, 0, 0, 52428800}, {160, 80, 48, 0}},
        {{500, 2000, 100, 8}, {298, 241, 59, 1}, {3222, 28134, 654, 112}},
    };
    ModelRun run(CustomOp(name, inputs, outputs, options));
    for (const Numbers& step : steps)
    {
        const std::vector<Data> results = run.Run({Data::Of(TensorShape({4}), step.m_Input)});
        EXPECT_THAT(results[0].As<uint32_t>(), ElementsAreArray(step.m_Output));
        EXPECT_THAT(results[1].As<uint32_t>(), ElementsAreArray(step.m_Noise));
    }
    ExpectNeedsAll(name, inputs, outputs, options);
}

TEST(TfLiteSignalLibraryRows, Framer)
{
    const auto make = [](const Sizes& input, const Sizes& output, int size, int step, int prefill)
    {
        return CustomOp("SignalFramer", {{input, I16}}, {{output, I16}, {{}, Type::BOOL}},
                        {{"frame_size", size}, {"frame_step", step}, {"prefill", prefill}});
    };
    ExpectSteps(make({4}, {2, 5}, 5, 2, 0), {4},
                {{{-24, 79, 10, 77}, {}, false},
                 {{-34, 29, -34, -74}, {-24, 79, 10, 77, -34, 10, 77, -34, 29, -34}},
                 {{53, 36, 41, -92}, {-34, 29, -34, -74, 53, -34, -74, 53, 36, 41}}});
    ExpectSteps(make({4}, {2, 5}, 5, 2, 1), {4},
                {{{86, -30, 14, -43}, {0, 0, 0, 86, -30, 0, 86, -30, 14, -43}},
                 {{-87, -41, -82, 61}, {-30, 14, -43, -87, -41, -43, -87, -41, -82, 61}},
                 {{20, 76, 84, 80}, {-41, -82, 61, 20, 76, 61, 20, 76, 84, 80}}});
    ExpectSteps(make({6}, {2, 2}, 2, 3, 0), {6},
                {{{-14, 24, 50, 54, 2, -74}, {-14, 24, 54, 2}}, {{37, -31, -90, 57, -85, -9}, {37, -31, 57, -85}}});
    ExpectSteps(make({2, 3}, {2, 1, 4}, 4, 3, 0), {2, 3},
                {{{-74, 73, 77, 48, 33, -84}, {}, false},
                 {{58, -15, 54, 83, -66, -46}, {-74, 73, 77, 58, 48, 33, -84, 83}},
                 {{-58, -97, 83, -66, -16, 9}, {58, -15, 54, -58, 83, -66, -46, -66}}});

    const std::vector<Operand> outputs = {{{2, 5}, I16}, {{}, Type::BOOL}};
    ExpectNeedsAll("SignalFramer", {{{4}, I16}}, outputs, FramerOptions);
    EXPECT_THAT(ErrorOf<ParseException>(make({4}, {2, 5}, 0, 2, 0)), HasSubstr("frame_size is 0"));
    EXPECT_THAT(ErrorOf<ParseException>(make({4}, {2, 5}, 5, -2, 0)), HasSubstr("frame_step is -2"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(make({-1, 4}, {}, 5, 2, 0)),
                HasSubstr("does not tell how much is to be kept"));
}

TEST(TfLiteSignalLibraryRows, Stacker)
{
    const auto make = [](int channels, int left, int right, int step)
    {
        return CustomOp("SignalStacker", {{{channels}, I16}},
                        {{{channels * (left + right + 1)}, I16}, {{}, Type::BOOL}},
                        {{"num_channels", channels},
                         {"stacker_left_context", left},
                         {"stacker_right_context", right},
                         {"stacker_step", step}});
    };
    ExpectSteps(make(2, 1, 1, 2), {2},
                {{{-8, -79}, {}, false},
                 {{-40, -89}, {-8, -79, -8, -79, -40, -89}},
                 {{83, -72}, {}, false},
                 {{75, 65}, {-40, -89, 83, -72, 75, 65}},
                 {{86, 93}, {}, false},
                 {{48, -73}, {75, 65, 86, 93, 48, -73}}});
    ExpectSteps(make(2, 0, 2, 3), {2},
                {{{90, 12}, {}, false},
                 {{89, 36}, {}, false},
                 {{-60, -85}, {90, 12, 89, 36, -60, -85}},
                 {{-67, 76}, {}, false},
                 {{49, 49}, {}, false},
                 {{-16, 36}, {-67, 76, 49, 49, -16, 36}}});
    ExpectSteps(make(1, 2, 0, 1), {1}, {{{42}, {42, 42, 42}}, {{-4}, {42, 42, -4}}, {{-3}, {42, -4, -3}}});
    EXPECT_THAT(ErrorOf<ParseException>(make(2, -1, 2, 1)), HasSubstr("stacker_left_context is -1"));
    EXPECT_THAT(ErrorOf<ParseException>(CustomOp("SignalStacker", {{{2}, I16}}, {{{6}, I16}, {{}, Type::BOOL}},
                                                 {{"num_channels", 2147483647},
                                                  {"stacker_left_context", 2147483647},
                                                  {"stacker_right_context", 2},
                                                  {"stacker_step", 1}})),
                HasSubstr("too many"));
}

TEST(TfLiteSignalLibraryRows, OverlapAdd)
{
    const auto make = [](const Sizes& input, const Sizes& output, int step) {
        return CustomOp("SignalOverlapAdd", {{input, I16}}, {{output, I16}}, {{"T", 7}, {"frame_step", step}});
    };
    ExpectSteps(make({2, 3}, {4}, 2), {2, 3},
                {{{-5100, -12900, -11400, -15600, -7200, 28800}, {-5100, -12900, -27000, -7200}},
                 {{5400, -900, -26100, -5100, 10500, 26100}, {32767, -900, -31200, 10500}},
                 {{-6300, 13200, -20400, 14700, 7800, 18300}, {19800, 13200, -5700, 7800}}});
    ExpectSteps(make({2, 1, 3}, {2, 1}, 1), {2, 1, 3},
                {{{37, 67, 74, 36, -23, 99}, {37, 36}},
                 {{71, 58, 97, 65, -93, 66}, {138, 42}},
                 {{-36, -90, 13, 97, -86, 53}, {96, 103}}});
    EXPECT_THAT(ErrorOf<UnimplementedException>(make({3}, {3}, 1)), HasSubstr("it needs 2 or more known sizes"));
}

TEST(TfLiteSignalLibraryRows, Delay)
{
    const auto make = [](const Sizes& shape, int delay) {
        return CustomOp("SignalDelay", {{shape, I16}}, {{shape, I16}}, {{"delay_length", delay}});
    };
    ExpectSteps(make({3}, 2), {3},
                {{{9, -83, 45}, {0, 0, 9}}, {{44, 42, 42}, {-83, 45, 44}}, {{28, 0, -9}, {42, 42, 28}}});
    ExpectSteps(make({2, 2}, 3), {2, 2},
                {{{-39, 35, 8, 45}, {0, 0, 0, 0}},
                 {{-67, -57, -21, 44}, {0, -39, 0, 8}},
                 {{25, 9, 43, 63}, {35, -67, 45, -21}}});
    ExpectSteps(make({3}, 0), {3}, {{{9, -83, 45}, {9, -83, 45}}});
    // A few bytes that ask for the memory of a state.
    EXPECT_THAT(ErrorOf<ParseException>(make({65535, 3}, 2147483647)), HasSubstr("Limits::m_MaxTotalBytes"));
}

TEST(TfLiteSignalLibraryRows, EachOperatorKeepsItsOwn)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {2}, I16);
    const int32_t middle = model.AddTensor("middle", {2}, I16);
    AddOperator(model, "SignalDelay", {in}, {middle}, {{"delay_length", 1}});
    AddOperator(model, "SignalDelay", {middle}, {model.AddOutput("out", {2}, I16)}, {{"delay_length", 2}});
    ExpectSteps(model, {2}, {{{1, 2}, {0, 0}}, {{3, 4}, {0, 1}}, {{5, 6}, {2, 3}}});
    // Another network begins anew.
    ExpectSteps(model, {2}, {{{7, 8}, {0, 0}}});
}

TEST(TfLiteSignalLibraryRows, BranchesKeepNothing)
{
    ModelBuilder model;
    const int32_t condition = model.AddInput("condition", {1}, Type::BOOL);
    const int32_t in = model.AddInput("in", {2}, I16);
    schema::IfOptionsT options;
    options.then_subgraph_index = 1;
    options.else_subgraph_index = 1;
    model.AddOperator(Operator::IF, {condition, in}, {model.AddOutput("out", {2}, I16)}, options);
    model.AddSubgraph("branch");
    const int32_t inner = model.AddInput("inner", {2}, I16);
    AddOperator(model, "SignalDelay", {inner}, {model.AddOutput("delayed", {2}, I16)}, {{"delay_length", 1}});
    EXPECT_THAT(ErrorOf<UnimplementedException>(model), HasSubstr("keeps its delay from run to run, which is not "
                                                                  "supported within branches"));
}

// The operators of a front end, one after the other.
TEST(TfLiteSignalLibraryRows, FrontEnd)
{
    ModelBuilder model;
    const auto constant = [&](const Samples& values)
    { return model.AddConstant<int16_t>("", {static_cast<int32_t>(values.size())}, values, I16); };
    const auto tensor = [&](const Sizes& shape, Type type)
    {
        const int32_t index = model.AddTensor("", shape, type);
        model.Tensor(index).has_rank = true;
        return index;
    };
    const Samples window = {400, 1200, 2200, 3100, 3800, 4096, 4096, 3800, 3100, 2200, 1200, 400};
    const Samples gains = {
        32636, 32633, 32630, -6,    0,    0, 32624, -12,   0,    0, 32612, -23,   -2,   0, 32587, -48,
        0,     0,     32539, -96,   0,    0, 32443, -190,  0,    0, 32253, -378,  4,    0, 31879, -739,
        18,    0,     31158, -1409, 62,   0, 29811, -2567, 202,  0, 27446, -4301, 562,  0, 23707, -6265,
        1230,  0,     18672, -7458, 1952, 0, 13166, -7030, 2212, 0, 8348,  -5342, 1868, 0, 4874,  -3459,
        1282,  0,     2697,  -2025, 774,  0, 1446,  -1120, 436,  0, 762,   -596,  232,  0, 398,   -313,
        122,   0,     207,   -164,  64,   0, 107,   -85,   34,   0, 56,    -45,   18,   0, 29,    -22,
        8,     0,     15,    -13,   6,    0, 8,     -8,    4,    0, 4,     -2,    0,    0, 2,     -3,
        2,     0,     1,     0,     0,    0, 1,     -3,    2,    0, 0,     0,     0};
    const int32_t samples = model.AddInput("samples", {12}, I16);
    const int32_t windowed = tensor({12}, I16);
    AddOperator(model, "SignalWindow", {samples, constant(window)}, {windowed}, {{"shift", 12}});
    const int32_t scaled = tensor({12}, I16);
    const int32_t bits = tensor({}, Type::INT32);
    AddOperator(model, "SignalFftAutoScale", {windowed}, {scaled, bits}, {});
    const int32_t frequencies = tensor({18}, I16);
    AddOperator(model, "SignalRfft", {scaled}, {frequencies}, {{"T", 7}, {"fft_length", 16}});
    const int32_t energies = tensor({9}, Type::UINT32);
    AddOperator(model, "SignalEnergy", {frequencies}, {energies}, {{"start_index", 0}, {"end_index", 9}});
    const int32_t sums = tensor({3}, Type::UINT64);
    AddOperator(model, "SignalFilterBank",
                {energies, constant({4096, 3000, 2000, 1000, 500, 3500}), constant({0, 1096, 2096, 3096, 3596, 596}),
                 constant({1, 2, 4, 6}), constant({0, 1, 3, 4}), constant({1, 2, 2, 2})},
                {sums}, {{"num_channels", 3}});
    const int32_t roots = tensor({3}, Type::UINT32);
    AddOperator(model, "SignalFilterBankSquareRoot", {sums, bits}, {roots}, {});
    const int32_t clean = tensor({3}, Type::UINT32);
    const int32_t noise = tensor({3}, Type::UINT32);
    AddOperator(model, "SignalFilterBankSpectralSubtraction", {roots}, {clean, noise},
                {{"num_channels", 3},
                 {"smoothing", 409},
                 {"alternate_smoothing", 983},
                 {"one_minus_smoothing", 15975},
                 {"alternate_one_minus_smoothing", 15401},
                 {"smoothing_bits", 10},
                 {"min_signal_remaining", 819},
                 {"clamping", 0},
                 {"spectral_subtraction_bits", 14}});
    const int32_t even = tensor({3}, Type::UINT32);
    AddOperator(model, "SignalPCAN", {clean, noise, constant(gains)}, {even}, {{"snr_shift", 6}});
    AddOperator(model, "SignalFilterBankLog", {even}, {model.AddOutput("features", {3}, I16)},
                {{"input_correction_bits", 3}, {"output_scale", 1600}});
    ExpectSteps(
        model, {12},
        {{{9057, 17722, 15255, 453, 17617, 19049, 18811, -16767, -1860, 4294, -8675, -4941}, {16632, 15240, 16678}},
         {{5078, 12076, 3236, -13019, 7039, 14865, -11214, 1757, -6472, 16088, -17579, -914}, {14382, 13575, 15628}},
         {Samples(12), {0, 0, 0}},
         {{238, -42, -217, 173, 278, 290, 257, -79, 139, 281, 44, 257}, {0, 0, 0}}});
}

} // namespace tenon::test::signal_library_rows_test
