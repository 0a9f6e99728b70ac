// SPDX-License-Identifier: Apache-2.0
// Convolutions of CpuAcc at the borders of images, compared with CpuRef: tiles skip the taps that all of their windows
// miss, and border rows and columns are runs of their own. Also depthwise convolutions of images that are one pixel
// high or wide. On one and three threads; each tensor ends at a guard page.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace tenon::test::pixel_order_borders_test
{

namespace
{

struct Sizes
{
    unsigned int m_Height = 7;
    unsigned int m_Width = 7;
    unsigned int m_Inputs = 96;
    unsigned int m_Outputs = 40;
    unsigned int m_KernelY = 3;
    unsigned int m_KernelX = 3;
    unsigned int m_Stride = 1;
    unsigned int m_Dilation = 1;
    unsigned int m_Top = 1;
    unsigned int m_Bottom = 1;
    unsigned int m_Left = 1;
    unsigned int m_Right = 1;
    unsigned int m_Groups = 1;
};

const Sizes Cases[] = {
    {},
    {.m_Height = 14, .m_Width = 14},
    {.m_Height = 13, .m_Width = 28, .m_Inputs = 32, .m_Outputs = 100},
    {.m_Height = 5, .m_Width = 40, .m_Inputs = 64, .m_Outputs = 20},
    {.m_Height = 40, .m_Width = 5, .m_Inputs = 64, .m_Outputs = 20},
    {.m_Height = 9, .m_Width = 100, .m_Inputs = 40, .m_Outputs = 24},
    // Too few rows or columns for runs of their own.
    {.m_Height = 3, .m_Width = 20},
    {.m_Height = 20, .m_Width = 3},
    {.m_Height = 4, .m_Width = 4},
    {.m_Height = 1, .m_Width = 1},
    {.m_Height = 6, .m_Width = 5, .m_KernelY = 5, .m_KernelX = 5, .m_Top = 2, .m_Bottom = 2, .m_Left = 2, .m_Right = 2},
    // Slices of the depth, one of which may be skipped entirely.
    {.m_Inputs = 700, .m_Outputs = 70},
    {.m_Inputs = 2100, .m_Outputs = 66},
    // Padding on one side alone, as with stride two.
    {.m_Height = 14, .m_Width = 14, .m_Stride = 2, .m_Top = 0, .m_Left = 0},
    {.m_Height = 9, .m_Width = 9, .m_Bottom = 0, .m_Right = 0},
    // More padding than windows reach.
    {.m_Height = 8, .m_Width = 8, .m_Top = 4, .m_Bottom = 3, .m_Left = 5, .m_Right = 4},
    {.m_Height = 5, .m_Width = 5, .m_Dilation = 4, .m_Top = 4, .m_Bottom = 4, .m_Left = 4, .m_Right = 4},
    {.m_Height = 17,
     .m_Width = 15,
     .m_Inputs = 33,
     .m_Dilation = 6,
     .m_Top = 6,
     .m_Bottom = 6,
     .m_Left = 6,
     .m_Right = 6},
    {.m_Height = 15,
     .m_Width = 33,
     .m_Inputs = 120,
     .m_Dilation = 2,
     .m_Top = 2,
     .m_Bottom = 2,
     .m_Left = 2,
     .m_Right = 2,
     .m_Groups = 2},
    {.m_Height = 12, .m_Width = 12, .m_Inputs = 96, .m_Outputs = 48, .m_Groups = 6},
    {.m_Height = 9,
     .m_Width = 1,
     .m_Inputs = 64,
     .m_Outputs = 64,
     .m_KernelX = 1,
     .m_Left = 0,
     .m_Right = 0,
     .m_Groups = 16},
};

void ExpectAsReference(DataType type, const Sizes& s, const ActivationDescriptor* activation, bool isF16 = false)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = s.m_Stride;
    d.m_DilationX = d.m_DilationY = s.m_Dilation;
    d.m_PadLeft = s.m_Left;
    d.m_PadRight = s.m_Right;
    d.m_PadTop = s.m_Top;
    d.m_PadBottom = s.m_Bottom;
    d.m_BiasEnabled = true;
    const unsigned int rows =
        (s.m_Height + s.m_Top + s.m_Bottom - (s.m_KernelY - 1) * s.m_Dilation - 1) / s.m_Stride + 1;
    const unsigned int columns =
        (s.m_Width + s.m_Left + s.m_Right - (s.m_KernelX - 1) * s.m_Dilation - 1) / s.m_Stride + 1;
    const bool isShort = type == DataType::QSymmS16;
    const float scale = isShort ? 1.0f / 8192 : 0.0f;
    const TensorInfo input(TensorShape({2, s.m_Height, s.m_Width, s.m_Inputs}), type, scale, 0);
    const TensorInfo weights(TensorShape({s.m_Outputs, s.m_KernelY, s.m_KernelX, s.m_Inputs / s.m_Groups}),
                             isShort ? DataType::QSymmS8
                             : isF16 ? DataType::Float16
                                     : type,
                             isShort ? 1.0f / 64 : 0.0f, 0, true);
    const TensorInfo bias(TensorShape({s.m_Outputs}), isShort ? DataType::Signed64 : type, scale / 64, 0, true);
    const float depth = static_cast<float>(weights.GetNumElements() / s.m_Outputs);
    const TensorInfo output(TensorShape({2, rows, columns, s.m_Outputs}), type, scale * 2 * std::sqrt(depth), 0);
    const bool isBf16 = type == DataType::BFloat16;
    const bool hasDots = cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsBf16().m_HasDots;
    OpCase op = ReferenceCase(
        input.ToString() + " by " + weights.ToString(), LayerType::Convolution2d, d,
        {Random(input, 1, -2, 2), Constant(Random(weights, 2, -2, 2)), Constant(Random(bias, 3, -2, 2))}, output);
    op.m_FusedActivation = activation;
    const bool isQuads = s.m_Groups > 1 && s.m_Inputs == 4 * s.m_Groups && s.m_Outputs == s.m_Inputs;
    const std::string kernel = isQuads ? "CpuConvolution2dGroups" : "CpuConvolution2d";
    const char* const ofBf16 = hasDots && s.m_Groups == 1 ? "Bf16" : "F16";
    test::ExpectAsReference(op,
                            kernel + (isShort  ? "Int16"
                                      : isBf16 ? ofBf16
                                               : "F32"),
                            isShort  ? 0
                            : isBf16 ? 1.0 / 128
                                     : 4e-6);
}

} // namespace

