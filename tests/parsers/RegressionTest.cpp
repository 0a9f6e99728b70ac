// SPDX-License-Identifier: Apache-2.0
// Models of kinds that engines before this one crashed on, refused or computed wrongly, from file to result. One more
// kind, LSTM on bytes, is among the models of StateGoldenTest.cpp.
#include "parsers/ModelRun.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::regression_test
{

namespace
{

using testing::ElementsAre;
using testing::ElementsAreArray;

using Op = schema::BuiltinOperator;
using Type = schema::TensorType;

std::vector<uint8_t> DetectionOptions()
{
    flexbuffers::Builder options;
    options.Map(
        [&]
        {
            options.Int("max_detections", 3);
            options.Int("max_classes_per_detection", 1);
            options.Float("nms_score_threshold", 0.25f);
            options.Float("nms_iou_threshold", 0.5f);
            options.Int("num_classes", 1);
            options.Float("y_scale", 10.0f);
            options.Float("x_scale", 10.0f);
            options.Float("h_scale", 5.0f);
            options.Float("w_scale", 5.0f);
        });
    options.Finish();
    return options.GetBuffer();
}

/// in -> ABS -> an output in front of those of the detection and one behind them. Each box has `boxValues` values:
/// those behind the fourth are no business of the detection.
ModelBuilder DetectionModel(int32_t boxValues)
{
    ModelBuilder model;
    const int32_t boxes = model.AddInput("boxes", {1, 2, boxValues});
    const int32_t scores = model.AddInput("scores", {1, 2, 2});
    const int32_t in = model.AddInput("in", {1, 2});
    const int32_t anchors =
        model.AddConstant<float>("anchors", {2, 4}, {0.5, 0.5, 1, 1, 0.5, 10.5, 1, 1}, Type::FLOAT32);
    model.AddOperator(Op::ABS, {in}, {model.AddOutput("first", {1, 2})});
    std::vector<int32_t> results;
    for (const char* name : {"boxes out", "classes", "scores out", "count"})
    {
        results.push_back(model.AddOutput(name, {})); // converters leave the shapes of custom operators open
        model.Tensor(results.back()).has_rank = false;
    }
    model.AddOperator(Op::CUSTOM, {boxes, scores, anchors}, results).custom_options = DetectionOptions();
    model.Model().operator_codes.back()->custom_code = "TFLite_Detection_PostProcess";
    model.AddOperator(Op::NEG, {in}, {model.AddOutput("last", {1, 2})});
    return model;
}

/// 1x1 convolution of one channel to two.
ModelBuilder ConvolutionModel(Op code, int32_t biasDimension)
{
    ModelBuilder model;
    const bool isDepthwise = code == Op::DEPTHWISE_CONV_2D;
    const int32_t in = model.AddInput("in", {1, 1, 2, 1}, Type::INT8);
    const int32_t weights = model.AddConstant<int8_t>(
        "weights", isDepthwise ? std::vector<int32_t>{1, 1, 1, 2} : std::vector<int32_t>{2, 1, 1, 1}, {2, 3},
        Type::INT8);
    const int32_t bias = model.AddConstant<int32_t>("bias", {2}, {4, -6}, Type::INT32);
    const int32_t out = model.AddOutput("out", {1, 1, 2, 2}, Type::INT8);
    model.Quantize(in, {0.5f}, {1})
        .Quantize(weights, {0.25f, 0.5f}, {0, 0}, isDepthwise ? 3 : 0)
        .Quantize(bias, {0.125f, 0.25f}, {0, 0}, biasDimension)
        .Quantize(out, {1.0f}, {-2});
    if (isDepthwise)
    {
        schema::DepthwiseConv2DOptionsT options;
        options.stride_w = options.stride_h = 1;
        options.depth_multiplier = 2;
        model.AddOperator(code, {in, weights, bias}, {out}, options);
    }
    else
    {
        schema::Conv2DOptionsT options;
        options.stride_w = options.stride_h = 1;
        model.AddOperator(code, {in, weights, bias}, {out}, options);
    }
    return model;
}

} // namespace

TEST(Regression, DetectionPostProcessBesideFurtherOutputs)
{
    for (const unsigned int boxValues : {4U, 6U})
    {
        ModelRun run(DetectionModel(static_cast<int32_t>(boxValues)));
        std::vector<float> boxes(2 * boxValues, 0.0f);
        boxes[1] = 10.0f; // of the first box, by one anchor width
        for (const size_t box : {0U, 1U})
        {
            std::fill(boxes.begin() + static_cast<std::ptrdiff_t>(box * boxValues + 4),
                      boxes.begin() + static_cast<std::ptrdiff_t>((box + 1) * boxValues), 99.0f);
        }
        const std::vector<Data> out =
            run.Run({Data::Of<float>({1, 2, boxValues}, boxes), Data::Of<float>({1, 2, 2}, {0, 0.5f, 0, 0.75f}),
                     Data::Of<float>({1, 2}, {-3, 4})});
        ASSERT_EQ(out.size(), 6U);
        EXPECT_THAT(out[0].As<float>(), ElementsAre(3, 4));
        EXPECT_EQ(out[1].m_Shape, TensorShape({1, 3, 4}));
        EXPECT_THAT(out[1].As<float>(), ElementsAre(0, 10, 1, 11, 0, 1, 1, 2, 0, 0, 0, 0));
        EXPECT_THAT(out[2].As<float>(), ElementsAre(0, 0, 0));
        EXPECT_THAT(out[3].As<float>(), ElementsAre(0.75f, 0.5f, 0));
        EXPECT_THAT(out[4].As<float>(), ElementsAre(2));
        EXPECT_THAT(out[5].As<float>(), ElementsAre(3, -4));
    }
}

TEST(Regression, DetectionPostProcessOutputsThatNobodyAsksFor)
{
    ModelBuilder model = DetectionModel(4);
    model.Op(1).outputs[1] = -1;
    std::vector<int32_t>& outputs = model.Graph().outputs;
    outputs = {outputs[4], outputs[3]}; // count and scores
    ModelRun run(model);
    const std::vector<Data> out =
        run.Run({Data::Of<float>({1, 2, 4}, std::vector<float>(8)), Data::Of<float>({1, 2, 2}, {0, 0.5f, 0, 0.75f}),
                 Data::Of<float>({1, 2}, {-3, 4})});
    EXPECT_THAT(out.at(0).As<float>(), ElementsAre(2));
    EXPECT_THAT(out.at(1).As<float>(), ElementsAre(0.75f, 0.5f, 0));
}

TEST(Regression, BiasPerAxisOfADimensionThatItDoesNotHave)
{
    for (const Op code : {Op::CONV_2D, Op::DEPTHWISE_CONV_2D})
    {
        for (const int32_t dimension : {0, 1, 3})
        {
            SCOPED_TRACE(testing::Message() << EnumNameBuiltinOperator(code) << ", dimension " << dimension);
            ModelRun run(ConvolutionModel(code, dimension));
            // Real values: data 1 and 3, weights 0.5 and 1.5, bias 0.5 and -1.5.
            const std::vector<Data> out = run.Run({Data::Of<int8_t>({1, 1, 2, 1}, {3, 7})});
            EXPECT_THAT(out.at(0).As<int8_t>(), ElementsAre(-1, -2, 0, 1));
        }
    }
}

TEST(Regression, ConvolutionOf16BitsWithBiasOf64)
{
    constexpr int64_t large = int64_t{3} << 32; // sums need more than 32 bits too
    for (const bool isTransposed : {false, true})
    {
        ModelBuilder model;
        const int32_t in = model.AddInput("in", {1, 1, 2, 1}, Type::INT16);
        const int32_t weights = model.AddConstant<int8_t>("weights", {1, 1, 1, 1}, {100}, Type::INT8);
        const int32_t bias = model.AddConstant<int64_t>("bias", {1}, {large}, Type::INT64);
        const int32_t out = model.AddOutput("out", {1, 1, 2, 1}, Type::INT16);
        model.Quantize(in, {0x1p-4f}, {0})
            .Quantize(weights, {0x1p-2f}, {0})
            .Quantize(bias, {0x1p-6f}, {0})
            .Quantize(out, {0x1p+14f}, {0});
        if (isTransposed)
        {
            schema::TransposeConvOptionsT options;
            options.stride_w = options.stride_h = 1;
            model.AddOperator(Op::TRANSPOSE_CONV, {model.AddIntegers("shape", {1, 1, 2, 1}), weights, in, bias}, {out},
                              options);
        }
        else
        {
            schema::Conv2DOptionsT options;
            options.stride_w = options.stride_h = 1;
            model.AddOperator(Op::CONV_2D, {in, weights, bias}, {out}, options);
        }
        ModelRun run(model);
        const std::vector<Data> result = run.Run({Data::Of<int16_t>({1, 1, 2, 1}, {0, -32768})});
        // (3 * 2^32 + data * 100) / 2^20, the second 12288 - 3.125.
        EXPECT_THAT(result.at(0).As<int16_t>(), ElementsAre(12288, 12285)) << isTransposed;
    }
}

TEST(Regression, QuantizesIntegersOf32BitsTo16)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {4}, Type::INT32);
    const int32_t out = model.AddOutput("out", {4}, Type::INT16);
    model.Quantize(in, {0.25f}, {0}).Quantize(out, {1.0f}, {0});
    model.AddOperator(Op::QUANTIZE, {in}, {out});
    ModelRun run(model);
    const std::vector<Data> result = run.Run({Data::Of<int32_t>({4}, {40, -41, 1000000, -1000000})});
    EXPECT_THAT(result.at(0).As<int16_t>(), ElementsAre(10, -10, 32767, -32768));
}

