// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of CpuAcc for float data: by int8 weights (hybrid) bit for bit as CpuRef, by float weights
// within a tolerance, in strips and in tiles.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/elementwise/ElementwiseCases.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::depthwise_convolution2d_float_test
{

namespace
{

struct Window
{
    unsigned int m_Kernel, m_Stride, m_Dilation, m_Pad;
};

unsigned int OutputSize(unsigned int input, const Window& window)
{
    return (input + 2 * window.m_Pad - (window.m_Kernel - 1) * window.m_Dilation - 1) / window.m_Stride + 1;
}

TestTensor MakeWeights(unsigned int kernel, unsigned int channels, bool isPerChannel)
{
    TensorInfo info({1, kernel, kernel, channels}, DataType::QSymmS8, 0.02f, 0);
    if (isPerChannel)
    {
        std::vector<float> scales;
        for (unsigned int c = 0; c < channels; ++c)
        {
            scales.push_back(0.01f + 0.003f * static_cast<float>(c % 7));
        }
        info = TensorInfo(info.GetShape(), DataType::QSymmS8, scales, 3);
    }
    return Constant(Random(info, channels));
}

/// 3x3 windows in images of all small sizes, with padding of 0 or 1 on each side, so that there are strips with and
/// without cut windows and rows of zeros; larger padding leaves some to tiles. The last channels fill no vector.
OpCase MakeWindowsOfThree(unsigned int i, DataType type, bool isHybrid)
{
    static const ActivationDescriptor relu6(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    DepthwiseConvolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = 1 + i % 2;
    d.m_PadLeft = i / 2 % 2;
    d.m_PadRight = i / 4 % 2 + (i % 31 == 5 ? 1 : 0);
    d.m_PadTop = i / 8 % 2;
    d.m_PadBottom = i / 16 % 2 + (i % 37 == 6 ? 1 : 0);
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = i % 3 != 0;
    const unsigned int height = i % 41 == 7 ? 39 : 3 + i / 32 % 8;
    const unsigned int width = 3 + (i / 32 * 3 + i) % 9;
    const unsigned int channels = i % 5 == 1 ? 256 : 1 + i * 7 % 70;
    const TensorInfo weights({1, 3, 3, channels}, type);
    std::vector<TestTensor> inputs = {Random(TensorInfo({2, height, width, channels}, type), i, -3, 5),
                                      isHybrid ? MakeWeights(3, channels, i % 4 != 0)
                                               : Constant(Random(weights, i + 1, -1, 1))};
    if (d.m_BiasEnabled)
    {
        inputs.push_back(Constant(Random(TensorInfo({channels}, type), 9, -1, 1)));
    }
    const unsigned int rows = (height + d.m_PadTop + d.m_PadBottom - 3) / d.m_StrideY + 1;
    const unsigned int columns = (width + d.m_PadLeft + d.m_PadRight - 3) / d.m_StrideX + 1;
    OpCase op = ReferenceCase("case " + std::to_string(i), LayerType::DepthwiseConvolution2d, d, std::move(inputs),
                              TensorInfo({2, rows, columns, channels}, type));
    op.m_FusedActivation = i % 7 < 3 ? &relu6 : nullptr;
    return op;
}

} // namespace

ISA_TEST(DepthwiseHybrid, AsReference)
{
    const Window windows[] = {{3, 1, 1, 1}, {3, 2, 1, 1}, {5, 1, 1, 2}, {2, 1, 3, 0}, {1, 1, 1, 0}};
    const ActivationDescriptor relu6(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    for (const Window& window : windows)
    {
        for (const unsigned int channels : {1U, 6U, 16U, 40U})
        {
            for (const unsigned int multiplier : {1U, 2U})
            {
                DepthwiseConvolution2dDescriptor d;
                d.m_StrideX = d.m_StrideY = window.m_Stride;
                d.m_DilationX = d.m_DilationY = window.m_Dilation;
                d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = window.m_Pad;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_BiasEnabled = channels != 6;
                const unsigned int size = OutputSize(9, window);
                std::vector<TestTensor> inputs = {
                    Random(TensorInfo({2, 9, 9, channels}, DataType::Float32), channels, -3, 5),
                    MakeWeights(window.m_Kernel, channels * multiplier, multiplier == 1)};
                if (d.m_BiasEnabled)
                {
                    inputs.push_back(
                        Constant(Random(TensorInfo({channels * multiplier}, DataType::Float32), 9, -1, 1)));
                }
                OpCase op = ReferenceCase("hybrid depthwise", LayerType::DepthwiseConvolution2d, d, std::move(inputs),
                                          TensorInfo({2, size, size, channels * multiplier}, DataType::Float32));
                ExpectAsReference(op, "CpuDepthwiseConvolution2dHybrid");
                op.m_FusedActivation = &relu6;
                ExpectAsReference(op, "CpuDepthwiseConvolution2dHybrid");
            }
        }
    }
}

ISA_TEST(DepthwiseFloat, WindowsOfThreeAsReference)
{
    for (unsigned int i = 0; i < 256; ++i)
    {
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(MakeWindowsOfThree(i, DataType::Float32, false), "CpuDepthwiseConvolution2dF32", 1e-6));
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(MakeWindowsOfThree(i, DataType::BFloat16, false), "CpuDepthwiseConvolution2dBf16", 1e-2));
    }
}

ISA_TEST(DepthwiseHybrid, WindowsOfThreeAsReference)
{
    for (unsigned int i = 0; i < 256; ++i)
    {
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(MakeWindowsOfThree(i, DataType::Float32, true), "CpuDepthwiseConvolution2dHybrid"));
    }
}