ISA_TEST(PixelOrderBorders, AsReference)
{
    const ActivationDescriptor relu(ActivationFunction::ReLu);
    for (const DataType type : {DataType::Float32, DataType::BFloat16, DataType::QSymmS16})
    {
        for (const Sizes& sizes : Cases)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(type, sizes, nullptr));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(type, sizes, &relu));
        }
    }
}

// With few outputs, float kernels compute dot products along the contiguous parts of a window: taps, rows of taps, or
// im2col rows.
ISA_TEST(PixelOrderBorders, FewOutputsAsReference)
{
    const ActivationDescriptor bounded(ActivationFunction::BoundedReLu, 30.0f, -20.0f);
    const Sizes cases[] = {
        {.m_Height = 13, .m_Width = 21, .m_Inputs = 16},
        {.m_Height = 9, .m_Width = 14, .m_Inputs = 130},
        {.m_Height = 7, .m_Width = 9, .m_Inputs = 13, .m_Stride = 2},
        {.m_Height = 10, .m_Width = 11, .m_Inputs = 3, .m_KernelY = 5, .m_KernelX = 5, .m_Bottom = 3, .m_Right = 3},
        {.m_Height = 12, .m_Width = 10, .m_Inputs = 5, .m_Dilation = 3, .m_Top = 3, .m_Left = 3},
        {.m_Height = 9, .m_Width = 12, .m_Inputs = 37, .m_Dilation = 2},
        {.m_Height = 2, .m_Width = 1, .m_Inputs = 21}, // few rows too: 16-bit weights stay unpacked
        {.m_Height = 31, .m_Width = 1, .m_Inputs = 40, .m_KernelX = 1, .m_Left = 0, .m_Right = 0},
        {.m_Height = 6,
         .m_Width = 7,
         .m_Inputs = 90,
         .m_KernelY = 1,
         .m_KernelX = 1,
         .m_Stride = 2,
         .m_Top = 0,
         .m_Bottom = 0,
         .m_Left = 0,
         .m_Right = 0},
    };
    for (Sizes sizes : cases)
    {
        for (sizes.m_Outputs = 1; sizes.m_Outputs <= 9; ++sizes.m_Outputs)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(DataType::Float32, sizes, nullptr, true));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(DataType::Float32, sizes, nullptr));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(DataType::Float32, sizes, &bounded));
        }
    }
}

