// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d against sums in double precision, and bit for bit against TFLite's definition on quantized
// types.
#include "ops/VolumeOracle.hpp"
#include "ops/WeightedSumOracle.hpp"

#include <gtest/gtest.h>

namespace tenon::test::transpose_convolution2d_test
{

namespace
{

/// Images as volumes with one layer.
struct ImageSum
{
    VolumeSum m_Sum;

    std::vector<double> operator()(std::vector<RealTensor> in) const
    {
        const TensorShape data = in[0].m_Shape;
        const TensorShape weights = in[1].m_Shape;
        in[0].m_Shape = TensorShape({data[0], 1, data[1], data[2], data[3]});
        in[1].m_Shape = TensorShape({1, weights[0], weights[1], weights[2], weights[3]});
        return m_Sum(in);
    }
};

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, I]
    TensorShape m_Output;
    int64_t m_Stride;
    int64_t m_PadTop;
    int64_t m_PadLeft;
};

const Case Cases[] = {
    {"plain", {2, 3, 4, 3}, {5, 3, 2, 3}, {2, 5, 5, 5}, 1, 0, 0},
    {"stride 2, same", {1, 3, 3, 2}, {4, 3, 3, 2}, {1, 6, 6, 4}, 2, 0, 1},
    {"stride above the filter", {1, 2, 3, 2}, {3, 2, 2, 2}, {1, 5, 8, 3}, 3, 0, 0},
    {"stride above the filter, many channels", {1, 2, 3, 8}, {9, 2, 2, 8}, {1, 6, 9, 9}, 3, 0, 0},
    {"one tap, stride 2", {1, 2, 3, 9}, {40, 1, 1, 9}, {1, 4, 6, 40}, 2, 0, 0},
    {"one tap, stride 2, few outputs", {1, 2, 2, 9}, {2, 1, 1, 9}, {1, 4, 4, 2}, 2, 0, 0},
    {"one row of taps, stride 2", {1, 3, 6, 3}, {12, 1, 6, 3}, {1, 6, 16, 12}, 2, 0, 0},
    {"a block for each pixel", {2, 5, 6, 16}, {1, 2, 2, 16}, {2, 10, 12, 1}, 2, 0, 0},
    {"a block of two outputs for each pixel", {1, 3, 4, 5}, {2, 3, 3, 5}, {1, 9, 12, 2}, 3, 0, 0},
    {"blocks in pieces", {1, 24, 70, 4}, {3, 2, 2, 4}, {1, 48, 140, 3}, 2, 0, 0},
    {"blocks in a larger output", {1, 2, 2, 4}, {1, 2, 2, 4}, {1, 5, 5, 1}, 2, 0, 0},
    {"blocks cut off", {1, 3, 3, 2}, {2, 2, 2, 2}, {1, 5, 5, 2}, 2, 1, 0},
    {"larger output than the taps reach", {1, 2, 2, 1}, {1, 2, 2, 1}, {1, 6, 7, 1}, 1, 0, 0},
    {"fewer batches", {3, 2, 2, 1}, {2, 2, 2, 1}, {2, 3, 3, 2}, 1, 0, 0},
    {"no pixels", {1, 0, 2, 2}, {3, 2, 2, 2}, {1, 3, 3, 3}, 1, 0, 0},
    {"no outputs", {1, 2, 2, 2}, {0, 2, 2, 2}, {1, 3, 3, 0}, 1, 0, 0},
};

TransposeConvolution2dDescriptor MakeDescriptor(const Case& c)
{
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = static_cast<uint32_t>(c.m_Stride);
    descriptor.m_PadTop = static_cast<uint32_t>(c.m_PadTop);
    descriptor.m_PadLeft = static_cast<uint32_t>(c.m_PadLeft);
    descriptor.m_BiasEnabled = true;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

OpCase MakeOp(const Case& c, const SumTypes& types)
{
    const double depth = std::max(1U, c.m_Weights[1] * c.m_Weights[2] * c.m_Weights[3]);
    const SumInfos infos = MakeSumInfos(types, c.m_Data, c.m_Weights, 0, c.m_Output, depth);
    VolumeSum sum;
    sum.m_Transposed = true;
    sum.m_Stride = {1, c.m_Stride, c.m_Stride};
    sum.m_Pad = {0, c.m_PadTop, c.m_PadLeft};
    sum.m_Order = {0, 2, 3, 1, 4};
    sum.m_Output = {c.m_Output[0], 1, c.m_Output[1], c.m_Output[2], c.m_Output[3]};
    return WithBounds({std::string(c.m_Name) + ", " + types.m_Name, LayerType::TransposeConvolution2d,
                       test::MakeDescriptor(MakeDescriptor(c)), MakeSumInputs(infos, 11), infos.m_Output,
                       ImageSum{sum}});
}

} // namespace

