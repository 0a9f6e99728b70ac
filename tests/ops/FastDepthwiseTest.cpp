// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions of CpuAcc for float data beside weights of bytes: the floats of CpuRef, bit for bit.
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <vector>

namespace tenon::test
{

namespace
{

struct Window
{
    unsigned int m_Kernel, m_Stride, m_Dilation, m_Pad;
};

unsigned int OutputSize(unsigned int input, const Window& window)
{
    return (input + 2 * window.m_Pad - (window.m_Kernel - 1) * window.m_Dilation - 1) / window.m_Stride + 1;
}

TestTensor MakeWeights(unsigned int kernel, unsigned int channels, bool isPerChannel)
{
    TensorInfo info({1, kernel, kernel, channels}, DataType::QSymmS8, 0.02f, 0);
    if (isPerChannel)
    {
        std::vector<float> scales;
        for (unsigned int c = 0; c < channels; ++c)
        {
            scales.push_back(0.01f + 0.003f * static_cast<float>(c % 7));
        }
        info = TensorInfo(info.GetShape(), DataType::QSymmS8, scales, 3);
    }
    return Constant(Random(info, channels));
}

} // namespace

TEST(FastHybridDepthwise, AsReference)
{
    const Window windows[] = {{3, 1, 1, 1}, {3, 2, 1, 1}, {5, 1, 1, 2}, {2, 1, 3, 0}, {1, 1, 1, 0}};
    const ActivationDescriptor relu6(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    for (const Window& window : windows)
    {
        for (const unsigned int channels : {1U, 6U, 16U, 40U})
        {
            for (const unsigned int multiplier : {1U, 2U})
            {
                DepthwiseConvolution2dDescriptor d;
                d.m_StrideX = d.m_StrideY = window.m_Stride;
                d.m_DilationX = d.m_DilationY = window.m_Dilation;
                d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = window.m_Pad;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_BiasEnabled = channels != 6;
                const unsigned int size = OutputSize(9, window);
                std::vector<TestTensor> inputs = {
                    Random(TensorInfo({2, 9, 9, channels}, DataType::Float32), channels, -3, 5),
                    MakeWeights(window.m_Kernel, channels * multiplier, multiplier == 1)};
                if (d.m_BiasEnabled)
                {
                    inputs.push_back(
                        Constant(Random(TensorInfo({channels * multiplier}, DataType::Float32), 9, -1, 1)));
                }
                OpCase op = FastCase("hybrid depthwise", LayerType::DepthwiseConvolution2d, d, std::move(inputs),
                                     TensorInfo({2, size, size, channels * multiplier}, DataType::Float32));
                ExpectAsReference(op, "CpuDepthwiseConvolution2dHybrid");
                op.m_FusedActivation = &relu6;
                ExpectAsReference(op, "CpuDepthwiseConvolution2dHybrid");
            }
        }
    }
}

} // namespace tenon::test