ISA_TEST(PixelOrderBorders, WeightsOfFewOutputsStay)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const size_t lanes = cpu::GetMicrokernelsF32().m_Lanes;
    const size_t most = lanes == 8 ? 6 : lanes / 2;
    const std::vector<float> values((most + 1) * 6 * lanes);
    for (size_t outputs = 1; outputs <= most + 1; ++outputs)
    {
        for (const size_t depth : {4 * lanes - 1, 4 * lanes, 6 * lanes})
        {
            for (const size_t groups : {size_t{1}, outputs})
            {
                backends::FillingStore store;
                const cpu::WeightSizes sizes{groups, outputs, depth, depth / 3};
                const bool isFew = outputs <= most && depth >= 4 * lanes && groups == 1;
                EXPECT_EQ(cpu::HasFewColumns(sizes), isFew) << outputs << " of " << depth;
                EXPECT_EQ(
                    cpu::PackMatrix(cpu::FloatWeights(values.data()), sizes, cpu::WeightOrder::Columns, 1000, store)
                        ->RefersToConstants(),
                    isFew);
            }
        }
    }
}

ISA_TEST(PixelOrderBorders, DepthwiseSequencesAsReference)
{
    for (const DataType type : {DataType::Float32, DataType::BFloat16})
    {
        const char* const kernel =
            type == DataType::Float32 ? "CpuDepthwiseConvolution2dF32" : "CpuDepthwiseConvolution2dBf16";
        for (unsigned int i = 0; i < 64; ++i)
        {
            const bool isColumn = i % 2 == 0;
            const unsigned int steps = 1 + i * 11 % 97;
            const unsigned int taps = 2 + i % 32;
            const unsigned int channels = 1 + i * 13 % 50;
            const unsigned int stride = 1 + i / 8 % 2;
            const unsigned int dilation = 1 + i / 16 % 2;
            const unsigned int before = (taps - 1) * dilation / 2 + (i % 5 == 0 ? 2 : 0);
            const unsigned int after = (taps - 1) * dilation - (taps - 1) * dilation / 2;
            DepthwiseConvolution2dDescriptor d;
            d.m_DataLayout = DataLayout::NHWC;
            d.m_StrideX = isColumn ? 1 : stride;
            d.m_StrideY = isColumn ? stride : 1;
            d.m_DilationX = isColumn ? 1 : dilation;
            d.m_DilationY = isColumn ? dilation : 1;
            (isColumn ? d.m_PadTop : d.m_PadLeft) = before;
            (isColumn ? d.m_PadBottom : d.m_PadRight) = after;
            d.m_BiasEnabled = true;
            const auto image = [&](unsigned int count, unsigned int length) {
                return TensorShape({count, isColumn ? length : 1, isColumn ? 1 : length, channels});
            };
            const unsigned int outputs = (steps + before + after - (taps - 1) * dilation - 1) / stride + 1;
            const unsigned int images = 1 + i % 3;
            const OpCase op = ReferenceCase("case " + std::to_string(i), LayerType::DepthwiseConvolution2d, d,
                                            {Random(TensorInfo(image(images, steps), type), i, -3, 5),
                                             Constant(Random(TensorInfo(image(1, taps), type), i + 1, -1, 1)),
                                             Constant(Random(TensorInfo({channels}, type), 9, -1, 1))},
                                            TensorInfo(image(images, outputs), type));
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, kernel, type == DataType::Float32 ? 2e-6 : 1e-2));
        }
    }
}

} // namespace tenon::test::pixel_order_borders_test
