// SPDX-License-Identifier: Apache-2.0
// Convolutions of floats by int8 weights whose windows tiles may read where the image has them: all numbers of columns
// in the last vector, groups that fill no vector or share one, blocks of any number of rows.
#include "ops/cpu/CompareWithReference.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"
#include "ops/cpu/conv/SmallGroups.hpp"
#include "ops/cpu/elementwise/ElementwiseCases.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test::gemm_indirection_int8_test
{

namespace
{

struct Case
{
    TensorShape m_Data;
    unsigned int m_Groups;
    unsigned int m_GroupOutputs;
    unsigned int m_Height = 3;
    unsigned int m_Width = 2; // Winograd's transforms have no such windows
    uint32_t m_Stride = 1;
    uint32_t m_Dilation = 1;
};

OpCase MakeOp(const Case& c)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = true;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_PadTop = d.m_PadLeft = 1;
    d.m_PadRight = 2;
    const unsigned int outputs = c.m_Groups * c.m_GroupOutputs;
    const TensorShape output({c.m_Data[0], (c.m_Data[1] + 1 - c.m_Dilation * (c.m_Height - 1) - 1) / c.m_Stride + 1,
                              (c.m_Data[2] + 3 - c.m_Dilation * (c.m_Width - 1) - 1) / c.m_Stride + 1, outputs});
    TensorInfo weights(TensorShape({outputs, c.m_Height, c.m_Width, c.m_Data[3] / c.m_Groups}), DataType::QSymmS8);
    weights.SetQuantizationDim(0);
    std::vector<float> scales;
    for (unsigned int i = 0; i < outputs; ++i)
    {
        scales.push_back(0.1f + 0.01f * static_cast<float>(i % 7));
    }
    weights.SetQuantizationScales(scales);
    TestTensor data = Random(TensorInfo(c.m_Data, DataType::Float32), 3, -1, 1);
    // Each image has a range of its own, and with it a zero point.
    auto* const values = reinterpret_cast<float*>(data.m_Bytes.data());
    const size_t count = data.m_Bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i)
    {
        const size_t image = i * c.m_Data[0] / count;
        values[i] = values[i] * static_cast<float>(1 + image) + 0.4f * static_cast<float>(image) - 0.3f;
    }
    const TestTensor stored = {weights, Random(InfoInt8(weights.GetShape(), true, 0.1f, 0), 4).m_Bytes};
    return ReferenceCase(
        c.m_Data.ToString() + " in " + std::to_string(c.m_Groups) + " groups to " + std::to_string(outputs) + " by " +
            weights.GetShape().ToString(),
        LayerType::Convolution2d, d,
        {data, Constant(stored), Constant(Random(TensorInfo(TensorShape({outputs}), DataType::Float32), 5, -1, 1))},
        TensorInfo(output, DataType::Float32));
}

void Check(const Case& c)
{
    const OpCase op = MakeOp(c);
    const bool isSmall = HasSmallGroups(c.m_Data, op.m_Inputs[1].m_Info.GetShape());
    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, isSmall ? "CpuConvolution2dGroupsHybrid" : "CpuConvolution2dHybrid"));
}

} // namespace

ISA_TEST(GemmIndirectionInt8, GroupsOfAnyNumberOfOutputs)
{
    for (unsigned int outputs = 1; outputs <= 66; ++outputs)
    {
        Check({{1, 6, 7, 24}, 3, outputs});
        Check({{1, 5, 6, 12}, 1, outputs});
    }
}

ISA_TEST(GemmIndirectionInt8, GroupsOfAnyNumberOfChannels)
{
    for (unsigned int channels = 1; channels <= 20; ++channels)
    {
        Check({{2, 6, 5, 4 * channels}, 4, 24});
        Check({{2, 6, 5, 8 * channels}, 8, 4}); // of which several share a vector
    }
}

ISA_TEST(GemmIndirectionInt8, ImagesOfAnyNumberOfWindows)
{
    for (unsigned int width = 1; width <= 30; ++width)
    {
        Check({{3, 2, width, 8}, 2, 8, 3, 1});
        Check({{2, 3, width, 16}, 2, 56});
    }
}

ISA_TEST(GemmIndirectionInt8, ManyWindows)
{
    Check({{2, 33, 21, 64}, 2, 24});
    Check({{1, 40, 40, 192}, 1, 8, 5, 4});
    Check({{3, 17, 19, 24}, 3, 40, 3, 2, 2});
    Check({{2, 17, 19, 24}, 1, 70, 1, 1, 2});
    Check({{2, 17, 19, 24}, 1, 24, 2, 2, 1, 3});
}

// Images with so many channels that points which windows at their borders lack are skipped, where a block is a whole
// image: on one thread, or where threads share columns.
ISA_TEST(GemmIndirectionInt8, BordersOfDeepImages)
{
    for (const unsigned int outputs : {8U, 17U, 40U, 64U, 200U})
    {
        Check({{2, 14, 13, 128}, 1, outputs, 3, 4});
        Check({{3, 7, 7, 132}, 1, outputs, 3, 4});
        Check({{1, 9, 20, 256}, 2, outputs, 3, 3, 1, 2});
        Check({{2, 15, 14, 128}, 1, outputs, 3, 3, 2});
        Check({{1, 5, 5, 128}, 1, outputs, 4, 5});
        Check({{1, 40, 30, 128}, 1, outputs, 3, 4}); // more rows than a block has
    }
}

