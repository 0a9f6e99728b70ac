// SPDX-License-Identifier: Apache-2.0
// Convolution2d of CpuAcc in groups of channels, all types, against CpuRef.
#include "ops/cpu/conv/SmallGroups.hpp"
#include "ops/cpu/conv/WeightedSumKinds.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <cstring>
#include <iterator>
#include <limits>
#include <random>

namespace tenon::test::convolution2d_groups_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Data;
    TensorShape m_Weights; ///< [O, H, W, channels of a group]
    uint32_t m_Stride = 1;
    uint32_t m_Pad = 0;
    uint32_t m_Dilation = 1;
};

const Case Cases[] = {
    {"pixels of three groups", {1, 9, 8, 60}, {60, 1, 1, 20}},
    {"pixels of two groups of whole vectors", {2, 5, 5, 64}, {64, 1, 1, 32}},
    {"pixels of groups of odd sizes", {1, 5, 7, 21}, {15, 1, 1, 7}},
    {"3x3 of four groups", {1, 10, 9, 48}, {48, 3, 3, 12}, 1, 1},
    {"3x3 of groups of four", {1, 12, 11, 64}, {64, 3, 3, 4}, 1, 1},
    {"3x3 of groups of four, stride 2", {2, 11, 12, 48}, {48, 3, 3, 4}, 2, 1},
    {"3x3 of groups of two", {1, 7, 9, 26}, {26, 3, 3, 2}, 1, 1},
    {"narrow images of groups of four", {2, 5, 3, 20}, {20, 3, 3, 4}, 1, 1},
    {"dilated windows of groups of four", {1, 14, 13, 40}, {40, 3, 2, 4}, 1, 2, 2},
    {"pixels of groups of four", {1, 6, 7, 12}, {12, 1, 1, 4}},
    {"pixels of two groups of two", {1, 3, 3, 4}, {30, 1, 1, 2}},
    {"many pixels of two groups of two", {1, 64, 64, 4}, {30, 1, 1, 2}},
    {"pixels of three groups of one", {1, 40, 41, 3}, {6, 1, 1, 1}},
    {"groups with one output", {1, 6, 7, 24}, {8, 3, 3, 3}, 1, 1},
    {"groups with two outputs of six", {1, 6, 7, 36}, {12, 2, 3, 6}},
    {"dilated windows of groups of eight", {1, 14, 13, 40}, {40, 3, 3, 8}, 1, 2, 2},
    {"many groups of eight", {1, 7, 9, 72}, {72, 3, 2, 8}, 1, 1},
    {"two groups of eight", {2, 4, 5, 16}, {16, 2, 3, 8}, 2, 1},
    {"many groups of two", {1, 7, 9, 70}, {70, 3, 3, 2}, 2, 1},
    {"large windows of groups of eight", {1, 9, 9, 32}, {32, 8, 8, 8}, 1, 3},
    {"larger windows of groups of eight", {1, 20, 30, 32}, {32, 19, 28, 8}, 1, 1},
    {"rows of blocks, some of padding alone", {2, 40, 33, 64}, {64, 3, 3, 4}, 1, 3},
    {"one row of an image", {1, 1, 300, 36}, {36, 1, 5, 4}, 1, 0},
    {"one column of an image", {2, 300, 1, 36}, {36, 5, 1, 4}, 1, 0},
    {"groups of more outputs than channels", {1, 8, 8, 6}, {54, 3, 3, 2}, 1, 1},
};

Convolution2dDescriptor Describe(const Case& c)
{
    Convolution2dDescriptor d;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_PadTop = d.m_PadBottom = d.m_PadLeft = d.m_PadRight = c.m_Pad;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_BiasEnabled = true;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

OpCase MakeOp(const Case& c, const SumKind& kind)
{
    const auto count = [&c](unsigned int size, unsigned int window)
    { return (size + 2 * c.m_Pad - c.m_Dilation * (window - 1) - 1) / c.m_Stride + 1; };
    const TensorShape output(
        {c.m_Data[0], count(c.m_Data[1], c.m_Weights[1]), count(c.m_Data[2], c.m_Weights[2]), c.m_Weights[0]});
    return MakeSumCase(c.m_Name, kind, LayerType::Convolution2d, Describe(c), c.m_Data, c.m_Weights, output, 7);
}

std::string GetKernel(const Case& c, const SumKind& kind)
{
    const bool isFloat = kind.m_Weights == DataType::Float32;
    const unsigned int maxDepth = kind.m_Data == DataType::QSymmS16 ? 65535 / 128 : 4096;
    const bool isSmall =
        isFloat ? HasSmallGroupsF32(c.m_Data, c.m_Weights) : HasSmallGroups(c.m_Data, c.m_Weights, maxDepth);
    return std::string("CpuConvolution2d") + (isSmall ? "Groups" : "") + kind.m_Kernel;
}

} // namespace

