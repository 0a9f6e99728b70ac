// SPDX-License-Identifier: Apache-2.0
// Hybrid 3x3 convolutions (float data, quantized at run time, by integer weights) by WinogradInt8: the sums of CpuRef.
#include "ops/cpu/conv/WeightedSumKinds.hpp"
#include "ops/cpu/winograd/WinogradSupport.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

namespace tenon::test::winograd_hybrid_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    unsigned int m_Outputs;
    uint32_t m_Pad;
};

const Case Cases[] = {
    {"whole tiles", {1, 14, 14, 16}, 16, 0},
    {"broken tiles, a channel and a column over", {1, 13, 11, 17}, 33, 1},
    {"images with scales of their own", {3, 9, 10, 24}, 40, 1},
    {"several panels", {1, 10, 9, 48}, 65, 2},
    {"many strips", {2, 40, 33, 16}, 16, 1},
};

OpCase MakeOp(const Case& c, const SumKind& kind)
{
    Convolution2dDescriptor d;
    d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = c.m_Pad;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_BiasEnabled = true;
    d.m_DataLayout = DataLayout::NHWC;
    const TensorShape output({c.m_Data[0], c.m_Data[1] + 2 * c.m_Pad - 2, c.m_Data[2] + 2 * c.m_Pad - 2, c.m_Outputs});
    OpCase op = MakeSumCase(c.m_Name, kind, LayerType::Convolution2d, d, c.m_Data,
                            TensorShape({c.m_Outputs, 3, 3, c.m_Data[3]}), output, 3);
    // All numbers are positive, so that the zero point is not in the middle, and the images have different ranges.
    auto* const values = reinterpret_cast<float*>(op.m_Inputs[0].m_Bytes.data());
    const size_t count = op.m_Inputs[0].m_Bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = (values[i] + 1.2f) * static_cast<float>(1 + i * c.m_Data[0] / count);
    }
    return op;
}

bool IsHybrid(const SumKind& kind)
{
    return kind.m_Data == DataType::Float32 && kind.m_Weights != DataType::Float32;
}

const char* GetKernel()
{
    return HasDots() ? "CpuConvolution2dHybrid" : "CpuConvolution2dWinogradHybrid";
}

} // namespace

ISA_TEST(WinogradHybrid, AllWeights)
{
    for (const SumKind& kind : SumKinds)
    {
        for (const Case& c : Cases)
        {
            if (IsHybrid(kind))
            {
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, kind), GetKernel(), kind.m_OfLargest));
            }
        }
    }
}

ISA_TEST(WinogradHybrid, AppliesActivations)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::BoundedReLu;
    relu.m_A = 2.0f;
    for (const SumKind& kind : SumKinds)
    {
        if (IsHybrid(kind))
        {
            OpCase op = MakeOp(Cases[1], kind);
            op.m_FusedActivation = &relu;
            ExpectAsReference(op, GetKernel(), kind.m_OfLargest);
        }
    }
}

} // namespace tenon::test::winograd_hybrid_test