// Only the pixels that windows of one point see become bytes, by a scale of all of them.
ISA_TEST(GemmIndirectionInt8, PixelsApart)
{
    for (const unsigned int channels : {3U, 15U, 16U, 64U, 100U})
    {
        for (const uint32_t stride : {2U, 3U})
        {
            for (const unsigned int size : {1U, 7U, 8U, 120U})
            {
                Convolution2dDescriptor d;
                d.m_DataLayout = DataLayout::NHWC;
                d.m_StrideX = stride;
                d.m_StrideY = stride - 1;
                OpCase op = MakeOp({{3, size, size, channels * 2}, 2, 20, 1, 1});
                const TensorShape output({3, (size - 1) / d.m_StrideY + 1, (size - 1) / d.m_StrideX + 1, 40});
                const auto& data = op.m_Inputs[0];
                auto* const values = reinterpret_cast<float*>(op.m_Inputs[0].m_Bytes.data());
                values[data.m_Bytes.size() / sizeof(float) / 3 - 1] = 9.0f; // in the last pixel of the first image
                const OpCase apart =
                    ReferenceCase(op.m_Name + ", stride " + std::to_string(stride), LayerType::Convolution2d, d,
                                  {op.m_Inputs[0], op.m_Inputs[1]}, TensorInfo(output, DataType::Float32));
                const bool isSmall = HasSmallGroups(data.m_Info.GetShape(), op.m_Inputs[1].m_Info.GetShape());
                ASSERT_NO_FATAL_FAILURE(
                    ExpectAsReference(apart, isSmall ? "CpuConvolution2dGroupsHybrid" : "CpuConvolution2dHybrid"));
            }
        }
    }
}

// What becomes bytes by vectors: halves, zeros, numbers that are none, infinities, ranges so small that their steps
// have no inverse, and so large that they have none of their own.
ISA_TEST(GemmIndirectionInt8, FloatsOfAllKinds)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
    constexpr float Largest = std::numeric_limits<float>::max();
    constexpr unsigned int Depth = 203; // three vectors of bytes and some more
    const std::vector<std::vector<float>> kinds = {
        {0.5f, -0.5f, 1.5f, 127.0f, -127.0f, 2.5f, -63.5f, 126.5f},
        {0.0f, -0.0f},
        {1.0f, NaN, -1.0f, 0.3f},
        {NaN, NaN},
        {1.0f, Infinity, -2.0f},
        {1.0f, -Infinity, NaN},
        {1e-38f, -3e-39f, 1e-45f},
        {1e-36f, -1e-37f, 0.0f},
        {Largest, -Largest, 1.0f},
        {Largest, 1e30f},
        {3.0f, 7.0f, 5.0f},
        {-3.0f, -7.0f, -5.0f},
    };
    for (const bool isAsymmetric : {false, true})
    {
        const TensorShape shape({static_cast<unsigned int>(kinds.size()), Depth});
        TestTensor data = Random(TensorInfo(shape, DataType::Float32), 3, -1, 1);
        auto* const values = reinterpret_cast<float*>(data.m_Bytes.data());
        for (size_t i = 0; i < kinds.size() * Depth; ++i)
        {
            const std::vector<float>& kind = kinds[i / Depth];
            const float value = kind[i % Depth % kind.size()];
            const bool isSubnormal = value != 0.0f && std::abs(value) < std::numeric_limits<float>::min();
            values[i] = isSubnormal && FlushesSubnormals() ? 0.0f : value;
        }
        FullyConnectedDescriptor d;
        d.m_TransposeWeightMatrix = true;
        d.m_AsymmetricQuantizeInputs = isAsymmetric;
        TensorInfo weights(TensorShape({37, Depth}), DataType::QSymmS8, 0.1f, 0);
        const TestTensor stored = {weights, Random(InfoInt8(weights.GetShape(), true, 0.1f, 0), 4).m_Bytes};
        ASSERT_NO_FATAL_FAILURE(
            ExpectAsReference(ReferenceCase(isAsymmetric ? "asymmetric" : "symmetric", LayerType::FullyConnected, d,
                                            {data, Constant(stored)}, TensorInfo({shape[0], 37}, DataType::Float32)),
                              "CpuFullyConnectedHybrid"));
    }
}

ISA_TEST(GemmIndirectionInt8, AppliesActivations)
{
    ActivationDescriptor relu;
    relu.m_Function = ActivationFunction::BoundedReLu;
    relu.m_A = 2.0f;
    for (const unsigned int outputs : {8U, 16U, 24U})
    {
        OpCase op = MakeOp({{1, 9, 8, 12}, 2, outputs});
        op.m_FusedActivation = &relu;
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuConvolution2dHybrid"));
    }
}

} // namespace tenon::test::gemm_indirection_int8_test
