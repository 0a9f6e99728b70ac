// SPDX-License-Identifier: Apache-2.0
// Convolution2d against sums in double precision, and bit for bit against TFLite's definition on quantized types.
#include "ops/WeightedSumOracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::convolution2d_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, I]
    TensorShape m_Output;
    WindowSum m_Window;
};

WindowSum Window(int64_t stride, int64_t dilation, int64_t padTop, int64_t padLeft)
{
    return {stride, stride, dilation, dilation, padTop, padLeft, false, {}};
}

const Case Cases[] = {
    {"1x1", {1, 3, 3, 8}, {5, 1, 1, 8}, {1, 3, 3, 5}, Window(1, 1, 0, 0)},
    {"1x1 with stride", {2, 5, 4, 3}, {4, 1, 1, 3}, {2, 3, 2, 4}, Window(2, 1, 0, 0)},
    {"3x3 same", {1, 6, 5, 3}, {7, 3, 3, 3}, {1, 6, 5, 7}, Window(1, 1, 1, 1)},
    {"3x3 stride 2, padded below only", {1, 6, 6, 4}, {6, 3, 3, 4}, {1, 3, 3, 6}, Window(2, 1, 0, 0)},
    {"dilated", {1, 7, 8, 2}, {3, 3, 2, 2}, {1, 7, 8, 3}, Window(1, 2, 2, 1)},
    {"grouped", {2, 4, 4, 6}, {9, 2, 2, 2}, {2, 4, 4, 9}, Window(1, 1, 0, 0)},
    {"one channel a group", {1, 3, 3, 4}, {4, 3, 3, 1}, {1, 3, 3, 4}, Window(1, 1, 1, 1)},
    {"kernel larger than the image", {1, 2, 2, 3}, {2, 5, 5, 3}, {1, 2, 2, 2}, Window(1, 1, 2, 2)},
    {"window outside the image", {1, 2, 2, 2}, {3, 1, 1, 2}, {1, 4, 4, 3}, Window(1, 1, 1, 1)},
    {"long sums", {1, 1, 1, 700}, {5, 1, 1, 700}, {1, 1, 1, 5}, Window(1, 1, 0, 0)},
    {"1x1, all sizes of tiles", {1, 7, 7, 36}, {100, 1, 1, 36}, {1, 7, 7, 100}, Window(1, 1, 0, 0)},
    {"1x1, depth of whole tiles", {2, 6, 9, 64}, {80, 1, 1, 64}, {2, 6, 9, 80}, Window(1, 1, 0, 0)},
    {"1x1, few channels", {1, 9, 5, 4}, {17, 1, 1, 4}, {1, 9, 5, 17}, Window(1, 1, 0, 0)},
    {"3x3 of a picture", {2, 13, 11, 3}, {33, 3, 3, 3}, {2, 7, 6, 33}, Window(2, 1, 1, 1)},
    {"3x3, several panels", {1, 5, 7, 4}, {150, 3, 3, 4}, {1, 5, 7, 150}, Window(1, 1, 1, 1)},
    {"no batches", {0, 3, 3, 2}, {4, 3, 3, 2}, {0, 3, 3, 4}, Window(1, 1, 1, 1)},
    {"no output channels", {1, 3, 3, 2}, {0, 3, 3, 2}, {1, 3, 3, 0}, Window(1, 1, 1, 1)},
};