TEST(Regression, PadOfAQuantizedTensorIsItsZeroPoint)
{
    for (const Type type : {Type::INT8, Type::UINT8})
    {
        for (const bool hasValue : {false, true})
        {
            SCOPED_TRACE(testing::Message() << EnumNameTensorType(type) << (hasValue ? ", PADV2" : ", PAD"));
            ModelBuilder model;
            const int32_t in = model.AddInput("in", {1, 2}, type);
            const int32_t paddings = model.AddConstant<int32_t>("paddings", {2, 2}, {0, 1, 1, 2}, Type::INT32);
            const int32_t out = model.AddOutput("out", {2, 5}, type);
            model.Quantize(in, {0.5f}, {5}).Quantize(out, {0.5f}, {5});
            if (hasValue)
            {
                const int32_t value = model.AddConstant<int8_t>("value", {1}, {7}, type); // the stored one
                model.Quantize(value, {0.5f}, {5});
                model.AddOperator(Op::PADV2, {in, paddings, value}, {out});
            }
            else
            {
                model.AddOperator(Op::PAD, {in, paddings}, {out});
            }
            ModelRun run(model);
            const std::vector<Data> result = run.Run({Data::Of<uint8_t>({1, 2}, {100, 2})});
            const uint8_t border = hasValue ? 7 : 5;
            std::vector<uint8_t> expected(10, border);
            expected[1] = 100;
            expected[2] = 2;
            EXPECT_THAT(result.at(0).As<uint8_t>(), ElementsAreArray(expected));
        }
    }
}

