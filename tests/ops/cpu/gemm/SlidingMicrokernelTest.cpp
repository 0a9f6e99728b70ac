// SPDX-License-Identifier: Apache-2.0
// Sliding microkernels: convolutions with three columns and few output channels, compared with CpuRef. Images of all
// widths of tiles, and some more, with windows that overlap each border, in batches, on one and three threads. Each
// tensor ends at a guard page.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <vector>

namespace tenon::test::sliding_microkernel_test
{

namespace
{

struct Sizes
{
    unsigned int m_Height = 5;
    unsigned int m_Width = 13; ///< of the output
    unsigned int m_Inputs = 16;
    unsigned int m_Outputs = 16;
    unsigned int m_Rows = 3; ///< of windows
    unsigned int m_StrideY = 1;
    unsigned int m_DilationY = 1;
    unsigned int m_Pad = 1;
};

void ExpectAsReference(DataType type, const Sizes& s)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_StrideX = 1;
    d.m_StrideY = s.m_StrideY;
    d.m_DilationX = 1;
    d.m_DilationY = s.m_DilationY;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = s.m_Pad;
    d.m_BiasEnabled = true;
    const unsigned int windowRows = (s.m_Rows - 1) * s.m_DilationY + 1;
    const unsigned int inputHeight = (s.m_Height - 1) * s.m_StrideY + windowRows;
    if (inputHeight <= 2 * s.m_Pad || s.m_Width + 2 <= 2 * s.m_Pad)
    {
        return;
    }
    const TensorInfo input(TensorShape({2, inputHeight - 2 * s.m_Pad, s.m_Width + 2 - 2 * s.m_Pad, s.m_Inputs}), type);
    const TensorInfo weights(TensorShape({s.m_Outputs, s.m_Rows, 3, s.m_Inputs}), type, 0, 0, true);
    const TensorInfo bias(TensorShape({s.m_Outputs}), type, 0, 0, true);
    const TensorInfo output(TensorShape({2, s.m_Height, s.m_Width, s.m_Outputs}), type);
    const bool isBf16 = type == DataType::BFloat16;
    const bool hasDots = cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsBf16().m_HasDots;
    test::ExpectAsReference(
        ReferenceCase(input.ToString() + " by " + weights.ToString(), LayerType::Convolution2d, d,
                      {Random(input, 1, -2, 2), Constant(Random(weights, 2, -2, 2)), Constant(Random(bias, 3, -2, 2))},
                      output),
        !isBf16 ? "CpuConvolution2dF32" : (hasDots ? "CpuConvolution2dBf16" : "CpuConvolution2dF16"),
        isBf16 ? 1.0 / 128 : 4e-6);
}

constexpr DataType Types[] = {DataType::Float32, DataType::BFloat16};

} // namespace

ISA_TEST(SlidingMicrokernel, AllWidths)
{
    for (const DataType type : Types)
    {
        for (unsigned int width = 1; width <= 28; ++width)
        {
            ExpectAsReference(type, {.m_Width = width});
            ExpectAsReference(type, {.m_Width = width, .m_Pad = 0});
        }
    }
}

ISA_TEST(SlidingMicrokernel, Channels)
{
    for (const DataType type : Types)
    {
        for (const unsigned int inputs : {1U, 2U, 3U, 4U, 5U, 8U, 10U, 31U, 32U, 94U, 95U, 96U})
        {
            for (const unsigned int outputs : {7U, 8U, 9U, 15U, 16U, 17U})
            {
                ExpectAsReference(type, {.m_Width = 25, .m_Inputs = inputs, .m_Outputs = outputs});
            }
        }
    }
}

ISA_TEST(SlidingMicrokernel, Windows)
{
    for (const DataType type : Types)
    {
        for (const unsigned int rows : {1U, 2U, 3U, 7U, 40U})
        {
            for (const unsigned int strideY : {1U, 2U})
            {
                for (const unsigned int dilationY : {1U, 3U})
                {
                    for (const unsigned int pad : {0U, 1U, 2U, 4U})
                    {
                        ExpectAsReference(type, {.m_Inputs = 12,
                                                 .m_Rows = rows,
                                                 .m_StrideY = strideY,
                                                 .m_DilationY = dilationY,
                                                 .m_Pad = pad});
                    }
                }
            }
        }
    }
}

} // namespace tenon::test::sliding_microkernel_test