ISA_TEST(Convolution2dGroups, AllTypes)
{
    for (const SumKind& kind : SumKinds)
    {
        for (const Case& c : Cases)
        {
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, kind), GetKernel(c, kind), kind.m_OfLargest));
        }
    }
}

ISA_TEST(Convolution2dGroups, RandomSizes)
{
    std::mt19937 random(5);
    const auto pick = [&random](unsigned int least, unsigned int most)
    { return std::uniform_int_distribution<unsigned int>(least, most)(random); };
    for (int i = 0; i < 90; ++i)
    {
        const unsigned int groups = pick(2, 12);
        const unsigned int channels = pick(2, 9);
        Case c = {"random",
                  {pick(1, 2), pick(5, 14), pick(5, 14), groups * channels},
                  {groups * (i % 2 == 0 ? channels : pick(1, 20)), pick(1, 4), pick(1, 4), channels}};
        c.m_Stride = pick(1, 2);
        c.m_Pad = pick(0, 2);
        c.m_Dilation = c.m_Weights[1] == 4 || c.m_Weights[2] == 4 ? 1 : pick(1, 2);
        const SumKind& kind = SumKinds[static_cast<size_t>(i) % std::size(SumKinds)];
        SCOPED_TRACE("case " + std::to_string(i) + ", " + c.m_Data.ToString() + " by " + c.m_Weights.ToString());
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, kind), GetKernel(c, kind), kind.m_OfLargest));
    }
}

// Few channels: a group's depth padded to whole units may be as large as the whole depth.
ISA_TEST(Convolution2dGroups, RandomPixels)
{
    std::mt19937 random(6);
    const auto pick = [&random](unsigned int least, unsigned int most)
    { return std::uniform_int_distribution<unsigned int>(least, most)(random); };
    for (int i = 0; i < 90; ++i)
    {
        const unsigned int groups = pick(2, 6);
        const unsigned int channels = pick(1, 6);
        const Case c = {"random",
                        {pick(1, 2), pick(1, 50), pick(1, 50), groups * channels},
                        {groups * pick(1, 20), 1, 1, channels}};
        const SumKind& kind = SumKinds[static_cast<size_t>(i) % std::size(SumKinds)];
        SCOPED_TRACE("case " + std::to_string(i) + ", " + c.m_Data.ToString() + " by " + c.m_Weights.ToString());
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(MakeOp(c, kind), GetKernel(c, kind), kind.m_OfLargest));
    }
}

ISA_TEST(Convolution2dGroups, AppliesActivations)
{
    for (const ActivationDescriptor& activation : {ActivationDescriptor(ActivationFunction::ReLu),
                                                   ActivationDescriptor(ActivationFunction::BoundedReLu, 1e6f, 1e5f),
                                                   ActivationDescriptor(ActivationFunction::BoundedReLu, -1e5f, -1e6f)})
    {
        for (const SumKind& kind : SumKinds)
        {
            OpCase op = MakeOp(Cases[4], kind);
            op.m_FusedActivation = &activation;
            ExpectAsReference(op, GetKernel(Cases[4], kind), kind.m_OfLargest);
        }
    }
}

// An infinity reaches the outputs of its own group only.
ISA_TEST(Convolution2dGroups, InfinitiesOfOtherGroups)
{
    for (const Case& c : Cases)
    {
        OpCase op = MakeOp(c, SumKinds[0]);
        const float infinity = std::numeric_limits<float>::infinity();
        std::memcpy(op.m_Inputs[0].m_Bytes.data() + 5 * sizeof(float), &infinity, sizeof(infinity));
        ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, GetKernel(c, SumKinds[0]), 1e-5));
    }
}

} // namespace tenon::test::convolution2d_groups_test
