// SPDX-License-Identifier: Apache-2.0
// DepthwiseConvolution2d against sums in double precision, and bit for bit on quantized types.
#include "ops/WeightedSumOracle.hpp"

#include <gtest/gtest.h>

namespace tenon::test::depthwise_convolution2d_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [1, H, W, O]
    TensorShape m_Output;
    uint32_t m_Stride;
    uint32_t m_Dilation;
    uint32_t m_Pad;
};

const Case Cases[] = {
    {"3x3 same", {2, 5, 4, 19}, {1, 3, 3, 19}, {2, 5, 4, 19}, 1, 1, 1},
    {"3x3 stride 2", {1, 7, 7, 8}, {1, 3, 3, 8}, {1, 3, 3, 8}, 2, 1, 0},
    {"multiplier 3", {1, 4, 5, 5}, {1, 2, 3, 15}, {1, 4, 5, 15}, 1, 1, 1},
    {"one input channel", {1, 6, 6, 1}, {1, 5, 5, 8}, {1, 6, 6, 8}, 1, 1, 2},
    {"dilated", {1, 8, 8, 4}, {1, 3, 3, 4}, {1, 8, 8, 4}, 1, 3, 3},
    {"kernel larger than the image", {1, 2, 1, 3}, {1, 5, 5, 3}, {1, 2, 1, 3}, 1, 1, 2},
    {"blocks of channels, runs of pixels", {1, 5, 37, 135}, {1, 3, 3, 135}, {1, 5, 37, 135}, 1, 1, 1},
    {"two groups of rows", {2, 7, 9, 64}, {1, 5, 5, 64}, {2, 4, 5, 64}, 2, 1, 2},
    {"four output rows of two groups", {1, 11, 7, 19}, {1, 5, 5, 19}, {1, 11, 7, 19}, 1, 1, 2},
    {"two output rows of two groups", {1, 9, 9, 36}, {1, 6, 5, 36}, {1, 5, 5, 36}, 2, 1, 2},
    {"three blocks' pieces", {1, 4, 6, 52}, {1, 2, 1, 52}, {1, 4, 6, 52}, 1, 1, 0},
    {"no rows", {1, 0, 3, 2}, {1, 1, 1, 2}, {1, 0, 3, 2}, 1, 1, 0},
    {"no channels", {1, 3, 3, 0}, {1, 1, 1, 0}, {1, 3, 3, 0}, 1, 1, 0},
};

OpCase MakeOp(const Case& c, const SumTypes& types)
{
    DepthwiseConvolution2dDescriptor descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = c.m_Stride;
    descriptor.m_DilationX = descriptor.m_DilationY = c.m_Dilation;
    descriptor.m_PadTop = descriptor.m_PadLeft = c.m_Pad;
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const SumInfos infos = MakeSumInfos(types, c.m_Data, c.m_Weights, 3, c.m_Output, c.m_Weights[1] * c.m_Weights[2]);
    const WindowSum sum{c.m_Stride, c.m_Stride, c.m_Dilation, c.m_Dilation, c.m_Pad, c.m_Pad, true, c.m_Output};
    return WithBounds({std::string(c.m_Name) + ", " + types.m_Name, LayerType::DepthwiseConvolution2d,
                       MakeDescriptor(descriptor), MakeSumInputs(infos, 11), infos.m_Output, sum});
}

} // namespace

ISA_TEST(DepthwiseConvolution2d, AgreesWithDoublePrecision)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetSumTypes())
        {
            CheckOp(MakeOp(c, types));
        }
    }
}

ISA_TEST(DepthwiseConvolution2d, IsExactOnQuantizedTypes)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetSumTypes())
        {
            if (IsQuantizedType(types.m_Data) && c.m_Output.GetNumElements() != 0)
            {
                OpCase op = MakeOp(c, types);
                const SumInfos infos{op.m_Inputs[0].m_Info, op.m_Inputs[1].m_Info, op.m_Inputs[2].m_Info, op.m_Output};
                op.m_Oracle = ExactOracle(infos, *op.m_Oracle.target<WindowSum>(), true);
                op.m_Steps = 0;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(DepthwiseConvolution2d, IsExactWithHalvesToEven)
{
    CheckHalvesToEven<DepthwiseConvolution2dDescriptor, WindowSum>(Cases, MakeOp);
}

// Data that 8 bits hold exactly: quantized over [-128, 127] steps it loses nothing.
ISA_TEST(DepthwiseConvolution2d, QuantizesFloatDataBesideIntegerWeights)
{
    const TensorInfo data({1, 4, 4, 2}, DataType::Float32);
    std::vector<double> values = {-128 * 0.25, 127 * 0.25};
    for (int i = 2; i < 32; ++i)
    {
        values.push_back((i * 53 % 255 - 128) * 0.25);
    }
    OpCase op = MakeOp({"hybrid", data.GetShape(), {1, 3, 3, 2}, {1, 4, 4, 2}, 1, 1, 1}, GetSumTypes()[0]);
    op.m_Inputs[0] = Values(data, values);
    op.m_Inputs[1] = Constant(Random(TensorInfo({1, 3, 3, 2}, DataType::QSymmS8, {0.1f, 0.3f}, 3), 5));
    CheckOp(op);
}

ISA_TEST(DepthwiseConvolution2d, IsRefused)
{
    OpCase op = MakeOp(Cases[0], GetSumTypes()[0]);
    op.m_Inputs[1] = Random(TensorInfo(Cases[0].m_Weights, DataType::QAsymmU8, 0.1f, 3), 1);
    CheckUnsupported(op, SupportCode::UnsupportedType, "QAsymmU8");

    op = MakeOp(Cases[0], GetSumTypes()[0]);
    op.m_Descriptor = MakeDescriptor(DepthwiseConvolution2dDescriptor()); // NCHW
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "NHWC");

    op = MakeOp(Cases[0], GetSumTypes()[4]);
    op.m_Inputs[1].m_Info.SetQuantizationScales({0.1f, 0.2f});
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "2 scales for 19");
}

ISA_TEST(DepthwiseConvolution2d, RejectsShapesThatDoNotFit)
{
    const SumTypes& types = GetSumTypes()[0];
    CheckRejectsShapes(MakeOp({"", {1, 3, 3, 2}, {1, 1, 1, 3}, {1, 3, 3, 3}, 1, 1, 0}, types),
                       "multiple of the data's");
    CheckRejectsShapes(MakeOp({"", {1, 3, 3, 2}, {2, 1, 1, 2}, {1, 3, 3, 2}, 1, 1, 0}, types), "[1, H, W, O]");
    CheckRejectsShapes(MakeOp({"", {1, 3, 3, 0}, {1, 1, 1, 2}, {1, 3, 3, 2}, 1, 1, 0}, types),
                       "multiple of the data's");
}

} // namespace tenon::test::depthwise_convolution2d_test