ISA_TEST(TransposeConvolution2d, AgreesWithDoublePrecision)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetSumTypes())
        {
            CheckOp(MakeOp(c, types));
        }
        for (const DataType type : {DataType::Float16, DataType::BFloat16})
        {
            OpCase half = MakeOp(c, {GetDataTypeName(type), type, type, type, type});
            half.m_Inputs = {Random(TensorInfo(c.m_Data, type), 1), Constant(Random(TensorInfo(c.m_Weights, type), 2)),
                             Constant(Random(TensorInfo(TensorShape({c.m_Output[3]}), type), 3))};
            half.m_Output = TensorInfo(c.m_Output, type);
            half.m_Relative = type == DataType::Float16 ? 2e-3 : 4e-3; // half a step of 8 bits
            half.m_Absolute = 2e-3;
            CheckOp(half);
        }
    }
}

ISA_TEST(TransposeConvolution2d, IsExactOnQuantizedTypes)
{
    for (const Case& c : Cases)
    {
        for (const SumTypes& types : GetSumTypes())
        {
            if (IsQuantizedType(types.m_Data) && c.m_Output.GetNumElements() != 0)
            {
                OpCase op = MakeOp(c, types);
                const SumInfos infos{op.m_Inputs[0].m_Info, op.m_Inputs[1].m_Info, op.m_Inputs[2].m_Info, op.m_Output};
                op.m_Oracle = ExactOracle(infos, *op.m_Oracle.target<ImageSum>(), true);
                op.m_Steps = 0;
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(TransposeConvolution2d, IsExactWithHalvesToEven)
{
    CheckHalvesToEven<TransposeConvolution2dDescriptor, ImageSum>(Cases, MakeOp);
}

// Data that 8 bits hold exactly.
ISA_TEST(TransposeConvolution2d, QuantizesFloatDataBesideIntegerWeights)
{
    OpCase op = MakeOp({"hybrid", {1, 2, 2, 1}, {2, 2, 2, 1}, {1, 3, 3, 2}, 1, 0, 0}, GetSumTypes()[0]);
    op.m_Inputs[0] = Values(op.m_Inputs[0].m_Info, {-128, 127, 3, -50});
    op.m_Inputs[1] = Random(TensorInfo({2, 2, 2, 1}, DataType::QSymmS8, {0.1f, 0.3f}, 0), 4);
    CheckOp(op);
}

ISA_TEST(TransposeConvolution2d, RefusesWhatDoesNotFit)
{
    const SumTypes& floats = GetSumTypes()[0];
    OpCase op = MakeOp(Cases[0], floats);
    TransposeConvolution2dDescriptor descriptor = MakeDescriptor(Cases[0]);
    descriptor.m_StrideX = 0;
    op.m_Descriptor = test::MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "stride");
    descriptor = MakeDescriptor(Cases[0]);
    descriptor.m_DataLayout = DataLayout::NCHW;
    op.m_Descriptor = test::MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "NHWC");
    op = MakeOp(Cases[0], floats);
    op.m_Inputs[1] = Random(TensorInfo(Cases[0].m_Weights, DataType::QAsymmU8, 0.1f, 3), 1);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1");
    CheckRejectsShapes(MakeOp({"", {1, 2, 2, 3}, {4, 1, 1, 2}, {1, 2, 2, 4}, 1, 0, 0}, floats), "do not fit");
    CheckRejectsShapes(MakeOp({"", {1, 2, 2, 2}, {4, 1, 1, 2}, {2, 2, 2, 4}, 1, 0, 0}, floats), "do not fit");
}

} // namespace tenon::test::transpose_convolution2d_test