TEST(Regression, AnInputListedTwiceHasTwoBindings)
{
    // inputs = [a, a, b], out = a - b
    ModelBuilder model;
    const int32_t a = model.AddInput("a", {2});
    model.Graph().inputs.push_back(a);
    const int32_t b = model.AddInput("b", {2});
    model.AddOperator(Op::SUB, {a, b}, {model.AddOutput("out", {2})}, schema::SubOptionsT());
    {
        const Parsed parsed(model);
        EXPECT_THAT(parsed.m_Parser->GetSubgraphInputTensorNames(0), ElementsAre("a", "a_1", "b"));
        EXPECT_EQ(parsed.m_Parser->GetNetworkInputBindingInfo(0, "a_1").first, 1);
    }
    // The last value counts.
    ModelRun run(model);
    const std::vector<Data> out =
        run.Run({Data::Of<float>({2}, {100, 200}), Data::Of<float>({2}, {5, 6}), Data::Of<float>({2}, {1, 3})});
    EXPECT_THAT(out.at(0).As<float>(), ElementsAre(4, 3));
}

TEST(Regression, AnInputListedTwiceIsAnOutput)
{
    ModelBuilder model;
    const int32_t a = model.AddInput("a", {2});
    model.Graph().inputs.push_back(a);
    model.Graph().outputs = {a, a};
    ModelRun run(model);
    const std::vector<Data> out = run.Run({Data::Of<float>({2}, {1, 2}), Data::Of<float>({2}, {5, 6})});
    EXPECT_THAT(out.at(0).As<float>(), ElementsAre(5, 6));
    EXPECT_THAT(out.at(1).As<float>(), ElementsAre(5, 6));
}

TEST(Regression, BufferZeroIsNoDataWhateverItHolds)
{
    // 8 bytes, as many as a tensor has, and 7.
    for (const size_t bytes : {8U, 7U})
    {
        ModelBuilder model;
        const int32_t in = model.AddInput("in", {2});
        const int32_t between = model.AddTensor("between", {2});
        model.AddOperator(Op::NEG, {in}, {between});
        model.AddOperator(Op::ABS, {between}, {model.AddOutput("out", {2})});
        model.Model().buffers.at(0)->data.assign(bytes, 1);
        ModelRun run(model);
        EXPECT_THAT(run.Run({Data::Of<float>({2}, {-3, 4})}).at(0).As<float>(), ElementsAre(3, 4));
    }
}

TEST(Regression, StatesDoNotStartWithWhatBufferZeroHolds)
{
    ModelBuilder model;
    const int32_t in = model.AddInput("in", {1, 2});
    const int32_t weights = model.AddFloats("weights", {1, 2});
    const int32_t times = model.AddFloats("times", {1, 2});
    const int32_t state = model.AddTensor("state", {1, 2});
    model.Tensor(state).is_variable = true;
    schema::SVDFOptionsT options;
    options.rank = 1;
    model.AddOperator(Op::SVDF, {in, weights, times, -1, state}, {model.AddOutput("out", {1, 1})}, options);
    model.Model().buffers.at(0)->data.assign(8, 64);
    ModelRun run(model);
    EXPECT_THAT(run.Run({Data::Of<float>({1, 2}, {1, 2})}).at(0).As<float>(), ElementsAre(3));
    EXPECT_THAT(run.Run({Data::Of<float>({1, 2}, {1, 2})}).at(0).As<float>(), ElementsAre(6));
}

} // namespace tenon::test::regression_test
