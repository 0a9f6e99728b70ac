// SPDX-License-Identifier: Apache-2.0
// Convolutions of int8 in both modes of requantization, and of floats beside int8, whose tiles may read windows where
// they lie in a padded image: tiles of all widths and heights, runs that are whole groups and that are padded, groups
// of channels, blocks, and what such tiles are not made for. See PatchRunsInt8Test.cpp for which are.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test::implicit_gemm_int8_test
{

namespace
{

struct Case
{
    TensorShape m_Data;
    unsigned int m_Outputs;
    unsigned int m_Height = 3;
    unsigned int m_Width = 3;
    unsigned int m_Groups = 1;
    uint32_t m_Stride = 1;
    uint32_t m_Dilation = 1;
    uint32_t m_Pad = 1; ///< above and to the left
    float m_OutputScale = 9.0f;
    uint32_t m_PadRight = 3;
    bool m_IsMostlyPadding = false; ///< then the reference kernel may run
};

/// Float data of which each image has a range of its own, and with it a zero point.
TestTensor MakeImages(const TensorShape& shape, uint32_t seed)
{
    TestTensor data = Random(TensorInfo(shape, DataType::Float32), seed, -1, 1);
    auto* const values = reinterpret_cast<float*>(data.m_Bytes.data());
    const size_t count = data.m_Bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i)
    {
        const auto image = static_cast<float>(i * shape[0] / count);
        values[i] = values[i] * (1 + image) + 0.4f * image - 0.3f;
    }
    return data;
}

/// int8 with a scale for each output.
TestTensor MakeHybridWeights(const TensorShape& shape, unsigned int dimension, uint32_t seed)
{
    TensorInfo info(shape, DataType::QSymmS8);
    info.SetQuantizationDim(dimension);
    std::vector<float> scales;
    for (unsigned int i = 0; i < shape[dimension]; ++i)
    {
        scales.push_back(0.1f + 0.01f * static_cast<float>(i % 7));
    }
    info.SetQuantizationScales(scales);
    return Constant({info, Random(InfoInt8(shape, true, 0.1f, 0), seed).m_Bytes});
}

void ExpectFastAsReference(const OpCase& op, bool mayBeReference)
{
    ExpectAsReference(op, "");
    std::string kernel;
    RunOp(FindTestBackend(Compute::CpuAcc), op, {}, &kernel);
    if (cpu::GetCpuFeatures().m_Simd && !mayBeReference)
    {
        EXPECT_EQ(kernel.find("Ref"), std::string::npos) << kernel;
    }
}

void ExpectImplicitGemmAsReference(const Case& c, const ActivationDescriptor* activation = nullptr)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = true;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_PadTop = d.m_PadLeft = c.m_Pad;
    d.m_PadRight = c.m_PadRight;
    const auto count = [&](unsigned int size, unsigned int kernel)
    { return (size - c.m_Dilation * (kernel - 1) - 1) / c.m_Stride + 1; };
    const TensorShape output({c.m_Data[0], count(c.m_Data[1] + d.m_PadTop, c.m_Height),
                              count(c.m_Data[2] + d.m_PadLeft + d.m_PadRight, c.m_Width), c.m_Outputs});
    const TensorShape weights({c.m_Outputs, c.m_Height, c.m_Width, c.m_Data[3] / c.m_Groups});
    TensorInfo biasInfo(TensorShape({c.m_Outputs}), DataType::Signed32, 0.01f, 0);
    const std::string name = c.m_Data.ToString() + " in " + std::to_string(c.m_Groups) + " groups by " +
                             weights.ToString() + ", stride " + std::to_string(c.m_Stride) + ", dilation " +
                             std::to_string(c.m_Dilation);
    for (const RequantizationMode mode : {RequantizationMode::FixedPoint, RequantizationMode::FloatHalfEven})
    {
        d.m_Requantization = mode;
        OpCase op = ReferenceCase(name, LayerType::Convolution2d, d,
                                  {Random(InfoInt8(c.m_Data, true, 0.1f, -7), c.m_Outputs),
                                   Constant(Random(InfoInt8(weights, true, 0.1f, 0), c.m_Height)),
                                   Constant(Random(biasInfo, 5, -3, 3))},
                                  InfoInt8(output, true, c.m_OutputScale, 5));
        op.m_FusedActivation = activation;
        ExpectFastAsReference(op, c.m_IsMostlyPadding);
    }

    const TensorInfo floatBias(TensorShape({c.m_Outputs}), DataType::Float32);
    OpCase floats = ReferenceCase(name + ", floats", LayerType::Convolution2d, d,
                                  {MakeImages(c.m_Data, c.m_Outputs), MakeHybridWeights(weights, 0, c.m_Height),
                                   Constant(Random(floatBias, 5, -3, 3))},
                                  TensorInfo(output, DataType::Float32));
    floats.m_FusedActivation = activation;
    ExpectFastAsReference(floats, c.m_IsMostlyPadding);
}

} // namespace