Convolution2dDescriptor MakeDescriptor(const WindowSum& window, bool bias = true)
{
    Convolution2dDescriptor descriptor;
    descriptor.m_StrideX = static_cast<uint32_t>(window.m_StrideX);
    descriptor.m_StrideY = static_cast<uint32_t>(window.m_StrideY);
    descriptor.m_DilationX = static_cast<uint32_t>(window.m_DilationX);
    descriptor.m_DilationY = static_cast<uint32_t>(window.m_DilationY);
    descriptor.m_PadTop = static_cast<uint32_t>(window.m_PadTop);
    descriptor.m_PadLeft = static_cast<uint32_t>(window.m_PadLeft);
    descriptor.m_BiasEnabled = bias;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

OpCase MakeOp(const Case& c, const SumTypes& types)
{
    const double depth = c.m_Weights[1] * c.m_Weights[2] * c.m_Weights[3];
    const SumInfos infos = MakeSumInfos(types, c.m_Data, c.m_Weights, 0, c.m_Output, depth);
    WindowSum sum = c.m_Window;
    sum.m_Output = c.m_Output;
    return WithBounds({std::string(c.m_Name) + ", " + types.m_Name, LayerType::Convolution2d,
                       test::MakeDescriptor(MakeDescriptor(c.m_Window)), MakeSumInputs(infos, 7), infos.m_Output, sum});
}

OpCase MakeFloatOp(const TensorShape& data, const TensorShape& weights, const TensorShape& output)
{
    return MakeOp({"shapes", data, weights, output, Window(1, 1, 0, 0)}, GetSumTypes()[0]);
}

} // namespace

ISA_TEST(Convolution2d, AgreesWithDoublePrecision)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetSumTypes())
        {
            OpCase op = MakeOp(c, types);
            // What cancels leaves the rounding errors of the terms, most of them without fused operations.
            op.m_Absolute *= std::max(1.0, std::sqrt(1.0 * c.m_Weights[1] * c.m_Weights[2] * c.m_Weights[3]) / 2);
            CheckOp(op);
        }
    }
}

ISA_TEST(Convolution2d, IsExactOnQuantizedTypes)
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

ISA_TEST(Convolution2d, IsExactWithHalvesToEven)
{
    CheckHalvesToEven<Convolution2dDescriptor, WindowSum>(Cases, MakeOp);
}

ISA_TEST(Convolution2d, RunsWithoutBias)
{
    for (const SumTypes& types : GetSumTypes())
    {
        OpCase op = MakeOp(Cases[2], types);
        op.m_Descriptor = test::MakeDescriptor(MakeDescriptor(Cases[2].m_Window, false));
        op.m_Inputs.pop_back();
        CheckOp(op);
    }
}

ISA_TEST(Convolution2d, BiasNeedsNoScale)
{
    OpCase op = MakeOp(Cases[2], GetSumTypes()[1]);
    const IBackend& reference = *GetTestBackends().front();
    const std::vector<std::byte> expected = RunOp(reference, op, {});
    op.m_Inputs[2].m_Info = TensorInfo(op.m_Inputs[2].m_Info.GetShape(), DataType::Signed32);
    EXPECT_TRUE(expected == RunOp(reference, op, {}));
}

// TFLite's uint8 kernels multiply the scales of data and weights as floats, its int8 kernels as doubles. With an output
// scale of twice the float product a sum of -1 is scaled to exactly -1/2, which becomes 0; with the double product,
// which is a little less here, it comes out as -1.
ISA_TEST(Convolution2d, MultipliesScalesAsTheTypeDoes)
{
    const float scale = 0.1f;
    float weightsScale = 0.3f;
    while (static_cast<double>(scale) * weightsScale >= static_cast<double>(scale * weightsScale))
    {
        weightsScale = std::nextafter(weightsScale, 1.0f);
    }
    for (const bool isUnsigned : {true, false})
    {
        const DataType type = isUnsigned ? DataType::QAsymmU8 : DataType::QAsymmS8;
        OpCase op = MakeFloatOp({1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1});
        op.m_Name = GetDataTypeName(type);
        op.m_Descriptor = test::MakeDescriptor(MakeDescriptor(Window(1, 1, 0, 0), false));
        op.m_Output = TensorInfo({1, 1, 1, 1}, type, 2.0f * (scale * weightsScale), 50);
        op.m_Inputs = {Stored(TensorInfo({1, 1, 1, 1}, type, scale, 10), {9}),
                       Constant(Stored(TensorInfo({1, 1, 1, 1}, type, weightsScale, 0), {1}))};
        op.m_Oracle = Expect(op.m_Output, {isUnsigned ? 50.0 : 49.0});
        op.m_Steps = 0;
        CheckOp(op);
    }
}

