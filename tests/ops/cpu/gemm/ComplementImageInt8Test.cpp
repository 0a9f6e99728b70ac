// SPDX-License-Identifier: Apache-2.0
// Windows copied out of an image of windows of eight channels, beside those of windows that were copied as bytes.
#include "backends/cpu/gemm/pack/ComplementImageInt8.hpp"

#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaTest.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::complement_image_int8_test
{

namespace
{

using cpu::Im2col;

struct Shape
{
    size_t m_Input;
    size_t m_Kernel;
    int64_t m_Stride;
    int64_t m_Dilation;
    int64_t m_Pad; ///< negative: the first pixels are not seen
    int64_t m_PadEnd;
};

ref::WindowAxis MakeAxis(const Shape& shape)
{
    const auto extent = static_cast<int64_t>(shape.m_Kernel - 1) * shape.m_Dilation + 1;
    const int64_t room = static_cast<int64_t>(shape.m_Input) + shape.m_Pad + shape.m_PadEnd - extent;
    const auto output = static_cast<size_t>(room / shape.m_Stride + 1);
    return {shape.m_Input, output, shape.m_Kernel, shape.m_Stride, shape.m_Dilation, shape.m_Pad};
}

constexpr size_t Images = 2;
constexpr uint8_t Padding = 0xF3;

/// All blocks of so many pixels, of each group of channels.
void CheckBlocks(const Im2col& windows, size_t blockRows)
{
    const cpu::ComplementImageInt8 image(windows, blockRows);
    ASSERT_TRUE(image.IsUsed());
    const auto channels = static_cast<size_t>(windows.m_Channels);
    const auto groupChannels = static_cast<size_t>(windows.m_GroupChannels);
    const size_t pixels = Images * static_cast<size_t>(windows.m_OutputHeight * windows.m_OutputWidth);
    const GuardedBuffer input(Images * static_cast<size_t>(windows.m_InputHeight * windows.m_InputWidth) * channels);
    std::mt19937 random(7);
    for (size_t i = 0; i < input.GetBytes(); ++i)
    {
        input.GetData()[i] = static_cast<std::byte>(random());
    }
    const auto* const values = reinterpret_cast<const uint8_t*>(input.GetData());
    const size_t depth = windows.GetDepth();
    for (size_t first = 0; first < pixels;)
    {
        const size_t last = image.GetBlockEnd(first, std::min(first + blockRows, pixels));
        const GuardedBuffer rows(image.GetBytes());
        image.Make(cpu::GetMicrokernelsInt8(), values, first, last, Padding,
                   reinterpret_cast<uint8_t*>(rows.GetData()));
        ASSERT_TRUE(rows.IsIntactAround());
        const size_t count = last - first;
        for (size_t channel = 0; channel < channels; channel += groupChannels)
        {
            std::vector<uint8_t> bytes(count * depth);
            windows.Copy<uint8_t>(values + channel, first, last, Padding, depth, bytes.data());
            std::vector<uint8_t> want(2 * bytes.size());
            cpu::GetMicrokernelsInt8().m_MakeComplementBlocks(bytes.data(), bytes.size(), want.data());
            const GuardedBuffer got(want.size() + Im2col::ShortRowBytes);
            image.Copy(reinterpret_cast<const uint8_t*>(rows.GetData()), channel, first, last, 2 * depth,
                       reinterpret_cast<uint8_t*>(got.GetData()));
            ASSERT_TRUE(got.IsIntactAround());
            ASSERT_EQ(std::memcmp(got.GetData(), want.data(), want.size()), 0)
                << "pixels " << first << " to " << last << ", channel " << channel;
        }
        first = last;
    }
}

} // namespace

ISA_TEST(ComplementImageInt8, WindowsOfAllKindsOfImages)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    // Padding on both sides, none, more than the image has pixels; strides, dilations; pixels that no window sees.
    const Shape shapes[] = {{7, 3, 1, 1, 1, 1},  {9, 3, 2, 1, 0, 1},  {5, 2, 1, 1, -1, 0}, {4, 5, 1, 1, 6, 2},
                            {11, 3, 1, 3, 3, 3}, {8, 4, 2, 1, 1, -1}, {1, 3, 1, 1, 1, 1}};
    for (const Shape& y : shapes)
    {
        for (const Shape& x : shapes)
        {
            for (const auto& [channels, groupChannels] : {std::pair<size_t, size_t>{8, 8}, {24, 24}, {48, 16}})
            {
                const Im2col windows = cpu::MakeAxisIm2col(MakeAxis(y), MakeAxis(x), channels, groupChannels);
                for (const size_t blockRows : {1U, 5U, 8U, 1000U})
                {
                    SCOPED_TRACE(std::to_string(y.m_Input) + " x " + std::to_string(x.m_Input) + ", " +
                                 std::to_string(channels) + " channels, blocks of " + std::to_string(blockRows));
                    ASSERT_NO_FATAL_FAILURE(CheckBlocks(windows, blockRows));
                }
            }
        }
    }
}

// Channels that are no whole windows; windows that share too little; rows that no cache holds.
ISA_TEST(ComplementImageInt8, NotWhereCopiesAreFaster)
{
    const auto isUsed = [](const Shape& shape, size_t channels, size_t groupChannels)
    {
        const ref::WindowAxis axis = MakeAxis(shape);
        return cpu::ComplementImageInt8(cpu::MakeAxisIm2col(axis, axis, channels, groupChannels), 64).IsUsed();
    };
    EXPECT_TRUE(isUsed({8, 3, 1, 1, 1, 1}, 16, 16));
    EXPECT_TRUE(isUsed({8, 3, 2, 1, 1, 1}, 16, 8));
    EXPECT_FALSE(isUsed({8, 3, 1, 1, 1, 1}, 12, 12));
    EXPECT_FALSE(isUsed({8, 3, 1, 1, 1, 1}, 16, 4));
    EXPECT_FALSE(isUsed({8, 1, 1, 1, 1, 1}, 16, 16));
    EXPECT_FALSE(isUsed({8, 2, 2, 1, 1, 1}, 16, 16));
    EXPECT_FALSE(isUsed({3000, 3, 1, 1000, 1000, 1000}, 8, 8));
}

} // namespace tenon::test::complement_image_int8_test