ISA_TEST(ImplicitGemmInt8, TilesOfAllWidthsAsReference)
{
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    for (const unsigned int outputs : {1U, 5U, 8U, 9U, 16U, 17U, 24U, 32U, 37U, 40U, 48U, 53U, 64U, 72U, 90U})
    {
        for (const unsigned int channels : {2U, 4U, 13U, 32U})
        {
            // 7, 21, 63 and 90 pixels of each image.
            for (const auto& [height, width] : {std::pair{1U, 6U}, {3U, 6U}, {7U, 8U}, {9U, 9U}})
            {
                ExpectImplicitGemmAsReference({{2, height + 1, width, channels}, outputs},
                                              outputs % 2 == 0 ? &relu : nullptr);
            }
        }
    }
}

// All numbers of rows that the last tile can have.
ISA_TEST(ImplicitGemmInt8, TilesOfAllHeightsAsReference)
{
    for (unsigned int width = 1; width <= 26; ++width)
    {
        for (const unsigned int outputs : {6U, 16U, 31U, 48U, 64U})
        {
            ExpectImplicitGemmAsReference({{1, 3, width + 2, 8}, outputs, 3, 3, 1, 1, 1, 0});
            ExpectImplicitGemmAsReference(
                {{1, 3, width + 2, 400}, outputs, 3, 3, 1, 1, 1, 0}); // panels past the nearest cache
        }
    }
}

ISA_TEST(ImplicitGemmInt8, WindowsOfAllKindsAsReference)
{
    for (const unsigned int channels : {1U, 3U, 4U, 7U, 8U, 30U})
    {
        for (const unsigned int kernel : {2U, 3U, 4U, 5U})
        {
            for (const uint32_t stride : {1U, 2U})
            {
                for (const uint32_t dilation : {1U, 2U})
                {
                    ExpectImplicitGemmAsReference(
                        {{2, 13, 10, channels}, 19, kernel, 3, 1, stride, dilation, kernel - 1});
                    ExpectImplicitGemmAsReference({{1, 13, 10, channels}, 6, 3, kernel, 1, stride, dilation, 0});
                }
            }
        }
    }
}

ISA_TEST(ImplicitGemmInt8, GroupsAsReference)
{
    for (const unsigned int channels : {1U, 2U, 3U, 5U, 8U, 12U})
    {
        for (const unsigned int outputs : {1U, 3U, 5U, 8U, 12U, 20U})
        {
            for (const unsigned int groups : {2U, 3U, 8U})
            {
                ExpectImplicitGemmAsReference({{2, 7, 9, channels * groups}, outputs * groups, 3, 2, groups});
            }
        }
    }
}

ISA_TEST(ImplicitGemmInt8, ImagesOfOneColumnAsReference)
{
    for (const unsigned int channels : {1U, 3U, 8U})
    {
        for (const unsigned int outputs : {3U, 6U, 20U})
        {
            Case c = {{2, 50, 1, channels}, outputs, 7, 1, 1, 2};
            c.m_Pad = 0;
            c.m_PadRight = 0;
            ExpectImplicitGemmAsReference(c);
        }
    }
}