// Data that 8 bits hold exactly: then quantizing it while running loses nothing.
ISA_TEST(Convolution2d, QuantizesFloatDataBesideIntegerWeights)
{
    for (const bool perAxis : {false, true})
    {
        const TensorInfo data({2, 4, 4, 3}, DataType::Float32);
        const TensorInfo weights = perAxis ? TensorInfo({4, 2, 2, 3}, DataType::QSymmS8, {0.1f, 0.2f, 0.3f, 0.4f}, 0)
                                           : TensorInfo({4, 2, 2, 3}, DataType::QAsymmS8, 0.02f, 0);
        std::vector<double> values;
        for (int i = 0; i < 96; ++i)
        {
            // Per axis the range is [-128, 127] steps, per tensor the largest magnitude is 127 steps.
            const int step = i % 48 == 0 ? (perAxis ? -128 : -127) : (i % 48 == 1 ? 127 : i * 37 % 120 - 60);
            values.push_back(step * (i < 48 ? 0.125 : 0.5));
        }
        const Case c{"hybrid", data.GetShape(), weights.GetShape(), {2, 3, 3, 4}, Window(1, 1, 0, 0)};
        OpCase op = MakeOp(c, GetSumTypes()[0]);
        op.m_Name = perAxis ? "hybrid per axis" : "hybrid per tensor";
        op.m_Inputs[0] = Values(data, values);
        op.m_Inputs[1] = Constant(Random(weights, 3));
        CheckOp(op);
    }
}

ISA_TEST(Convolution2d, IsRefused)
{
    OpCase op = MakeOp(Cases[2], GetSumTypes()[0]);
    Convolution2dDescriptor descriptor = MakeDescriptor(Cases[2].m_Window);
    descriptor.m_DataLayout = DataLayout::NCHW;
    op.m_Descriptor = test::MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "NHWC");

    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_StrideX = 0;
    op.m_Descriptor = test::MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "stride");

    op = MakeOp(Cases[2], GetSumTypes()[0]);
    op.m_Inputs[1].m_Info.SetDataType(DataType::Float64);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1 of type Float64");

    op = MakeOp(Cases[2], GetSumTypes()[1]);
    op.m_Output.SetQuantizationScale(0.0f);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "output 0");
    op = MakeOp(Cases[2], GetSumTypes()[4]);
    op.m_Inputs[1].m_Info.SetQuantizationDim(3U);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "dimension");
}

ISA_TEST(Convolution2d, RejectsShapesThatDoNotFit)
{
    CheckRejectsShapes(MakeFloatOp({1, 3, 3}, {4, 1, 1, 2}, {1, 3, 3, 4}), "4 dimensions");
    CheckRejectsShapes(MakeFloatOp({2, 3, 3, 2}, {4, 1, 1, 2}, {1, 3, 3, 4}), "batches");
    CheckRejectsShapes(MakeFloatOp({1, 3, 3, 3}, {4, 1, 1, 2}, {1, 3, 3, 4}), "multiple of the weights' I");
    CheckRejectsShapes(MakeFloatOp({1, 3, 3, 6}, {4, 1, 1, 2}, {1, 3, 3, 4}), "groups");
    CheckRejectsShapes(MakeFloatOp({1, 3, 3, 2}, {4, 1, 1, 2}, {1, 3, 3, 5}), "each output channel");
    CheckRejectsShapes(MakeFloatOp({1, 3, 3, 2}, {4, 1, 1, 0}, {1, 3, 3, 4}), "not 0");
    OpCase op = MakeFloatOp({1, 3, 3, 2}, {4, 1, 1, 2}, {1, 3, 3, 4});
    op.m_Inputs[2] = Random(TensorInfo({3}, DataType::Float32), 1);
    CheckRejectsShapes(op, "bias");
}

} // namespace tenon::test::convolution2d_test
