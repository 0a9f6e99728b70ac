// SPDX-License-Identifier: Apache-2.0
// Tests of the rows of the .tflite parser for detections, three-dimensional pools, Fourier transforms, audio features
// and complex numbers: most of them custom operators with FlexBuffers options.
#include "parsers/ModelBuilder.hpp"

#include <flatbuffers/flexbuffers.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace tenon::test::signal_rows_test
{

namespace
{

using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Fill = std::function<void(flexbuffers::Builder&)>;

/// A custom operator on graph inputs, with these options.
ModelBuilder CustomOp(const char* name, size_t inputs, size_t outputs, const Fill& fill)
{
    ModelBuilder model;
    std::vector<int32_t> from;
    std::vector<int32_t> to;
    for (size_t i = 0; i < inputs; ++i)
    {
        from.push_back(model.AddInput("in" + std::to_string(i), {1}));
    }
    for (size_t i = 0; i < outputs; ++i)
    {
        to.push_back(model.AddOutput("out" + std::to_string(i), {1}));
    }
    flexbuffers::Builder options;
    options.Map([&] { fill(options); });
    options.Finish();
    model.AddOperator(Operator::CUSTOM, from, to).custom_options = options.GetBuffer();
    model.Model().operator_codes[0]->custom_code = name;
    return model;
}

void ExpectInOrder(const IConnectableLayer& layer, unsigned int inputs)
{
    ASSERT_EQ(layer.GetNumInputSlots(), inputs);
    for (unsigned int i = 0; i < inputs; ++i)
    {
        EXPECT_EQ(SourceOf(layer, i).GetName(), "in" + std::to_string(i));
    }
}

Fill Pool(std::vector<int> sizes, std::vector<int> strides, const char* padding, const char* format = "NDHWC")
{
    return [=](flexbuffers::Builder& b)
    {
        const auto list = [&](const char* name, const std::vector<int>& values)
        {
            b.TypedVector(name,
                          [&]
                          {
                              for (const int value : values)
                              {
                                  b.Int(value);
                              }
                          });
        };
        b.String("data_format", format);
        b.String("padding", padding);
        list("ksize", sizes);
        list("strides", strides);
    };
}

void FillDetection(flexbuffers::Builder& b)
{
    b.Int("max_detections", 3);
    b.Int("max_classes_per_detection", 2);
    b.Float("nms_score_threshold", 0.25f);
    b.Float("nms_iou_threshold", 0.5f);
    b.Int("num_classes", 4);
    b.Float("y_scale", 10.0f);
    b.Float("x_scale", 11.0f);
    b.Float("h_scale", 5.0f);
    b.Float("w_scale", 6.0f);
}

} // namespace

TEST(TfLiteSignalRows, DetectionPostProcess)
{
    const char* name = "TFLite_Detection_PostProcess";
    const Parsed parsed(CustomOp(name, 3, 4, FillDetection));
    ExpectInOrder(parsed.The(LayerType::DetectionPostProcess), 3);
    DetectionPostProcessDescriptor expected;
    expected.m_MaxDetections = 3;
    expected.m_MaxClassesPerDetection = 2;
    expected.m_DetectionsPerClass = 100;
    expected.m_NmsScoreThreshold = 0.25f;
    expected.m_NmsIouThreshold = 0.5f;
    expected.m_NumClasses = 4;
    expected.m_ScaleY = 10.0f;
    expected.m_ScaleX = 11.0f;
    expected.m_ScaleH = 5.0f;
    expected.m_ScaleW = 6.0f;
    EXPECT_TRUE(parsed.Get<DetectionPostProcessDescriptor>(LayerType::DetectionPostProcess) == expected);

    const Parsed regular(CustomOp(name, 3, 4,
                                  [](flexbuffers::Builder& b)
                                  {
                                      FillDetection(b);
                                      b.Int("detections_per_class", 7);
                                      b.Bool("use_regular_nms", true);
                                  }));
    expected.m_DetectionsPerClass = 7;
    expected.m_UseRegularNms = true;
    EXPECT_TRUE(regular.Get<DetectionPostProcessDescriptor>(LayerType::DetectionPostProcess) == expected);

    // Whatever the file says of them: boxes, classes, scores and their number.
    const std::vector<TensorShape> shapes = {TensorShape({1, 6, 4}), TensorShape({1, 6}), TensorShape({1, 6}),
                                             TensorShape({1})};
    const IConnectableLayer& layer = parsed.The(LayerType::DetectionPostProcess);
    const std::vector<std::string> outputs = parsed.m_Parser->GetSubgraphOutputTensorNames(0);
    ASSERT_EQ(outputs.size(), 4u);
    for (unsigned int i = 0; i < 4; ++i)
    {
        EXPECT_EQ(layer.GetOutputSlot(i).GetTensorInfo().GetShape(), shapes[i]) << i;
        EXPECT_EQ(parsed.m_Parser->GetNetworkOutputBindingInfo(0, outputs[i]).second.GetShape(), shapes[i]) << i;
    }

    const auto negative = [](flexbuffers::Builder& b)
    {
        b.Int("max_detections", -1);
        b.Int("max_classes_per_detection", 1);
    };
    EXPECT_THAT(ErrorOf<ParseException>(CustomOp(name, 3, 4, negative)), HasSubstr("max_detections"));
}

TEST(TfLiteSignalRows, Pools)
{
    for (const bool isMax : {false, true})
    {
        const char* name = isMax ? "MaxPool3D" : "AveragePool3D";
        const Parsed parsed(CustomOp(name, 1, 1, Pool({1, 2, 3, 4, 1}, {1, 5, 6, 7, 1}, "SAME")));
        Pooling3dDescriptor expected;
        expected.m_PoolType = isMax ? PoolingAlgorithm::Max : PoolingAlgorithm::Average;
        expected.m_PoolDepth = 2;
        expected.m_PoolHeight = 3;
        expected.m_PoolWidth = 4;
        expected.m_StrideZ = 5;
        expected.m_StrideY = 6;
        expected.m_StrideX = 7;
        expected.m_PaddingScheme = PaddingScheme::Same;
        expected.m_DataLayout = DataLayout::NDHWC;
        EXPECT_TRUE(parsed.Get<Pooling3dDescriptor>(LayerType::Pooling3d) == expected);
        expected.m_PaddingScheme = PaddingScheme::Valid;
        const Parsed valid(CustomOp(name, 1, 1, Pool({1, 2, 3, 4, 1}, {1, 5, 6, 7, 1}, "VALID")));
        EXPECT_TRUE(valid.Get<Pooling3dDescriptor>(LayerType::Pooling3d) == expected);
    }
    const auto error = [](const Fill& fill) { return ErrorOf<ParseException>(CustomOp("MaxPool3D", 1, 1, fill)); };
    const std::vector<int> ones(5, 1);
    EXPECT_THAT(error(Pool({1, 2, 2, 1}, ones, "SAME")), HasSubstr("ksize is [1,2,2,1]"));
    EXPECT_THAT(error(Pool({2, 1, 1, 1, 1}, ones, "SAME")), HasSubstr("ksize"));
    EXPECT_THAT(error(Pool({1, 1, 0, 1, 1}, ones, "SAME")), HasSubstr("ksize"));
    EXPECT_THAT(error(Pool(ones, {1, 1, 1, 1, -2}, "SAME")), HasSubstr("strides"));
    EXPECT_THAT(error(Pool(ones, ones, "FULL")), HasSubstr("padding is 'FULL'"));
    EXPECT_THAT(error(Pool(ones, ones, "SAME", "NCDHW")), HasSubstr("data_format is 'NCDHW'"));
    EXPECT_THAT(error([](flexbuffers::Builder&) {}), HasSubstr("padding"));
}

TEST(TfLiteSignalRows, FourierTransforms)
{
    for (const bool inverse : {false, true})
    {
        ModelBuilder model = CustomOp("Irfft2d", 2, 1, [](flexbuffers::Builder&) {});
        if (!inverse)
        {
            model.Model().operator_codes[0]->builtin_code = Operator::RFFT2D;
        }
        const Parsed parsed(model);
        ExpectInOrder(parsed.The(LayerType::RealFft2d), 2);
        const auto& descriptor = parsed.Get<RealFft2dDescriptor>(LayerType::RealFft2d);
        EXPECT_EQ(descriptor.m_Inverse, inverse);
        EXPECT_TRUE(descriptor.m_ParametersAsInputs);
    }
}

TEST(TfLiteSignalRows, ComplexNumbers)
{
    const std::pair<Operator, ComplexComponent> cases[] = {{Operator::REAL, ComplexComponent::Real},
                                                           {Operator::IMAG, ComplexComponent::Imaginary},
                                                           {Operator::COMPLEX_ABS, ComplexComponent::Magnitude}};
    for (const auto& [code, component] : cases)
    {
        ModelBuilder model;
        const int32_t in = model.AddInput("in0", {1}, ModelBuilder::Type::COMPLEX64);
        model.AddOperator(code, {in}, {model.AddOutput("out", {1})});
        const Parsed parsed(model);
        EXPECT_EQ(parsed.Get<ComplexPartDescriptor>(LayerType::ComplexPart).m_Component, component);
    }
}

TEST(TfLiteSignalRows, AudioSpectrogram)
{
    const auto windows = [](int size, int stride)
    {
        return [=](flexbuffers::Builder& b)
        {
            b.Int("window_size", size);
            b.Int("stride", stride);
            b.Bool("magnitude_squared", true);
        };
    };
    const Parsed parsed(CustomOp("AudioSpectrogram", 1, 1, windows(480, 160)));
    const auto& descriptor = parsed.Get<AudioSpectrogramDescriptor>(LayerType::AudioSpectrogram);
    EXPECT_EQ(descriptor.m_WindowSize, 480u);
    EXPECT_EQ(descriptor.m_Stride, 160u);
    EXPECT_TRUE(descriptor.m_MagnitudeSquared);
    EXPECT_THAT(ErrorOf<ParseException>(CustomOp("AudioSpectrogram", 1, 1, windows(1, 1))), HasSubstr("window_size"));
    EXPECT_THAT(ErrorOf<ParseException>(CustomOp("AudioSpectrogram", 1, 1, windows(2, 0))), HasSubstr("stride"));
}

TEST(TfLiteSignalRows, Mfcc)
{
    const Parsed parsed(CustomOp("Mfcc", 2, 1,
                                 [](flexbuffers::Builder& b)
                                 {
                                     b.Float("upper_frequency_limit", 7600.9f);
                                     b.Int("lower_frequency_limit", 80);
                                     b.Int("filterbank_channel_count", 32);
                                     b.Int("dct_coefficient_count", 10);
                                 }));
    ExpectInOrder(parsed.The(LayerType::Mfcc), 2);
    MfccDescriptor expected;
    expected.m_UpperFrequencyLimit = 7600.0f;
    expected.m_LowerFrequencyLimit = 80.0f;
    expected.m_FilterbankChannelCount = 32;
    expected.m_DctCoefficientCount = 10;
    expected.m_ParametersAsInputs = true;
    EXPECT_TRUE(parsed.Get<MfccDescriptor>(LayerType::Mfcc) == expected);

    MfccDescriptor defaults;
    defaults.m_ParametersAsInputs = true;
    const Parsed without(CustomOp("Mfcc", 2, 1, [](flexbuffers::Builder&) {}));
    EXPECT_TRUE(without.Get<MfccDescriptor>(LayerType::Mfcc) == defaults);
}

} // namespace tenon::test::signal_rows_test
