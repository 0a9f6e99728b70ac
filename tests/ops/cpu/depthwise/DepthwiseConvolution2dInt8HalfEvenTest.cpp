// SPDX-License-Identifier: Apache-2.0
// Int8 depthwise convolutions of RequantizationMode::FloatHalfEven in all variants: ties, saturation, clamps; and the
// same layers in fixed point.
#include "ops/cpu/HalfEvenInt8.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace tenon::test::depthwise_convolution2d_int8_half_even_test
{

namespace
{

struct Case
{
    const char* m_Name;
    std::array<unsigned int, 2> m_Window;          ///< rows and columns
    std::array<unsigned int, 3> m_Image;           ///< height, width and channels; a pixel of padding surrounds it
    std::array<unsigned int, 2> m_Stride = {1, 1}; ///< y and x
    std::array<unsigned int, 2> m_Dilation = {1, 1};
    unsigned int m_Multiplier = 1;
};

/// What the layers of a case differ in.
struct Quantization
{
    bool m_IsSigned = true;
    bool m_IsPerAxis = false;    ///< the weights
    unsigned int m_AboveMin = 0; ///< zero point of the output, above the smallest value
    bool m_HasClamp = false;

    std::string GetName() const
    {
        return std::string(m_IsSigned ? ", int8" : ", uint8") + (m_IsPerAxis ? ", per axis" : "") + ", zero point " +
               std::to_string(m_AboveMin) + (m_HasClamp ? ", clamped" : "");
    }
};

constexpr float DataScale = 0.5f;
constexpr float OutputScale = 0.25f;
constexpr float Unit = OutputScale / DataScale; ///< scale of weights whose products are steps of the output

void ExpectInBothModes(const Case& c, const Quantization& q)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = true;
    d.m_StrideY = c.m_Stride[0];
    d.m_StrideX = c.m_Stride[1];
    d.m_DilationY = c.m_Dilation[0];
    d.m_DilationX = c.m_Dilation[1];
    d.m_PadTop = d.m_PadBottom = c.m_Window[0] > 1 ? 1 : 0;
    d.m_PadLeft = d.m_PadRight = c.m_Window[1] > 1 ? 1 : 0;
    const auto count = [&c](size_t axis)
    {
        const unsigned int pads = c.m_Window[axis] > 1 ? 2 : 0;
        return (c.m_Image[axis] + pads - c.m_Dilation[axis] * (c.m_Window[axis] - 1) - 1) / c.m_Stride[axis] + 1;
    };
    const unsigned int channels = c.m_Image[2] * c.m_Multiplier;
    const int32_t lowest = q.m_IsSigned ? -128 : 0;
    const TensorInfo data =
        InfoInt8({2, c.m_Image[0], c.m_Image[1], c.m_Image[2]}, q.m_IsSigned, DataScale, lowest + 100);
    const TestTensor weights =
        MakeTieWeights({1, c.m_Window[0], c.m_Window[1], channels}, 3, q.m_IsSigned, q.m_IsPerAxis, Unit, -7);
    const std::vector<TestTensor> inputs = {Random(data, channels), Constant(weights),
                                            Constant(MakeTieBias(weights.m_Info, 3, Unit))};
    const TensorInfo output = InfoInt8({2, count(0), count(1), channels}, q.m_IsSigned, OutputScale,
                                       lowest + static_cast<int32_t>(q.m_AboveMin));
    const char* const kernel =
        c.m_Image[2] == 1 ? "CpuDepthwiseConvolution2dSingleChannelInt8" : "CpuDepthwiseConvolution2dInt8";
    for (const RequantizationMode mode : {RequantizationMode::FloatHalfEven, RequantizationMode::FixedPoint})
    {
        d.m_Requantization = mode;
        ActivationDescriptor clamp(ActivationFunction::BoundedReLu, 12.5f * OutputScale, -2.5f * OutputScale);
        clamp.m_Requantization = mode;
        OpCase op = ReferenceCase(c.m_Name + q.GetName(), LayerType::DepthwiseConvolution2d, d, inputs, output);
        op.m_FusedActivation = q.m_HasClamp ? &clamp : nullptr;
        mode == RequantizationMode::FloatHalfEven ? ExpectHalfEven(op, d, kernel) : ExpectAsReference(op, kernel);
    }
}

} // namespace

