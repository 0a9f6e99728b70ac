// SPDX-License-Identifier: Apache-2.0
// TransposeConvolution2d of CpuAcc by phases (polyphase decomposition), all types, against CpuRef, and layers that
// CpuAcc leaves to CpuRef.
#include "ops/cpu/TensorInfoInt8.hpp"
#include "ops/cpu/conv/WeightedSumKinds.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <iterator>
#include <random>

namespace tenon::test::transpose_convolution2d_phases_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, I]
    TensorShape m_Output;
    uint32_t m_StrideY;
    uint32_t m_StrideX;
    uint32_t m_PadTop = 0;
    uint32_t m_PadLeft = 0;
};

const Case Cases[] = {
    {"one phase", {2, 5, 4, 7}, {9, 3, 3, 7}, {2, 7, 6, 9}, 1, 1},
    {"2x2 of stride 2", {1, 6, 5, 32}, {16, 2, 2, 32}, {1, 12, 10, 16}, 2, 2},
    {"4x4 of stride 2, same", {1, 8, 9, 24}, {21, 4, 4, 24}, {1, 16, 18, 21}, 2, 2, 1, 1},
    {"3x3 of stride 2, rows and columns cut", {2, 5, 6, 12}, {8, 3, 3, 12}, {2, 9, 11, 8}, 2, 2, 1, 1},
    {"strides that differ", {1, 4, 5, 8}, {5, 4, 3, 8}, {1, 9, 15, 5}, 2, 3, 0, 1},
    {"phases without taps", {1, 4, 3, 8}, {6, 2, 1, 8}, {1, 13, 10, 6}, 3, 3, 0, 1},
    {"some beside phases of three columns", {1, 2, 2, 8}, {3, 1, 3, 8}, {1, 3, 4, 3}, 2, 1},
    {"the same of stride 2", {2, 4, 5, 24}, {16, 1, 6, 24}, {2, 10, 14, 16}, 3, 2},
    {"one channel", {1, 9, 9, 1}, {3, 5, 5, 1}, {1, 17, 17, 3}, 2, 2, 2, 2},
    {"many pixels", {1, 40, 41, 16}, {8, 3, 3, 16}, {1, 80, 82, 8}, 2, 2, 0, 1},
    {"padding beyond the taps", {1, 6, 6, 8}, {4, 2, 2, 8}, {1, 4, 5, 4}, 1, 1, 3, 2},
};

OpCase MakeOp(const Case& c, const SumKind& kind)
{
    TransposeConvolution2dDescriptor d;
    d.m_StrideX = c.m_StrideX;
    d.m_StrideY = c.m_StrideY;
    d.m_PadTop = c.m_PadTop;
    d.m_PadLeft = c.m_PadLeft;
    d.m_BiasEnabled = true;
    d.m_DataLayout = DataLayout::NHWC;
    return MakeSumCase(c.m_Name, kind, LayerType::TransposeConvolution2d, d, c.m_Data, c.m_Weights, c.m_Output, 5);
}

} // namespace

ISA_TEST(TransposeConvolution2dPhases, AllTypes)
{
    for (const SumKind& kind : SumKinds)
    {
        for (const Case& c : Cases)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                MakeOp(c, kind), std::string("CpuTransposeConvolution2d") + kind.m_Kernel, kind.m_OfLargest));
        }
    }
}

// By the processor's bf16 dot products, or else as floats.
ISA_TEST(TransposeConvolution2dPhases, BFloat16)
{
    for (const Case& c : Cases)
    {
        TransposeConvolution2dDescriptor d;
        d.m_StrideX = c.m_StrideX;
        d.m_StrideY = c.m_StrideY;
        d.m_PadTop = c.m_PadTop;
        d.m_PadLeft = c.m_PadLeft;
        d.m_DataLayout = DataLayout::NHWC;
        d.m_BiasEnabled = true;
        const TensorInfo data(c.m_Data, DataType::BFloat16);
        const TensorInfo weights(c.m_Weights, DataType::BFloat16, 0, 0, true);
        const TensorInfo bias(TensorShape({c.m_Weights[0]}), DataType::BFloat16, 0, 0, true);
        constexpr double OfLargest = 1.0 / 128;
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(ReferenceCase(c.m_Name, LayerType::TransposeConvolution2d, d,
                                            {Random(data, 1, -2, 2), Constant(Random(weights, 2, -2, 2)),
                                             Constant(Random(bias, 3, -2, 2))},
                                            TensorInfo(c.m_Output, DataType::BFloat16)),
                              "", OfLargest));
    }
}

