// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of int8 and uint8 against CpuRef: weights that exceed int8 less their zero point, windows with
// large dilations, row blocks.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tenon::test::depthwise_convolution2d_int8_test
{

namespace
{

DepthwiseConvolution2dDescriptor NhwcDepthwise()
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

OpCase Depthwise(std::string name, const DepthwiseConvolution2dDescriptor& d, const TensorShape& data,
                 const TensorShape& weights, const TensorShape& output)
{
    return ReferenceCase(std::move(name), LayerType::DepthwiseConvolution2d, d,
                         {Random(InfoInt8(data, true, 0.1f, 3), 1),
                          Constant(Random(TensorInfo(weights, DataType::QSymmS8, 0.1f, 0), 2))},
                         InfoInt8(output, true, 0.9f, -4));
}

} // namespace

ISA_TEST(DepthwiseInt8, DepthwiseWeightsOf255StepsAsReference)
{
    for (const bool isSigned : {false, true})
    {
        for (const bool isLowest : {false, true}) // lowest or highest zero point; the weights have the opposite extreme
        {
            const int32_t least = isSigned ? -128 : 0;
            const int32_t zeroPoint = isLowest ? least : least + 255;
            for (const unsigned int channels : {2U, 19U, 70U})
            {
                const TensorInfo weights = InfoInt8({1, 3, 3, channels}, isSigned, 0.01f, zeroPoint);
                std::vector<double> stored = GetStored(weights, Random(weights, channels).m_Bytes.data());
                for (size_t i = 0; i < stored.size(); i += 3)
                {
                    stored[i] = isLowest ? least + 255 : least;
                }
                ExpectAsReference(ReferenceCase("255 steps", LayerType::DepthwiseConvolution2d, NhwcDepthwise(),
                                                {Random(InfoInt8({1, 5, 5, channels}, isSigned, 0.01f, least + 40), 7),
                                                 Constant(Stored(weights, stored))},
                                                InfoInt8({1, 3, 3, channels}, isSigned, 0.08f, least + 128)),
                                  "CpuDepthwiseConvolution2dInt8");
            }
        }
    }
}

ISA_TEST(DepthwiseInt8, DepthwiseWindowsWhosePointsLieFarApart)
{
    struct Case
    {
        TensorShape m_Data;
        TensorShape m_Weights;
        uint32_t m_Stride;
        uint32_t m_Dilation;
        uint32_t m_Pad; ///< padding to the left and on top
        TensorShape m_Output;
        const char* m_Kernel = "CpuDepthwiseConvolution2dInt8";
    };
    const Case cases[] = {
        {{1, 1, 1, 2}, {1, 1, 2, 2}, 1, 1U << 28, 1U << 28, {1, 1, 1, 2}}, // the windows read the second tap only
        {{2, 3, 90, 5}, {1, 2, 3, 5}, 1, 40, 20, {2, 3, 50, 5}},
        {{1, 5, 200, 70}, {1, 2, 3, 70}, 5, 37, 9, {1, 2, 28, 70}},
        {{1, 6, 300, 4}, {1, 2, 2, 12}, 9, 20, 3, {1, 2, 31, 12}}, // channel multiplier 3
        {{1, 1, 4, 3}, {1, 1, 3, 3}, 4000000000U, 3, 2, {1, 1, 1, 3}},
        {{1, 1, 4, 2}, {1, 1, 5, 2}, 0xFFFFFFFF, 1, 0xFFFFFFFF, {1, 1, 1, 2}}, // windows in the padding alone
        {{1, 40, 40, 16}, {1, 33, 36, 16}, 1, 1, 0, {1, 40, 5, 16}},           // many taps
        {{4, 1, 1, 16}, {1, 1U << 20, 2, 16}, 1, 0xFFFFFFFF, 0xFFFFFFFF, {4, 1, 1, 16}, "RefDepthwiseConvolution2d"},
    };
    for (const Case& c : cases)
    {
        DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
        d.m_StrideX = d.m_StrideY = c.m_Stride;
        d.m_DilationX = c.m_Dilation;
        d.m_PadLeft = c.m_Pad;
        d.m_PadTop = c.m_Weights[1] - 1;
        const OpCase op = Depthwise(c.m_Data.ToString(), d, c.m_Data, c.m_Weights, c.m_Output);
        ExpectAsReference(op, c.m_Kernel);
    }
}

// Rows that neighbouring output rows share are interleaved once, in row blocks, by several threads.
ISA_TEST(DepthwiseInt8, DepthwiseOfTallImagesAsReference)
{
    for (const unsigned int kernel : {1U, 2U, 3U, 4U, 5U, 7U})
    {
        for (const unsigned int stride : {1U, 2U, 3U})
        {
            for (const unsigned int dilation : {1U, 2U})
            {
                DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
                d.m_StrideX = d.m_StrideY = stride;
                d.m_DilationX = d.m_DilationY = dilation;
                d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = kernel / 2;
                constexpr unsigned int Height = 75;
                constexpr unsigned int Width = 36;
                const auto count = [&](unsigned int size)
                { return (size + 2 * (kernel / 2) - dilation * (kernel - 1) - 1) / stride + 1; };
                OpCase op = ReferenceCase("kernel " + std::to_string(kernel) + ", stride " + std::to_string(stride) +
                                              ", dilation " + std::to_string(dilation),
                                          LayerType::DepthwiseConvolution2d, d,
                                          {Random(InfoInt8({2, Height, Width, 24}, true, 0.1f, -7), kernel),
                                           Constant(Random(InfoInt8({1, kernel, kernel, 24}, true, 0.1f, 0), stride))},
                                          InfoInt8({2, count(Height), count(Width), 24}, true, 3.0f, 5));
                ExpectAsReference(op, "CpuDepthwiseConvolution2dInt8");
            }
        }
    }
}

// Images of one column or row, of few rows so that threads take segments of them, and outputs whose windows lie in the
// padding.
ISA_TEST(DepthwiseInt8, DepthwiseOfLinesAsReference)
{
    for (const bool isColumn : {false, true})
    {
        for (const unsigned int kernel : {2U, 3U, 5U, 31U})
        {
            for (const unsigned int stride : {1U, 2U, 3U})
            {
                for (const unsigned int channels : {5U, 64U, 80U})
                {
                    for (const unsigned int length : {1U, 40U, 700U})
                    {
                        const unsigned int dilation = channels == 5 ? 3 : 1;
                        const unsigned int pad = dilation * (kernel - 1);
                        const unsigned int outputs = (length - 1) / stride + 1;
                        DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
                        (isColumn ? d.m_StrideY : d.m_StrideX) = stride;
                        (isColumn ? d.m_DilationY : d.m_DilationX) = dilation;
                        (isColumn ? d.m_PadTop : d.m_PadLeft) = pad / 3;
                        (isColumn ? d.m_PadBottom : d.m_PadRight) = pad - pad / 3;
                        const auto shape = [&](unsigned int batches, unsigned int points, unsigned int depth) {
                            return isColumn ? TensorShape({batches, points, 1, depth})
                                            : TensorShape({batches, 1, points, depth});
                        };
                        const unsigned int multiplier = kernel == 5 ? 2 : 1;
                        const unsigned int batches = length == 40 ? 2 : 1;
                        const std::string name = std::string(isColumn ? "column" : "row") + " of " +
                                                 std::to_string(length) + " by " + std::to_string(channels) +
                                                 ", kernel " + std::to_string(kernel) + ", stride " +
                                                 std::to_string(stride);
                        const TensorShape data = shape(batches, length, channels);
                        const TensorShape weights = shape(1, kernel, multiplier * channels);
                        const TensorShape output = shape(batches, outputs, multiplier * channels);
                        ExpectAsReference(Depthwise(name, d, data, weights, output), "CpuDepthwiseConvolution2dInt8");
                        // Weights that are two int8 terms less their zero point.
                        ExpectAsReference(ReferenceCase(name + ", weights of two bytes",
                                                        LayerType::DepthwiseConvolution2d, d,
                                                        {Random(InfoInt8(data, false, 0.1f, 3), 1),
                                                         Constant(Random(InfoInt8(weights, false, 0.1f, 255), 2))},
                                                        InfoInt8(output, false, 4.0f, 200)),
                                          "CpuDepthwiseConvolution2dInt8");
                    }
                }
            }
        }
    }
}

// Sliding windows of three columns and any number of rows: short runs and long ones.
ISA_TEST(DepthwiseInt8, DepthwiseWindowsOfThreeColumnsAsReference)
{
    for (const unsigned int rows : {1U, 2U, 3U, 4U, 5U})
    {
        for (const unsigned int stride : {1U, 2U})
        {
            for (const unsigned int dilation : {1U, 2U, 3U})
            {
                for (const unsigned int width : {1U, 2U, 5U, 8U, 17U})
                {
                    DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
                    d.m_StrideX = stride;
                    d.m_StrideY = 1;
                    d.m_DilationX = dilation;
                    d.m_PadLeft = d.m_PadRight = dilation;
                    d.m_PadTop = rows / 2;
                    const unsigned int height = rows + 1 - rows / 2;
                    const unsigned int channels = width % 2 == 0 ? 64 : 100;
                    const std::string name = std::to_string(rows) + " rows, stride " + std::to_string(stride) +
                                             ", dilation " + std::to_string(dilation) + ", width " +
                                             std::to_string(width);
                    const TensorShape data({2, height, width, channels});
                    const TensorShape weights({1, rows, 3, channels});
                    const TensorShape output({2, 2, (width - 1) / stride + 1, channels});
                    ExpectAsReference(Depthwise(name, d, data, weights, output), "CpuDepthwiseConvolution2dInt8");
                    // Weights that are two int8 terms less their zero point; negative sums are clamped to one value or
                    // not.
                    ExpectAsReference(
                        ReferenceCase(name + ", weights of two bytes", LayerType::DepthwiseConvolution2d, d,
                                      {Random(InfoInt8(data, false, 0.1f, 3), 1),
                                       Constant(Random(InfoInt8(weights, false, 0.1f, width % 2 == 0 ? 255 : 20), 2))},
                                      InfoInt8(output, false, 0.9f, dilation == 1 ? 0 : 100)),
                        "CpuDepthwiseConvolution2dInt8");
                }
            }
        }
    }
}

/// Compares an image of `channels` channels with 3x3 windows; the four bits of `border` are a pixel of padding on each
/// side.
void ExpectWindowsOfThree(unsigned int channels, unsigned int height, unsigned int width, unsigned int stride,
                          unsigned int border, bool isSigned)
{
    DepthwiseConvolution2dDescriptor d = NhwcDepthwise();
    d.m_StrideX = d.m_StrideY = stride;
    d.m_PadLeft = border & 1;
    d.m_PadRight = border / 2 & 1;
    d.m_PadTop = border / 4 & 1;
    d.m_PadBottom = border / 8 & 1;
    const auto count = [stride](unsigned int size, unsigned int before, unsigned int after)
    { return size + before + after < 3 ? 0 : (size + before + after - 3) / stride + 1; };
    const TensorShape data({2, height, width, channels});
    const TensorShape output(
        {2, count(height, d.m_PadTop, d.m_PadBottom), count(width, d.m_PadLeft, d.m_PadRight), channels});
    if (output.GetNumElements() == 0)
    {
        return;
    }
    // In half of the cases the clamp maps all negative sums to one value.
    const int32_t least = isSigned ? -128 : 0;
    const int32_t zeroPoint = border % 3 == 0 ? least : least + 131;
    const TensorInfo weights =
        isSigned ? InfoInt8({1, 3, 3, channels}, true, 0.1f, 0) : InfoInt8({1, 3, 3, channels}, false, 0.1f, 128);
    const std::string name = data.ToString() + ", stride " + std::to_string(stride) + ", border " +
                             std::to_string(border) + (isSigned ? ", int8" : ", uint8");
    ExpectAsReference(ReferenceCase(name, LayerType::DepthwiseConvolution2d, d,
                                    {Random(InfoInt8(data, isSigned, 0.1f, least + 120), channels),
                                     Constant(Random(weights, channels + 1))},
                                    InfoInt8(output, isSigned, 2.0f, zeroPoint)),
                      channels == 1 ? "CpuDepthwiseConvolution2dSingleChannelInt8" : "CpuDepthwiseConvolution2dInt8");
}

// Any number of channels is cut into blocks of several widths; narrow blocks compute several strips of rows at once, of
// which there may be fewer.
ISA_TEST(DepthwiseInt8, DepthwiseBlocksOfAllWidthsAsReference)
{
    for (unsigned int channels = 1; channels <= 200; ++channels)
    {
        for (const unsigned int stride : {1U, 2U})
        {
            const unsigned int i = channels * 2 + stride;
            ASSERT_NO_FATAL_FAILURE(
                ExpectWindowsOfThree(channels, 1 + i * 5 % 23, 1 + i * 7 % 20, stride, i * 11 % 16, i % 4 < 2));
        }
    }
}

ISA_TEST(DepthwiseInt8, DepthwiseOfAllSmallImagesAsReference)
{
    for (const unsigned int channels : {16U, 24U, 32U, 96U, 144U})
    {
        for (unsigned int width = 1; width <= 20; ++width)
        {
            for (unsigned int border = 0; border < 16; ++border)
            {
                const unsigned int height = 1 + (width * 3 + border) % 12;
                for (const unsigned int stride : {1U, 2U})
                {
                    ASSERT_NO_FATAL_FAILURE(
                        ExpectWindowsOfThree(channels, height, width, stride, border, width % 2 == 0));
                }
            }
        }
    }
}

// Strips in row blocks, by several threads.
ISA_TEST(DepthwiseInt8, DepthwiseOfNarrowBlocksInTallImagesAsReference)
{
    for (const unsigned int channels : {16U, 32U, 40U, 80U})
    {
        for (const unsigned int stride : {1U, 2U})
        {
            for (unsigned int height = 60; height < 76; height += 3)
            {
                ASSERT_NO_FATAL_FAILURE(ExpectWindowsOfThree(channels, height, 37, stride, height % 16, true));
            }
        }
    }
}

} // namespace tenon::test::depthwise_convolution2d_int8_test
