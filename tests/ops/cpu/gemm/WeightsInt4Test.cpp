// SPDX-License-Identifier: Apache-2.0
// Layers of weights of four bits on CpuAcc, two of which share a byte: of int8 data, and depthwise ones of floats, the
// numbers of CpuRef. Groups and transposed convolutions are in Convolution2dGroupsTest and
// TransposeConvolution2dPhasesTest, for all types.
#include "ops/cpu/conv/WeightedSumKinds.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/winograd/WinogradSupport.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::weights_int4_test
{

namespace
{

enum class Steps
{
    OneScale,
    Scales, ///< one for each output channel
    ZeroPoint
};

constexpr Steps AllSteps[] = {Steps::OneScale, Steps::Scales, Steps::ZeroPoint};

/// `axis`: of the output channels.
TensorInfo InfoInt4(const TensorShape& shape, Steps steps, unsigned int axis)
{
    if (steps != Steps::Scales)
    {
        return TensorInfo(shape, DataType::QSymmS4, 0.1f, steps == Steps::ZeroPoint ? 5 : 0);
    }
    std::vector<float> scales;
    for (unsigned int c = 0; c < shape[axis]; ++c)
    {
        scales.push_back(0.06f + 0.02f * static_cast<float>(c % 5));
    }
    return TensorInfo(shape, DataType::QSymmS4, scales, axis);
}

/// What most sums of so many products of int8 by four bits are within.
TensorInfo SumsInfo(const TensorShape& shape, size_t depth)
{
    return InfoInt8(shape, true, 0.4f * std::sqrt(static_cast<float>(depth)), -4);
}

TestTensor FilledWith(const TensorInfo& info, uint8_t byte)
{
    return {info, std::vector<std::byte>(info.GetNumBytes(), static_cast<std::byte>(byte))};
}

void ExpectConnected(unsigned int rows, unsigned int columns, unsigned int depth, Steps steps, bool outputsFirst)
{
    FullyConnectedDescriptor d;
    d.m_TransposeWeightMatrix = outputsFirst;
    d.m_BiasEnabled = rows % 2 == 0;
    const TensorShape shape = outputsFirst ? TensorShape({columns, depth}) : TensorShape({depth, columns});
    const TensorInfo weights = InfoInt4(shape, steps, outputsFirst ? 0 : 1);
    std::vector<TestTensor> inputs = {Random(InfoInt8({rows, depth}, true, 0.1f, 3), rows),
                                      Constant(MakeWeights(weights, columns))};
    if (d.m_BiasEnabled)
    {
        inputs.push_back(Constant(Random(TensorInfo({columns}, DataType::Signed32, 0.01f, 0), 5, -9, 9)));
    }
    ExpectAsReference(ReferenceCase(std::to_string(rows) + " rows by " + shape.ToString(), LayerType::FullyConnected, d,
                                    std::move(inputs), SumsInfo({rows, columns}, depth)),
                      "CpuFullyConnectedInt8");
}

struct Depthwise
{
    TensorShape m_Data;
    unsigned int m_Multiplier;
    unsigned int m_Height; ///< of the window
    unsigned int m_Width;
    uint32_t m_Stride = 1;
    uint32_t m_Dilation = 1;
};

OpCase MakeDepthwise(const Depthwise& c, Steps steps, bool isFloat)
{
    DepthwiseConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_PadTop = c.m_Dilation * (c.m_Height - 1);
    d.m_PadLeft = c.m_Dilation * (c.m_Width - 1);
    d.m_BiasEnabled = c.m_Multiplier == 1;
    const unsigned int channels = c.m_Data[3] * c.m_Multiplier;
    const TensorShape output(
        {c.m_Data[0], (c.m_Data[1] - 1) / c.m_Stride + 1, (c.m_Data[2] - 1) / c.m_Stride + 1, channels});
    const TensorInfo weights = InfoInt4({1, c.m_Height, c.m_Width, channels}, steps, 3);
    const TensorInfo data = isFloat ? TensorInfo(c.m_Data, DataType::Float32) : InfoInt8(c.m_Data, true, 0.1f, 3);
    std::vector<TestTensor> inputs = {Random(data, channels, -3, 5), Constant(MakeWeights(weights, 2))};
    if (d.m_BiasEnabled)
    {
        const TensorInfo bias =
            isFloat ? TensorInfo({channels}, DataType::Float32) : TensorInfo({channels}, DataType::Signed32, 0.01f, 0);
        inputs.push_back(Constant(Random(bias, 9, -2, 2)));
    }
    return ReferenceCase(c.m_Data.ToString() + " by " + weights.GetShape().ToString(),
                         LayerType::DepthwiseConvolution2d, d, std::move(inputs),
                         isFloat ? TensorInfo(output, DataType::Float32)
                                 : SumsInfo(output, size_t{c.m_Height} * c.m_Width));
}

const Depthwise DepthwiseCases[] = {
    {{1, 9, 9, 16}, 1, 3, 3},         {{2, 9, 8, 5}, 1, 3, 3},    // an odd number of weights
    {{2, 9, 8, 7}, 3, 3, 3, 2},       {{1, 40, 37, 70}, 1, 3, 3}, // several blocks of channels
    {{1, 17, 20, 144}, 1, 3, 3, 2},   {{1, 12, 11, 33}, 1, 5, 5}, // others
    {{1, 12, 11, 40}, 1, 2, 3, 1, 2}, {{2, 1, 300, 19}, 1, 1, 7}, // rows
    {{2, 300, 1, 19}, 1, 7, 1},       {{1, 9, 9, 3}, 2, 1, 1},    // and columns
};

} // namespace

// Few rows take the weights as they are, more of them as whole bytes; a column may begin in the middle of a byte.
ISA_TEST(WeightsInt4, ConnectedAsReference)
{
    for (const unsigned int rows : {1U, 2U, 4U, 5U, 43U})
    {
        for (const unsigned int columns : {1U, 4U, 19U, 69U})
        {
            for (const unsigned int depth : {7U, 32U, 129U, 261U})
            {
                for (const Steps steps : AllSteps)
                {
                    ASSERT_NO_FATAL_FAILURE(ExpectConnected(rows, columns, depth, steps, true));
                    ASSERT_NO_FATAL_FAILURE(ExpectConnected(rows, columns, depth, steps, false));
                }
            }
        }
    }
}

// Deeper rows of many steps, which int8 weights have forms of their own for.
ISA_TEST(WeightsInt4, DeepConnectedAsReference)
{
    for (const unsigned int rows : {1U, 3U, 20U})
    {
        for (const Steps steps : AllSteps)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectConnected(rows, 3, 2051, steps, true));
            ASSERT_NO_FATAL_FAILURE(ExpectConnected(rows, 70, 1100, steps, true));
        }
    }
}