ISA_TEST(TransposeConvolution2dPhases, HybridWeightsAreSigned)
{
    OpCase op = MakeOp(Cases[1], SumKinds[0]);
    op.m_Inputs[0].m_Info = TensorInfo(Cases[1].m_Data, DataType::Float32);
    op.m_Inputs[1].m_Info.SetDataType(DataType::QAsymmU8);
    op.m_Inputs[2].m_Info = TensorInfo(op.m_Inputs[2].m_Info.GetShape(), DataType::Float32, 0, 0, true);
    op.m_Output = TensorInfo(Cases[1].m_Output, DataType::Float32);
    CheckUnsupported(op, SupportCode::UnsupportedType, "QAsymmU8");
}

ISA_TEST(TransposeConvolution2dPhases, RandomSizes)
{
    std::mt19937 random(3);
    const auto pick = [&random](unsigned int least, unsigned int most)
    { return std::uniform_int_distribution<unsigned int>(least, most)(random); };
    for (int i = 0; i < 60; ++i)
    {
        const unsigned int channels = pick(1, 20);
        const unsigned int outputs = pick(1, 40);
        Case c = {"random",
                  {pick(1, 2), pick(1, 9), pick(1, 9), channels},
                  {outputs, pick(1, 5), pick(1, 5), channels},
                  {},
                  pick(1, 3),
                  pick(1, 3)};
        const auto size = [&](unsigned int in, unsigned int taps, unsigned int stride, uint32_t& pad)
        {
            const unsigned int all = (in - 1) * stride + taps; // output pixels that the taps reach
            pad = pick(0, std::min(taps, all - 1));
            return std::max(1U, all - pad + pick(0, 2) - pick(0, 1));
        };
        const unsigned int height = size(c.m_Data[1], c.m_Weights[1], c.m_StrideY, c.m_PadTop);
        const unsigned int width = size(c.m_Data[2], c.m_Weights[2], c.m_StrideX, c.m_PadLeft);
        c.m_Output = TensorShape({c.m_Data[0], height, width, outputs});
        const SumKind& kind = SumKinds[static_cast<size_t>(i) % std::size(SumKinds)];
        SCOPED_TRACE("case " + std::to_string(i) + ", weights " + c.m_Weights.ToString());
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
            MakeOp(c, kind), std::string("CpuTransposeConvolution2d") + kind.m_Kernel, kind.m_OfLargest));
    }
}

ISA_TEST(TransposeConvolution2dPhases, AppliesActivations)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    for (const SumKind& kind : SumKinds)
    {
        OpCase op = MakeOp(Cases[3], kind);
        op.m_FusedActivation = &relu;
        ExpectAsReference(op, std::string("CpuTransposeConvolution2d") + kind.m_Kernel, kind.m_OfLargest);
    }
}

// An output with fewer images than the input, biases too large for 32-bit sums, and more phases than MaxPhases.
ISA_TEST(TransposeConvolution2dPhases, WhatIsLeftToTheReference)
{
    const std::string reference = "RefTransposeConvolution2d";
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::ReLu;
    for (const SumKind& kind : SumKinds)
    {
        OpCase op = MakeOp({"fewer images", {3, 4, 4, 8}, {8, 2, 2, 8}, {2, 8, 8, 8}, 2, 2}, kind);
        ExpectAsReference(op, reference, kind.m_OfLargest);
        op.m_FusedActivation = &relu;
        ExpectAsReference(op, reference, kind.m_OfLargest);
        ExpectAsReference(MakeOp({"long strides", {1, 2, 2, 4}, {4, 2, 2, 4}, {1, 12, 12, 4}, 9, 9}, kind), reference,
                          kind.m_OfLargest);
    }
    OpCase op = MakeOp(Cases[1], SumKinds[1]);
    op.m_Inputs[2].m_Bytes.assign(op.m_Inputs[2].m_Bytes.size(), std::byte{0x7F});
    ExpectAsReference(op, reference);
}

// Windows so deep that a block has fewer rows than a tile reads through an indirection buffer.
ISA_TEST(TransposeConvolution2dPhases, FloatsByDeepWindowsAsReference)
{
    TransposeConvolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = d.m_StrideY = 2;
    const TensorInfo data(TensorShape({1, 3, 40, 96}), DataType::Float32);
    const TensorInfo output(TensorShape({1, 6, 80, 4}), DataType::Float32);
    const TensorInfo weights(TensorShape({4, 24, 24, 96}), DataType::QSymmS8, 0.1f, 0);
    d.m_PadTop = d.m_PadLeft = d.m_PadBottom = d.m_PadRight = 11;
    const TestTensor stored = {weights, Random(InfoInt8(weights.GetShape(), true, 0.1f, 0), 4).m_Bytes};
    ExpectAsReference(ReferenceCase("deep windows", LayerType::TransposeConvolution2d, d,
                                    {Random(data, 3, -1, 1), Constant(stored)}, output),
                      "CpuTransposeConvolution2dHybrid");
}

} // namespace tenon::test::transpose_convolution2d_phases_test
