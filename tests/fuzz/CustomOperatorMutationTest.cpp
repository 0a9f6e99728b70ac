// SPDX-License-Identifier: Apache-2.0
// Hostile custom operators: small .tflite models of MediaPipe's and of TFLM's, with bent bytes. As in
// TfLiteMutationTest.cpp, what is a network is optimized, loaded and run under small limits.
#include "MutateBytes.hpp"
#include "TfLiteVictim.hpp"
#include "parsers/ModelBuilder.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::custom_operator_mutation_test
{

namespace
{

using Type = ModelBuilder::Type;
using Sizes = std::vector<int32_t>;
using Numbers = std::vector<int16_t>;

/// A graph input, or a constant of 16-bit numbers.
struct Operand
{
    Sizes m_Shape;
    Type m_Type = Type::FLOAT32;
    Numbers m_Constant = {};
};

/// A model of one operator. An output without sizes is a scalar.
struct Seed
{
    const char* m_Name;
    std::vector<Operand> m_Inputs;
    std::vector<Operand> m_Outputs;
    std::map<std::string, int> m_Options = {};
    std::vector<int32_t> m_Struct = {}; ///< options as a struct
    int32_t m_Version = 1;

    Bytes Build() const
    {
        ModelBuilder model;
        std::vector<int32_t> inputs;
        std::vector<int32_t> outputs;
        for (const Operand& input : m_Inputs)
        {
            inputs.push_back(input.m_Constant.empty()
                                 ? model.AddInput("i", input.m_Shape, input.m_Type)
                                 : model.AddConstant<int16_t>("c", input.m_Shape, input.m_Constant, input.m_Type));
        }
        for (const Operand& output : m_Outputs)
        {
            outputs.push_back(model.AddOutput("o", output.m_Shape, output.m_Type));
            model.Tensor(outputs.back()).has_rank = true;
        }
        model.AddOperator(ModelBuilder::Operator::CUSTOM, inputs, outputs).custom_options = PackOptions();
        model.Model().operator_codes[0]->custom_code = m_Name;
        model.Model().operator_codes[0]->version = m_Version;
        return model.Build();
    }

private:
    std::vector<uint8_t> PackOptions() const
    {
        std::vector<uint8_t> bytes(m_Struct.size() * sizeof(int32_t));
        if (!m_Struct.empty())
        {
            std::memcpy(bytes.data(), m_Struct.data(), bytes.size());
        }
        if (m_Options.empty())
        {
            return bytes;
        }
        flexbuffers::Builder builder;
        builder.Map(
            [&]
            {
                for (const auto& [name, value] : m_Options)
                {
                    if (name == "subset_idxs")
                    {
                        builder.TypedVector(name.c_str(), [&] { builder.Int(value), builder.Int(value + 1); });
                    }
                    else
                    {
                        builder.Int(name.c_str(), value);
                    }
                }
            });
        builder.Finish();
        return builder.GetBuffer();
    }
};

std::vector<Seed> MediaPipeSeeds()
{
    const Operand image = {{1, 4, 5, 2}};
    const Operand matrix = {{1, 4, 4}};
    return {
        {"Convolution2DTransposeBias", {image, {{3, 2, 3, 2}}, {{3}}}, {{{1, 8, 11, 3}}}, {}, {1, 2, 2}},
        {"MaxPoolingWithArgmax2D", {image}, {{{1, 2, 3, 2}}, {{1, 2, 3, 2}}}, {}, {1, 2, 2, 2, 2, 1}},
        {"MaxUnpooling2D", {image, image}, {{{1, 8, 10, 2}}}, {}, {1, 2, 2, 2, 2, 0}},
        {"Resampler", {image, {{1, 4, 5, 2}}}, {image}},
        {"TransformTensorBilinear",
         {image, matrix},
         {{{1, 2, 3, 2}}},
         {{"output_height", 2}, {"output_width", 3}},
         {},
         2},
        {"TransformLandmarks", {{{1, 5, 3}}, matrix}, {{{1, 5, 3}}}, {}, {}, 2},
        {"Landmarks2TransformMatrix",
         {{{1, 5, 3}}},
         {matrix},
         {{"subset_idxs", 1},
          {"left_rotation_idx", 0},
          {"right_rotation_idx", 3},
          {"target_rotation_radians", 0},
          {"output_height", 2},
          {"output_width", 3},
          {"scale_x", 1},
          {"scale_y", 1}},
         {},
         2},
    };
}

std::vector<Seed> SignalSeeds()
{
    constexpr Type I16 = Type::INT16;
    constexpr Type U32 = Type::UINT32;
    const auto constant = [](const Numbers& numbers) {
        return Operand{{static_cast<int32_t>(numbers.size())}, Type::INT16, numbers};
    };
    const Operand valid = {{}, Type::BOOL};
    return {
        {"SignalWindow", {{{6}, I16}, constant({1, 2, 3, 4, 5, 6})}, {{{6}, I16}}, {{"shift", 2}}},
        {"SignalFftAutoScale", {{{6}, I16}}, {{{6}, I16}, {{}, Type::INT32}}},
        {"SignalRfft", {{{10}, I16}}, {{{14}, I16}}, {{"T", 7}, {"fft_length", 12}}},
        {"SignalRfft", {{{2, 10}, Type::INT32}}, {{{2, 22}, Type::INT32}}, {{"T", 2}, {"fft_length", 20}}},
        {"SignalRfft", {{{10}}}, {{{16}}}, {{"T", 0}, {"fft_length", 14}}},
        {"SignalIrfft", {{{14}, I16}}, {{{12}, I16}}, {{"T", 7}, {"fft_length", 12}}},
        {"SignalIrfft", {{{16}}}, {{{14}}}, {{"T", 0}, {"fft_length", 14}}},
        {"SignalEnergy", {{{14}, I16}}, {{{7}, U32}}, {{"start_index", 1}, {"end_index", 6}}},
        {"SignalFilterBank",
         {{{7}, U32},
          constant({1, 2, 3, 4}),
          constant({5, 6, 7, 8}),
          constant({1, 2, 4}),
          constant({0, 1, 2}),
          constant({1, 2, 2})},
         {{{2}, Type::UINT64}},
         {{"num_channels", 2}}},
        {"SignalFilterBankSquareRoot", {{{2}, Type::UINT64}, {{1}, Type::INT32, {3, 0}}}, {{{2}, U32}}},
        {"SignalFilterBankSpectralSubtraction",
         {{{3}, U32}},
         {{{3}, U32}, {{3}, U32}},
         {{"num_channels", 3},
          {"smoothing", 409},
          {"alternate_smoothing", 983},
          {"one_minus_smoothing", 15975},
          {"alternate_one_minus_smoothing", 15401},
          {"smoothing_bits", 10},
          {"min_signal_remaining", 819},
          {"clamping", 1},
          {"spectral_subtraction_bits", 14}}},
        {"SignalPCAN", {{{3}, U32}, {{3}, U32}, constant(Numbers(125, 99))}, {{{3}, U32}}, {{"snr_shift", 6}}},
        {"SignalFilterBankLog", {{{3}, U32}}, {{{3}, I16}}, {{"input_correction_bits", 3}, {"output_scale", 1600}}},
        {"SignalDelay", {{{2, 5}, I16}}, {{{2, 5}, I16}}, {{"delay_length", 3}}},
        {"SignalFramer",
         {{{2, 6}, I16}},
         {{{2, 3, 5}, I16}, valid},
         {{"frame_size", 5}, {"frame_step", 2}, {"prefill", 0}}},
        {"SignalStacker",
         {{{3}, I16}},
         {{{12}, I16}, valid},
         {{"num_channels", 3}, {"stacker_left_context", 1}, {"stacker_right_context", 2}, {"stacker_step", 2}}},
        {"SignalOverlapAdd", {{{2, 3, 5}}}, {{{2, 9}}}, {{"T", 0}, {"frame_step", 3}}},
    };
}

class CustomOperatorMutation : public testing::TestWithParam<Seed>
{
};

std::string NameOf(const testing::TestParamInfo<Seed>& info)
{
    return info.param.m_Name + std::to_string(info.index);
}

} // namespace

TEST_P(CustomOperatorMutation, EachByteBent)
{
    Bytes model = GetParam().Build();
    TfLiteVictim victim;
    ASSERT_TRUE(victim.Runs(model));
    for (size_t at = 0; at < model.size(); ++at)
    {
        BendByte(model, at, {0, 1, 127, 128, 255}, [&] { victim.Runs(model); });
    }
}

TEST_P(CustomOperatorMutation, SeveralPlacesAtOnce)
{
    const Bytes model = GetParam().Build();
    TfLiteVictim victim;
    std::mt19937 random(20261130); // any seed: failures must repeat
    for (int round = 0; round < 2000; ++round)
    {
        victim.Runs(MutateBytes(model, random, 4));
    }
}

INSTANTIATE_TEST_SUITE_P(MediaPipe, CustomOperatorMutation, testing::ValuesIn(MediaPipeSeeds()), NameOf);
INSTANTIATE_TEST_SUITE_P(Signal, CustomOperatorMutation, testing::ValuesIn(SignalSeeds()), NameOf);

} // namespace tenon::test::custom_operator_mutation_test