// Images without a range, with scales too small for a finite inverse, and with NaN. The second image of each is an
// ordinary one.
ISA_TEST(DepthwiseHybrid, UnusualImages)
{
    for (unsigned int i = 0; i < 32; ++i) // all combinations of padding on the sides
    {
        const OpCase ordinary = MakeWindowsOfThree(i, DataType::Float32, true);
        const size_t count = ordinary.m_Inputs[0].m_Info.GetNumElements() / 2;
        const auto change = [&](const auto& body)
        {
            OpCase op = ordinary;
            std::vector<float> image(count);
            std::memcpy(image.data(), op.m_Inputs[0].m_Bytes.data(), count * sizeof(float));
            body(image);
            std::memcpy(op.m_Inputs[0].m_Bytes.data(), image.data(), count * sizeof(float));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuDepthwiseConvolution2dHybrid"));
        };
        change([](std::vector<float>& image) { std::fill(image.begin(), image.end(), -0.0f); });
        if (!FlushesSubnormals())
        {
            change([](std::vector<float>& image)
                   { std::for_each(image.begin(), image.end(), [](float& x) { x *= 1e-39f; }); });
        }
        change([](std::vector<float>& image) { image[image.size() / 2] = std::numeric_limits<float>::quiet_NaN(); });
    }
}

// Rows of which only a few fit the memory for quantized copies, and pixels whose output aliases in a cache.
ISA_TEST(DepthwiseHybrid, WideImagesAndPixels)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
    d.m_DataLayout = DataLayout::NHWC;
    for (const auto& [width, channels] : {std::pair{300U, 40U}, {2001U, 40U}, {37U, 256U}, {5U, 1024U}})
    {
        const TensorInfo image({1, 13, width, channels}, DataType::Float32);
        ExpectAsReference(ReferenceCase("wide", LayerType::DepthwiseConvolution2d, d,
                                        {Random(image, width, -3, 5), MakeWeights(3, channels, true)}, image),
                          "CpuDepthwiseConvolution2dHybrid");
    }
}

} // namespace tenon::test::depthwise_convolution2d_float_test