// Sums of 16 bits are largest where data and weights are at their ends.
ISA_TEST(WeightsInt4, EndsAsReference)
{
    for (const unsigned int rows : {1U, 2U, 9U})
    {
        for (const unsigned int depth : {64U, 257U})
        {
            for (const uint8_t pair : {uint8_t{0x88}, uint8_t{0x77}, uint8_t{0x78}})
            {
                for (const Steps steps : AllSteps)
                {
                    const TestTensor weights = FilledWith(InfoInt4({21, depth}, steps, 0), pair);
                    for (const int32_t zeroPoint : {-128, 127})
                    {
                        const TensorInfo data = InfoInt8({rows, depth}, true, 0.1f, zeroPoint);
                        const std::string name = std::to_string(rows) + " rows of depth " + std::to_string(depth);
                        ExpectConnectedAsReference(name, FilledWith(data, 0x80), weights, 40.0f);
                        ExpectConnectedAsReference(name, FilledWith(data, 0x7F), weights, 40.0f);
                    }
                }
            }
        }
    }
}

// One pixel, few and many of them; windows of a few channels, which may be padded for images read where they lie.
ISA_TEST(WeightsInt4, ConvolutionsAsReference)
{
    for (const SumKind& kind : SumKinds)
    {
        if (kind.m_Weights != DataType::QSymmS4)
        {
            continue;
        }
        for (const unsigned int size : {1U, 2U, 9U, 23U})
        {
            for (const unsigned int channels : {1U, 3U, 5U, 12U, 67U})
            {
                for (const unsigned int window : {1U, 2U, 5U})
                {
                    Convolution2dDescriptor d;
                    d.m_DataLayout = DataLayout::NHWC;
                    d.m_PadTop = d.m_PadLeft = window - 1;
                    d.m_StrideX = d.m_StrideY = 1 + size % 2;
                    const unsigned int outputs = (size - 1) / d.m_StrideX + 1;
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                        MakeSumCase("size " + std::to_string(size) + ", channels " + std::to_string(channels) +
                                        ", window " + std::to_string(window),
                                    kind, LayerType::Convolution2d, d, {1, size, size, channels},
                                    {channels == 12 ? 33U : 19U, window, window, channels},
                                    {1, outputs, outputs, channels == 12 ? 33U : 19U}, size),
                        std::string("CpuConvolution2d") + kind.m_Kernel));
                }
            }
        }
    }
}

