// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of the .tflite parser for MediaPipe's custom operators. Numbers are those of MediaPipe's own
// kernels (mediapipe 0.10.21).
#include "parsers/ModelRun.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace tenon::test::media_pipe_rows_test
{

namespace
{

using testing::FloatEq;
using testing::HasSubstr;
using testing::Pointwise;
using Operator = ModelBuilder::Operator;
using Sizes = std::vector<int32_t>;

/// A custom operator on graph inputs.
ModelBuilder CustomOp(const char* name, const std::vector<Sizes>& inputs, const std::vector<Sizes>& outputs,
                      const std::vector<uint8_t>& options, int32_t version = 1)
{
    ModelBuilder model;
    std::vector<int32_t> from;
    std::vector<int32_t> to;
    for (const Sizes& sizes : inputs)
    {
        from.push_back(model.AddInput("in" + std::to_string(from.size()), sizes));
    }
    for (const Sizes& sizes : outputs)
    {
        to.push_back(model.AddOutput("out" + std::to_string(to.size()), sizes));
    }
    model.AddOperator(Operator::CUSTOM, from, to).custom_options = options;
    model.Model().operator_codes[0]->custom_code = name;
    model.Model().operator_codes[0]->version = version;
    return model;
}

/// One of TFLite's structs.
std::vector<uint8_t> Struct(const std::vector<int32_t>& numbers)
{
    std::vector<uint8_t> bytes(numbers.size() * sizeof(int32_t));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

std::vector<uint8_t> Map(const std::function<void(flexbuffers::Builder&)>& fill)
{
    flexbuffers::Builder options;
    options.Map([&] { fill(options); });
    options.Finish();
    return options.GetBuffer();
}

struct Floats
{
    Sizes m_Shape;
    std::vector<float> m_Values;
};

void ExpectOutputs(const char* name, const std::vector<Floats>& inputs, const std::vector<Floats>& outputs,
                   const std::vector<uint8_t>& options)
{
    std::vector<Sizes> from;
    std::vector<Sizes> to;
    std::vector<Data> data;
    const auto shapeOf = [](const Sizes& sizes)
    {
        const std::vector<unsigned int> copy(sizes.begin(), sizes.end());
        return TensorShape(static_cast<unsigned int>(copy.size()), copy.data());
    };
    for (const Floats& input : inputs)
    {
        from.push_back(input.m_Shape);
        data.push_back(Data::Of(shapeOf(input.m_Shape), input.m_Values));
    }
    for (const Floats& output : outputs)
    {
        to.push_back(output.m_Shape);
    }
    const std::vector<Data> results = ModelRun(CustomOp(name, from, to, options)).Run(data);
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        EXPECT_EQ(results[i].m_Shape, shapeOf(outputs[i].m_Shape));
        EXPECT_THAT(results[i].As<float>(), Pointwise(FloatEq(), outputs[i].m_Values));
    }
}

constexpr const char* Deconvolution = "Convolution2DTransposeBias";
constexpr const char* Pool = "MaxPoolingWithArgmax2D";
constexpr const char* Unpool = "MaxUnpooling2D";

ModelBuilder MakeDeconvolution(const std::vector<uint8_t>& options)
{
    return CustomOp(Deconvolution, {{1, 3, 2, 1}, {1, 3, 3, 1}, {1}}, {{1, 5, 4, 1}}, options);
}

} // namespace

TEST(TfLiteMediaPipeRows, Convolution2dTransposeBias)
{
    const Parsed parsed(MakeDeconvolution(Struct({1, 3, 2})));
    TransposeConvolution2dDescriptor expected;
    expected.m_PaddingScheme = PaddingScheme::Same;
    expected.m_StrideX = 3;
    expected.m_StrideY = 2;
    expected.m_DataLayout = DataLayout::NHWC;
    expected.m_BiasEnabled = true;
    expected.m_SameByInput = true;
    EXPECT_TRUE(parsed.Get<TransposeConvolution2dDescriptor>(LayerType::TransposeConvolution2d) == expected);

    ExpectOutputs(Deconvolution,
                  {{{1, 3, 2, 1}, {1.75f, 3.25f, -5, 3.25f, -0.25f, 0.25f}},
                   {{1, 3, 3, 1}, {1.25f, -2.25f, 5, -4.5f, -2.25f, -1.25f, 0.75f, -1, -3.75f}},
                   {{1}, {-4.75f}}},
                  {{{1, 5, 4, 1}, {-12.625f,  -8.6875f, -21.5625f, -12.0625f, -9.6875f,  4.75f,    -29.8125f,
                                   -15.3125f, 17.75f,   6.5f,      -13.125f,  -12.0625f, -8.8125f, 0.8125f,
                                   15.5f,     -8.5625f, -3.625f,   -4.1875f,  -5.5625f,  -5.3125f}}},
                  Struct({1, 2, 2}));
    ExpectOutputs(
        Deconvolution,
        {{{1, 2, 3, 1}, {-5, -4.75f, -3.5f, 5, -3.25f, 1.5f}}, {{2, 1, 1, 1}, {2.5f, -2.75f}}, {{2}, {-2.25f, -0.75f}}},
        {{{1, 3, 5, 2}, {-14.75f, 13,     -2.25f, -0.75f, -14.125f, 12.3125f, -2.25f, -0.75f, -11,    8.875f,
                         -2.25f,  -0.75f, -2.25f, -0.75f, -2.25f,   -0.75f,   -2.25f, -0.75f, -2.25f, -0.75f,
                         10.25f,  -14.5f, -2.25f, -0.75f, -10.375f, 8.1875f,  -2.25f, -0.75f, 1.5f,   -4.875f}}},
        Struct({1, 2, 2}));
    ExpectOutputs(
        Deconvolution,
        {{{1, 2, 2, 1}, {-2.5f, 4.75f, -3.25f, 4}}, {{1, 3, 2, 1}, {3, 3.5f, -4, -1, 1.25f, 0}}, {{1}, {1.75f}}},
        {{{1, 4, 4, 1},
          {-5.75f, -7, 16, 18.375f, 2, -7.125f, -5.25f, 11, 11.625f, 5, -8.3125f, -2.25f, -2.3125f, 1.75f, 6.75f,
           1.75f}}},
        Struct({2, 2, 1, 0}));

    const auto error = [](const std::vector<uint8_t>& options)
    { return ErrorOf<ParseException>(MakeDeconvolution(options)); };
    EXPECT_THAT(error({}), HasSubstr("0 bytes, but should be a struct of 12"));
    EXPECT_THAT(error(Struct({1, 2})), HasSubstr("8 bytes"));
    EXPECT_THAT(error(Struct({0, 2, 2})), HasSubstr("padding is 0"));
    EXPECT_THAT(error(Struct({1, 0, 2})), HasSubstr("stride_width is 0"));
    EXPECT_THAT(error(Struct({1, 2, -1})), HasSubstr("stride_height is -1"));
    ModelBuilder bytes = MakeDeconvolution(Struct({1, 2, 2}));
    bytes.Tensor(0).type = ModelBuilder::Type::UINT8;
    EXPECT_THAT(ErrorOf<UnimplementedException>(bytes), HasSubstr("known for Float32 alone"));
}

TEST(TfLiteMediaPipeRows, MaxPoolingWithArgmax2d)
{
    ExpectOutputs(Pool, {{{1, 3, 5, 1}, {1, 1, -2, 2, 0, 2, -1, -1, 2, -2, -2, -1, 1, -2, 2}}},
                  {{{1, 2, 3, 1}, {2, 2, 2, -1, 1, 2}}, {{1, 2, 3, 1}, {4.1f, 2.1f, 0.1f, 2.1f, 1.1f, 1.1f}}},
                  Struct({1, 2, 2, 3, 2, 0}));
    ExpectOutputs(
        Pool,
        {{{1, 4, 3, 2}, {-4, -6, 1, 8, 8, 8, -4, -10, 6, 4, 6, -10, -10, 0, -4, -2, 9, -6, 0, -4, -4, 6, -7, -4}}},
        {{{1, 2, 2, 2}, {6, 6, 6, 6, 6, 6, 6, 6}}, {{1, 2, 2, 2}, {3.1f, 1.1f, 5.1f, 0.1f, 1.1f, 5.1f, 3.1f, 4.1f}}},
        Struct({2, 1, 1, 2, 3, 3, 0, 0, 0, 0}));
    const Parsed parsed(CustomOp(Pool, {{1, 4, 4, 1}}, {{1, 2, 2, 1}, {1, 2, 2, 1}}, Struct({1, 2, 3, 4, 5, 0})));
    MaxPool2dWithIndicesDescriptor expected;
    expected.m_StrideX = 2;
    expected.m_StrideY = 3;
    expected.m_PoolWidth = 4;
    expected.m_PoolHeight = 5;
    expected.m_PaddingScheme = PaddingScheme::Same;
    EXPECT_TRUE(parsed.Get<MaxPool2dWithIndicesDescriptor>(LayerType::MaxPool2dWithIndices) == expected);

    const auto error = [](const std::vector<int32_t>& options) {
        return ErrorOf<ParseException>(CustomOp(Pool, {{1, 4, 4, 1}}, {{1, 2, 2, 1}, {1, 2, 2, 1}}, Struct(options)));
    };
    EXPECT_THAT(error({1, 2, 2, 2, 2}), HasSubstr("20 bytes, but should be a struct of 24"));
    EXPECT_THAT(error({3, 2, 2, 2, 2, 0}), HasSubstr("padding is 3"));
    EXPECT_THAT(error({1, 2, 0, 2, 2, 0}), HasSubstr("stride_height"));
    EXPECT_THAT(error({1, 2, 2, -2, 2, 0}), HasSubstr("filter_width"));
    EXPECT_THAT(error({1, 2, 2, 2, 0, 0}), HasSubstr("filter_height"));
    EXPECT_THAT(error({1, 2, 2, 2, 2, 4}), HasSubstr("activation is 4"));
    EXPECT_THAT(error({1, 2, 2, 2, 2, -1}), HasSubstr("activation is -1"));
}

TEST(TfLiteMediaPipeRows, MaxUnpooling2d)
{
    ExpectOutputs(Unpool, {{{1, 2, 2, 1}, {-4, -3.5f, -2.25f, 2}}, {{1, 2, 2, 1}, {0.1f, 4.1f, 5.1f, 2.1f}}},
                  {{{1, 4, 6, 1}, {-4, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3.5f, 0, 0, 0, 0, 0, 0, 2, 0, 0, -2.25f, 0, 0, 0}}},
                  Struct({1, 3, 2, 3, 2, 0}));
    ExpectOutputs(Unpool, {{{1, 2, 2, 1}, {0.75f, -0.5f, -3.5f, 3}}, {{1, 2, 2, 1}, {3.1f, 2.1f, 1.1f, 0.1f}}},
                  {{{1, 4, 4, 1}, {0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}}, Struct({1, 1, 1, 2, 2, 0}));
    EXPECT_THAT(ErrorOf<ParseException>(
                    CustomOp(Unpool, {{1, 2, 2, 1}, {1, 2, 2, 1}}, {{1, 4, 4, 1}}, Struct({1, 2, 2, 2, 0, 0}))),
                HasSubstr("filter_height"));
}

// What a file may hold in place of the structs.
TEST(TfLiteMediaPipeRows, AnyBytesAsStructs)
{
    std::mt19937 random(1);
    for (const char* name : {Deconvolution, Pool, Unpool})
    {
        for (size_t i = 0; i < 200; ++i)
        {
            std::vector<uint8_t> options(random() % 48);
            for (uint8_t& byte : options)
            {
                byte = static_cast<uint8_t>(random() % 3 == 0 ? random() : random() % 4);
            }
            const size_t inputs = name == Deconvolution ? 3 : name == Pool ? 1 : 2;
            const ModelBuilder model = CustomOp(name, std::vector<Sizes>(inputs, {1, 2, 2, 1}),
                                                std::vector<Sizes>(name == Pool ? 2 : 1, {1, 2, 2, 1}), options);
            try
            {
                const Parsed parsed(model);
            }
            catch (const Exception& error)
            {
                EXPECT_THAT(error.what(), HasSubstr(name));
            }
        }
    }
}

TEST(TfLiteMediaPipeRows, LandmarksToTransformMatrix)
{
    const char* name = "Landmarks2TransformMatrix";
    const auto make = [&](const std::vector<int>& subset, int left, int height, float scale, int32_t version = 2)
    {
        const auto fill = [&](flexbuffers::Builder& b)
        {
            if (!subset.empty())
            {
                b.Add("subset_idxs", subset);
            }
            b.Int("left_rotation_idx", left);
            b.Int("right_rotation_idx", 1);
            b.Float("target_rotation_radians", 0.5f);
            b.Int("output_height", height);
            b.Int("output_width", 9);
            b.Float("scale_x", 1.5f);
            b.Float("scale_y", scale);
        };
        return CustomOp(name, {{1, 5, 3}}, {{1, 4, 4}}, Map(fill), version);
    };
    const Parsed parsed(make({1, 2, 4}, 3, 7, 0.75f));
    LandmarksToTransformMatrixDescriptor expected;
    expected.m_Subset = {1, 2, 4};
    expected.m_LeftRotationIndex = 3;
    expected.m_RightRotationIndex = 1;
    expected.m_TargetRotation = 0.5f;
    expected.m_OutputHeight = 7;
    expected.m_OutputWidth = 9;
    expected.m_ScaleX = 1.5f;
    expected.m_ScaleY = 0.75f;
    EXPECT_TRUE(parsed.Get<LandmarksToTransformMatrixDescriptor>(LayerType::LandmarksToTransformMatrix) == expected);

    EXPECT_THAT(ErrorOf<ParseException>(make({}, 3, 7, 1)), HasSubstr("subset_idxs is missing or empty"));
    EXPECT_THAT(ErrorOf<ParseException>(make({-1}, 3, 7, 1)), HasSubstr("subset_idxs has -1"));
    EXPECT_THAT(ErrorOf<ParseException>(make({1}, -3, 7, 1)), HasSubstr("left_rotation_idx is -3"));
    EXPECT_THAT(ErrorOf<ParseException>(make({1}, 3, 0, 1)), HasSubstr("output_height is 0"));
    EXPECT_THAT(ErrorOf<ParseException>(make({1}, 3, 7, 0)), HasSubstr("scale_y is 0"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(make({1}, 3, 7, 1, 1)),
                HasSubstr("version 1; MediaPipe's operator Landmarks2TransformMatrix is known in version 2 alone"));
}

TEST(TfLiteMediaPipeRows, TransformLandmarks)
{
    const auto make = [](int32_t version) {
        return CustomOp("TransformLandmarks", {{1, 5, 3}, {1, 4, 4}}, {{1, 5, 3}}, {}, version);
    };
    const Parsed parsed(make(2));
    const IConnectableLayer& layer = parsed.The(LayerType::TransformLandmarks);
    EXPECT_EQ(SourceOf(layer, 0).GetName(), std::string("in0"));
    EXPECT_EQ(SourceOf(layer, 1).GetName(), std::string("in1"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(make(1)), HasSubstr("is of version 1"));
}

TEST(TfLiteMediaPipeRows, TransformTensorBilinear)
{
    const auto make = [](const Sizes& output, int height, int32_t version = 2)
    {
        ModelBuilder model = CustomOp("TransformTensorBilinear", {{1, 8, 9, 2}, {1, 4, 4}}, {output},
                                      Map(
                                          [&](flexbuffers::Builder& b)
                                          {
                                              b.Int("output_height", height);
                                              b.Int("output_width", 6);
                                          }),
                                      version);
        return model;
    };
    const auto expectSizes = [](const ModelBuilder& model, uint32_t height, uint32_t width)
    {
        const Parsed parsed(model);
        const auto& descriptor = parsed.Get<TransformTensorBilinearDescriptor>(LayerType::TransformTensorBilinear);
        EXPECT_EQ(descriptor.m_OutputHeight, height);
        EXPECT_EQ(descriptor.m_OutputWidth, width);
    };
    expectSizes(make({}, 5), 5, 6);
    expectSizes(make({1, 5, 6, 2}, 5), 5, 6);
    expectSizes(make({1, 3, 4, 2}, 5), 3, 4); // the declared output counts
    EXPECT_THAT(ErrorOf<ParseException>(make({1, 5, 6, 2}, 0)), HasSubstr("output_height is 0"));
    EXPECT_THAT(ErrorOf<UnimplementedException>(make({1, 5, 6, 2}, 5, 1)), HasSubstr("is of version 1"));
}

TEST(TfLiteMediaPipeRows, Resampler)
{
    ExpectOutputs(
        "Resampler",
        {{{1, 3, 2, 2}, {1.75f, 3.25f, -5, 3.25f, -0.25f, 0.25f, 1.25f, -2.25f, 5, -4.5f, -2.25f, -1.25f}},
         {{1, 3, 2, 2}, {1, 2, 0.5f, 0.25f, -0.5f, 1.75f, 1.5f, 2.5f, -1, 0, 0, 2.75f}}},
        {{{1, 3, 2, 2},
          {-2.25f, -1.25f, -1.09375f, 2.1875f, 1.84375f, -1.65625f, -0.5625f, -0.3125f, 0, 0, 1.25f, -1.125f}}},
        {});
    const auto make = [](const Sizes& image, const Sizes& points) {
        return CustomOp("Resampler", {image, points}, {{}}, {});
    };
    const Parsed parsed(make({2, 3, 4, 5}, {2, 3, 4, 2}));
    GridSampleDescriptor expected;
    expected.m_InPixels = true;
    EXPECT_TRUE(parsed.Get<GridSampleDescriptor>(LayerType::GridSample) == expected);
    EXPECT_THAT(ErrorOf<ParseException>(make({2, 3, 4, 5}, {2, 3, 5, 2})), HasSubstr("as many rows and columns"));
    EXPECT_THAT(ErrorOf<ParseException>(make({2, 3, 4, 5}, {2, 4, 4, 2})), HasSubstr("shape [2,4,4,2]"));
    ModelBuilder bytes = make({2, 3, 4, 5}, {2, 3, 4, 2});
    bytes.Tensor(1).type = ModelBuilder::Type::UINT8;
    EXPECT_THAT(ErrorOf<UnimplementedException>(bytes), HasSubstr("known for Float32 alone"));
}

} // namespace tenon::test::media_pipe_rows_test