// An image is larger than the blocks that it is made in; rows of one are longer than a block has pixels.
ISA_TEST(ImplicitGemmInt8, BlocksAsReference)
{
    ExpectImplicitGemmAsReference({{2, 40, 37, 64}, 24});
    ExpectImplicitGemmAsReference({{1, 40, 37, 30}, 24, 3, 3, 1, 2});
    ExpectImplicitGemmAsReference({{1, 3, 1500, 20}, 8});
    ExpectImplicitGemmAsReference({{2, 4, 1030, 30}, 8, 3, 3, 1, 1, 2});
    ExpectImplicitGemmAsReference({{1, 2, 700, 15}, 20, 2, 5, 1, 1, 3, 5});
    ExpectImplicitGemmAsReference({{1, 9, 600, 64}, 16, 3, 3, 1, 1, 4, 4});
    ExpectImplicitGemmAsReference({{1, 9, 70, 600}, 16, 3, 3, 2, 1, 1, 0});
    ExpectImplicitGemmAsReference({{1, 5, 300, 110}, 40, 5, 5, 1, 2, 1, 2});
    ExpectImplicitGemmAsReference({{1, 20, 20, 512}, 5, 5, 5});
}

// Scales that shift sums to the left, or not at all.
ISA_TEST(ImplicitGemmInt8, LargeScalesAsReference)
{
    for (const float scale : {0.015f, 0.019f, 0.021f, 0.04f})
    {
        ExpectImplicitGemmAsReference({{1, 6, 7, 8}, 19, 3, 3, 1, 1, 1, 1, scale});
        ExpectImplicitGemmAsReference({{1, 6, 7, 5}, 19, 3, 3, 1, 1, 1, 1, scale});
    }
}

// No memory is taken for such an image: the reference kernel does not need it.
ISA_TEST(ImplicitGemmInt8, ImagesOfMostlyPadding)
{
    Case c = {{1, 2, 2, 5}, 6};
    c.m_Dilation = 4000;
    c.m_Pad = c.m_PadRight = 8000;
    c.m_IsMostlyPadding = true;
    ExpectImplicitGemmAsReference(c);
}

// 64 outputs of 128 channels: tiles that skip points would be taken if rows of the output had no gaps.
ISA_TEST(ImplicitGemmInt8, TransposedConvolutionsAsReference)
{
    for (const unsigned int outputs : {3U, 8U, 20U, 64U})
    {
        for (const unsigned int channels : {4U, 6U, 16U, 128U})
        {
            for (const uint32_t stride : {1U, 2U})
            {
                TransposeConvolution2dDescriptor d;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_StrideX = d.m_StrideY = stride;
                const TensorShape data({2, 6, 9, channels});
                const TensorShape output({2, 5 * stride + 4, 8 * stride + 4, outputs});
                const TensorShape weights({outputs, 4, 4, channels});
                const std::string name = std::to_string(outputs) + " of " + std::to_string(channels) +
                                         " channels, stride " + std::to_string(stride);
                ExpectAsReference(ReferenceCase(name, LayerType::TransposeConvolution2d, d,
                                                {Random(InfoInt8(data, true, 0.1f, -7), outputs),
                                                 Constant(Random(InfoInt8(weights, true, 0.1f, 0), channels))},
                                                InfoInt8(output, true, 9.0f, 5)),
                                  "CpuTransposeConvolution2dInt8");
                ExpectAsReference(ReferenceCase(name + ", floats", LayerType::TransposeConvolution2d, d,
                                                {MakeImages(data, outputs), MakeHybridWeights(weights, 0, channels)},
                                                TensorInfo(output, DataType::Float32)),
                                  "CpuTransposeConvolution2dHybrid");
            }
        }
    }
}

} // namespace tenon::test::implicit_gemm_int8_test
