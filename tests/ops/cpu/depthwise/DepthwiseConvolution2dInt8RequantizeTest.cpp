// SPDX-License-Identifier: Apache-2.0
// Requantization of int8 depthwise convolutions against CpuRef: very different scales in one block of channels, the
// largest biases that these allow, clamps, extreme zero points; and windows with a vertical dilation only.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::depthwise_convolution2d_int8_requantize_test
{

namespace
{

/// Parameters of a case.
struct ScaleCase
{
    unsigned int m_Channels = 16;
    unsigned int m_Stride = 1;
    unsigned int m_DilationY = 1;
    bool m_IsSigned = true;
    bool m_HasLargeScale = false;  ///< a scale that shifts sums to the left
    unsigned int m_AboveLeast = 0; ///< zero point of the output, above the smallest value
    bool m_HasClamp = false;

    std::string GetName() const
    {
        return std::to_string(m_Channels) + " channels, stride " + std::to_string(m_Stride) + ", dilation " +
               std::to_string(m_DilationY) + (m_IsSigned ? ", int8" : ", uint8") +
               (m_HasLargeScale ? ", with a large scale" : "") + ", zero point " + std::to_string(m_AboveLeast) +
               (m_HasClamp ? ", clamped" : "");
    }
};

/// Weights whose scales map a sum of 1 to 2^-21 to 2^-1 output steps; int8 has a scale for each channel.
TensorInfo MakeWeights(const ScaleCase& c, float dataScale, float outputScale)
{
    const auto makeScale = [&](int shift) { return std::ldexp(0.71f, shift) * outputScale / dataScale; };
    const TensorShape shape({1, 3, 3, c.m_Channels});
    if (!c.m_IsSigned)
    {
        return InfoInt8(shape, false, makeScale(c.m_HasLargeScale ? 1 : -2 - static_cast<int>(c.m_AboveLeast % 20)),
                        119);
    }
    std::vector<float> scales;
    for (unsigned int i = 0; i < c.m_Channels; ++i)
    {
        const bool isLarge = c.m_HasLargeScale && i == c.m_Channels / 2;
        scales.push_back(makeScale(isLarge ? 1 : -1 - static_cast<int>(i * 7 % 20)));
    }
    TensorInfo weights(shape, DataType::QSymmS8);
    weights.SetQuantizationScales(scales);
    weights.SetQuantizationDim(3U);
    return weights;
}

/// A bias of up to 200 output steps.
TestTensor MakeBias(const TensorInfo& weights, float dataScale, float outputScale)
{
    std::minstd_rand random(7);
    std::uniform_real_distribution<double> steps(-200, 200);
    std::vector<double> stored;
    const std::vector<float> scales = weights.GetQuantizationScales();
    for (unsigned int c = 0; c < weights.GetShape()[3]; ++c)
    {
        const float scale = scales[scales.size() == 1 ? 0 : c];
        stored.push_back(std::round(steps(random) * static_cast<double>(outputScale) /
                                    (static_cast<double>(dataScale) * static_cast<double>(scale))));
    }
    return Stored(TensorInfo(TensorShape({weights.GetShape()[3]}), DataType::Signed32), stored);
}

void ExpectScaled(const ScaleCase& c)
{
    constexpr unsigned int Height = 9;
    constexpr unsigned int Width = 11;
    constexpr float DataScale = 0.05f;
    constexpr float OutputScale = 0.0625f;
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = true;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_DilationY = c.m_DilationY;
    d.m_PadLeft = d.m_PadRight = 1;
    const auto count = [&](unsigned int size, unsigned int pad, unsigned int dilation)
    { return (size + pad - 2 * dilation - 1) / c.m_Stride + 1; };
    const int32_t least = c.m_IsSigned ? -128 : 0;
    const int32_t zeroPoint = least + static_cast<int32_t>(c.m_AboveLeast);
    const TensorInfo weights = MakeWeights(c, DataScale, OutputScale);
    const TensorInfo output = InfoInt8({2, count(Height, 0, c.m_DilationY), count(Width, 2, 1), c.m_Channels},
                                       c.m_IsSigned, OutputScale, zeroPoint);
    OpCase op = ReferenceCase(
        c.GetName(), LayerType::DepthwiseConvolution2d, d,
        {Random(InfoInt8({2, Height, Width, c.m_Channels}, c.m_IsSigned, DataScale, least + 100), c.m_Channels),
         Constant(Random(weights, 3)), Constant(MakeBias(weights, DataScale, OutputScale))},
        output);
    const ActivationDescriptor relu(ActivationFunction::BoundedReLu, 3.0f, c.m_AboveLeast == 0 ? 0.0f : -0.5f);
    op.m_FusedActivation = c.m_HasClamp ? &relu : nullptr;
    ExpectAsReference(op, "CpuDepthwiseConvolution2dInt8");
}

} // namespace

ISA_TEST(DepthwiseInt8, DepthwiseScalesAndClampsAsReference)
{
    unsigned int i = 0;
    for (const unsigned int channels : {7U, 16U, 19U, 40U, 64U, 72U})
    {
        for (const unsigned int aboveLeast : {0U, 1U, 9U, 131U, 255U})
        {
            for (const bool hasClamp : {false, true})
            {
                for (const unsigned int stride : {1U, 2U})
                {
                    ++i;
                    const ScaleCase c = {channels,   stride,  i % 5 < 2 ? 2U : 1U, i % 3 != 0, i % 7 == 0,
                                         aboveLeast, hasClamp};
                    ASSERT_NO_FATAL_FAILURE(ExpectScaled(c));
                }
            }
        }
    }
}

} // namespace tenon::test::depthwise_convolution2d_int8_requantize_test