ISA_TEST(DepthwiseInt8, RoundsHalfToEven)
{
    const Case cases[] = {
        {"four row strips", {3, 3}, {9, 8, 16}},
        {"blocks that repeat channels", {3, 3}, {10, 5, 72}},
        {"one row strip and a ring buffer", {3, 3}, {2, 9, 75}},
        {"three columns, few channels", {3, 3}, {9, 8, 7}},
        {"three columns, three vectors", {3, 3}, {2, 8, 45}},
        {"stride 2", {3, 3}, {10, 11, 40}, {2, 2}},
        {"stride 2 of few channels", {3, 3}, {10, 11, 31}, {2, 2}},
        {"y dilation", {3, 3}, {9, 8, 64}, {1, 1}, {2, 1}},
        {"four rows", {4, 3}, {9, 8, 33}},
        {"x stride 2", {3, 3}, {9, 12, 64}, {1, 2}},
        {"x dilation", {3, 3}, {9, 8, 64}, {1, 1}, {2, 2}},
        {"stride as dilation", {3, 3}, {12, 13, 70}, {2, 2}, {2, 2}},
        {"5x5", {5, 5}, {9, 8, 64}},
        {"5x5, stride 2", {5, 5}, {13, 13, 19}, {2, 2}},
        {"7x7", {7, 7}, {9, 10, 35}},
        {"9x9", {9, 9}, {9, 10, 50}},
        {"1x1", {1, 1}, {3, 4, 17}},
        {"an image of one row", {1, 3}, {1, 20, 64}},
        {"a folded row", {1, 9}, {1, 30, 19}},
        {"an image of one column", {7, 1}, {30, 1, 20}},
        {"multiplier 3", {3, 3}, {6, 8, 6}, {1, 1}, {1, 1}, 3},
        {"one channel", {3, 3}, {7, 8, 1}, {1, 1}, {1, 1}, 21},
        {"one channel, stride 2", {5, 4}, {9, 12, 1}, {2, 2}, {1, 1}, 8},
    };
    unsigned int i = 0;
    for (const Case& c : cases)
    {
        for (const unsigned int aboveMin : {0U, 9U, 128U, 255U})
        {
            for (const bool hasClamp : {false, true})
            {
                ++i;
                const Quantization q = {i % 3 != 0, i % 3 == 1, aboveMin, hasClamp};
                ASSERT_NO_FATAL_FAILURE(ExpectInBothModes(c, q));
            }
        }
    }
}

// Products beyond int32 saturate, also by factors that are no finite floats.
ISA_TEST(DepthwiseInt8, FloatsBeyondInt32Saturate)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_Requantization = RequantizationMode::FloatHalfEven;
    for (const float weightScale : {1.0f, 1e9f, 1e30f})
    {
        for (const unsigned int channels : {1U, 7U, 16U, 64U})
        {
            const unsigned int multiplier = channels == 1 ? 5 : 1;
            const TensorInfo data = InfoInt8({1, 6, 7, channels}, true, std::min(weightScale, 1e20f), 2);
            const TensorInfo weights({1, 3, 3, channels * multiplier}, DataType::QSymmS8, weightScale, 0);
            // Data and weights of -1, 0 and 1 step: sums of 0 as well.
            const auto fewSteps = [](const TensorInfo& info, uint32_t seed)
            {
                std::vector<double> stored;
                for (size_t k = 0; k < info.GetNumElements(); ++k)
                {
                    stored.push_back(info.GetQuantizationOffset() + static_cast<double>((k * 7 + k / 5 + seed) % 3) -
                                     1);
                }
                return Stored(info, stored);
            };
            const OpCase op =
                ReferenceCase("scale " + std::to_string(weightScale) + ", " + std::to_string(channels) + " channels",
                              LayerType::DepthwiseConvolution2d, d, {fewSteps(data, 1), Constant(fewSteps(weights, 2))},
                              InfoInt8({1, 4, 5, channels * multiplier}, true, 0.01f, -7));
            ASSERT_NO_FATAL_FAILURE(ExpectHalfEven(
                op, d, channels == 1 ? "CpuDepthwiseConvolution2dSingleChannelInt8" : "CpuDepthwiseConvolution2dInt8"));
        }
    }
}

} // namespace tenon::test::depthwise_convolution2d_int8_half_even_test