// 3x3 that Winograd's transforms are for.
ISA_TEST(WeightsInt4, TransformedConvolutionsAsReference)
{
    for (const SumKind& kind : SumKinds)
    {
        if (kind.m_Weights != DataType::QSymmS4 || kind.m_Data == DataType::QSymmS16)
        {
            continue;
        }
        for (const unsigned int channels : {16U, 17U, 48U})
        {
            Convolution2dDescriptor d;
            d.m_DataLayout = DataLayout::NHWC;
            d.m_PadTop = d.m_PadLeft = d.m_PadBottom = d.m_PadRight = 1;
            d.m_StrideX = d.m_StrideY = 1;
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(MakeSumCase("channels " + std::to_string(channels), kind, LayerType::Convolution2d, d,
                                              {2, 13, 14, channels}, {33, 3, 3, channels}, {2, 13, 14, 33}, channels),
                                  std::string("CpuConvolution2d") + (HasDots() ? "" : "Winograd") + kind.m_Kernel));
        }
    }
}

ISA_TEST(WeightsInt4, DepthwiseAsReference)
{
    const ActivationDescriptor relu6(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    for (const Depthwise& c : DepthwiseCases)
    {
        for (const Steps steps : AllSteps)
        {
            OpCase op = MakeDepthwise(c, steps, false);
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuDepthwiseConvolution2dInt8"));
            op.m_FusedActivation = &relu6;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuDepthwiseConvolution2dInt8"));
        }
    }
}

// Images of one channel are those of a convolution.
ISA_TEST(WeightsInt4, DepthwiseOfOneChannelAsReference)
{
    for (const unsigned int outputs : {1U, 3U, 8U, 19U})
    {
        for (const Steps steps : AllSteps)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeDepthwise({{1, 9, 8, 1}, outputs, 5, 3, 2}, steps, false),
                                                      "CpuDepthwiseConvolution2dSingleChannelInt8"));
        }
    }
}

ISA_TEST(WeightsInt4, DepthwiseOfFloatsAsReference)
{
    for (const Depthwise& c : DepthwiseCases)
    {
        for (const Steps steps : AllSteps)
        {
            ASSERT_NO_FATAL_FAILURE(
                ExpectAsReference(MakeDepthwise(c, steps, true), "CpuDepthwiseConvolution2dHybrid"));
        }
    }
}

} // namespace tenon::test::weights_int4_test
