// SPDX-License-Identifier: Apache-2.0
// Strips of float depthwise convolutions against the tiles of the same layers.
#include "backends/cpu/depthwise/float/DepthwiseStripDriverF32.hpp"

#include "backends/cpu/depthwise/float/DepthwiseDriverF32.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

namespace tenon::test::depthwise_strip_driver_f32_test
{

namespace
{

/// 3x3 windows of two images, with strides 1 and 2, with and without padding on each side.
ref::ConvolutionGeometry MakeGeometryOfThree(unsigned int i, size_t rows, size_t columns, size_t channels)
{
    const auto makeAxis = [i](size_t output, unsigned int bits) -> ref::WindowAxis
    {
        const int64_t stride = 1 + i / 16 % 2;
        const int64_t before = bits & 1;
        const int64_t behind = bits >> 1 & 1;
        return {(output - 1) * static_cast<size_t>(stride) + 3 - static_cast<size_t>(before + behind),
                output,
                3,
                stride,
                1,
                before};
    };
    ref::ConvolutionGeometry g;
    g.m_Batches = 2;
    g.m_Y = makeAxis(rows, i / 4);
    g.m_X = makeAxis(columns, i / 2);
    g.m_InputChannels = g.m_OutputChannels = g.m_Groups = channels;
    return g;
}

/// Calls body(layer, image, want, to): `want` is the output of tiles; `to` has room for as much at any offset within a
/// page, and for a vector before and behind it.
template <typename F>
void WithLayerOfThree(unsigned int i, const ref::ConvolutionGeometry& g, const F& body)
{
    const size_t channels = g.m_OutputChannels;
    std::minstd_rand random(i + 1);
    std::uniform_real_distribution<float> numbers(-1, 1);
    std::vector<float> weights(9 * channels);
    std::vector<float> bias(channels);
    const size_t inputs = g.m_Batches * g.NumImageElements();
    const size_t outputs = g.NumPixels() * channels;
    constexpr size_t Page = 1024; // floats
    AlignedMemory memory((inputs + outputs + 5 * Page) * sizeof(float));
    float* const image = reinterpret_cast<float*>(memory.Data()) + i % 3 * 4; // also not aligned to cache lines
    const auto fill = [&](float* to, size_t count) { std::generate_n(to, count, [&] { return numbers(random); }); };
    fill(weights.data(), weights.size());
    fill(bias.data(), bias.size());
    fill(image, inputs);
    backends::FillingStore store;
    const cpu::PackedDepthwiseF32 packed(weights.data(), bias, 9, store);
    const ActivationDescriptor relu6(ActivationFunction::BoundedReLu, 1.0f, -1.0f);
    const cpu::DepthwiseLayerF32<float> layer = {g, &packed, &cpu::ChooseDepthwiseTiles<float>(g),
                                                 backends::FloatClamp(i % 3 == 0 ? &relu6 : nullptr)};
    std::vector<float> want(outputs);
    const cpu::DepthwiseTileDriverF32<float> tiles(layer);
    std::vector<const float*> table(tiles.GetTableLength(layer.m_Tiles->m_Rows, layer.m_Tiles->m_Columns));
    tiles.Run(want.data(), image, 1, {0, g.m_Batches * g.m_Y.m_Output}, {}, table.data());
    body(layer, image, want, image + (inputs / Page + 2) * Page); // at the same offset from the begin of a page
}

} // namespace

// Column strips give the sums of tiles, bit for bit: from the first row of an image and from others, in images that are
// wider and higher than a strip, and for any offset between image and output.
ISA_TEST(DepthwiseFloat, StripsOfColumnsAsTiles)
{
    if (!cpu::GetCpuFeatures().m_Simd || cpu::GetDepthwiseMicrokernelsF32<float>().m_ColumnStrips[0][1] == nullptr)
    {
        ISA_SKIP() << "there are none";
    }
    for (unsigned int i = 0; i < 32; ++i)
    {
        SCOPED_TRACE(i);
        const size_t channels = i % 4 == 0 ? 1280 : i % 4 == 1 ? 512 : i % 4 == 2 ? 256 : 1024;
        const auto run = [&](const cpu::DepthwiseLayerF32<float>& layer, const float* image,
                             const std::vector<float>& want, float* to)
        {
            ASSERT_EQ(cpu::ChooseDepthwiseVariantF32(layer, false), cpu::DepthwiseVariantF32::ColumnStrips);
            ASSERT_NE(cpu::ChooseDepthwiseVariantF32(layer, true), cpu::DepthwiseVariantF32::ColumnStrips);
            const cpu::DepthwiseStripDriverF32<float> strips(layer);
            for (const size_t distance : {0, 4, 16, 256, 512, 1008, 1020})
            {
                float* const got = to + distance;
                std::fill_n(got, want.size(), std::numeric_limits<float>::quiet_NaN());
                const size_t rows = layer.m_Geometry.m_Batches * layer.m_Geometry.m_Y.m_Output;
                const size_t middle = rows * (1 + i % 3) / 4;
                strips.RunColumnStrips(got, image, {middle, rows});
                strips.RunColumnStrips(got, image, {0, middle});
                ASSERT_EQ(std::memcmp(got, want.data(), want.size() * sizeof(float)), 0) << distance;
            }
        };
        ASSERT_NO_FATAL_FAILURE(
            WithLayerOfThree(i, MakeGeometryOfThree(i, i % 5 == 0 ? 70 : 5 + i % 5, 2 + i % 9, channels), run));
    }
}

// All-channel row strips give the sums of tiles within a tolerance: single vectors and pairs, stores delayed or not,
// channels that fill no pair or no vector, one and two rows. They write nothing else.
ISA_TEST(DepthwiseFloat, WholeStripsAsTiles)
{
    if (!cpu::GetCpuFeatures().m_Simd || cpu::GetDepthwiseMicrokernelsF32<float>().m_PairStrips[0][1] == nullptr)
    {
        ISA_SKIP() << "there are none";
    }
    constexpr size_t Channels[] = {256, 5, 512, 16, 128, 24, 1024, 40, 144, 1, 32, 77, 384};
    for (unsigned int i = 0; i < 128; ++i)
    {
        SCOPED_TRACE(i);
        const size_t channels = Channels[i % std::size(Channels)];
        const auto run = [&](const cpu::DepthwiseLayerF32<float>& layer, const float* image,
                             const std::vector<float>& want, float* to)
        {
            ASSERT_EQ(cpu::ChooseDepthwiseVariantF32(layer, true), cpu::DepthwiseVariantF32::Tiles);
            const cpu::DepthwiseStripDriverF32<float> strips(layer);
            constexpr size_t Margin = 16;
            for (const size_t distance : {0, 4, 16, 256, 512, 1008, 1020})
            {
                float* const got = to + distance;
                std::fill_n(got - Margin, want.size() + 2 * Margin, std::numeric_limits<float>::quiet_NaN());
                const size_t rows = layer.m_Geometry.m_Batches * layer.m_Geometry.m_Y.m_Output;
                const size_t middle = rows * (1 + i % 3) / 4;
                strips.RunAllChannels(got, image, {middle, rows});
                strips.RunAllChannels(got, image, {0, middle});
                for (size_t k = 0; k < want.size(); ++k)
                {
                    ASSERT_NEAR(got[k], want[k], 3e-6f) << distance;
                }
                const auto isUntouched = [](float x) { return std::isnan(x); };
                ASSERT_TRUE(std::all_of(got - Margin, got, isUntouched)) << distance;
                ASSERT_TRUE(std::all_of(got + want.size(), got + want.size() + Margin, isUntouched)) << distance;
            }
        };
        const size_t columns = i % 7 == 0 ? 129 + i % 4 : i % 7 == 1 ? 30 : 2 + i % 9;
        ASSERT_NO_FATAL_FAILURE(WithLayerOfThree(i, MakeGeometryOfThree(i, 2 + i % 6, columns, channels), run));
    }
}

// The options of strips by number of channels and by offset between image and output.
ISA_TEST(DepthwiseFloat, PairsOfVectors)
{
    alignas(4096) static constexpr float memory[1024] = {};
    const auto choose = [](size_t width, size_t channels, size_t distance)
    { return cpu::ChoosePairStripOptions(MakeGeometryOfThree(6, 7, width, channels), memory, memory + distance); };
    EXPECT_FALSE(choose(56, 144, 0).m_IsPairwise);
    EXPECT_TRUE(choose(112, 32, 0).m_IsPairwise);
    EXPECT_FALSE(choose(112, 32, 0).m_DelaysStores);
    EXPECT_FALSE(choose(14, 384, 16).m_IsPairwise);
    EXPECT_TRUE(choose(14, 384, 0).m_DelaysStores);
    EXPECT_TRUE(choose(14, 512, 0).m_DelaysStores);
    EXPECT_TRUE(choose(14, 512, 511).m_DelaysStores);
    EXPECT_FALSE(choose(14, 512, 16).m_DelaysStores);
    EXPECT_TRUE(choose(14, 512, 16).m_IsReversed);
    EXPECT_FALSE(choose(14, 512, 0).m_IsReversed);
    EXPECT_FALSE(choose(14, 512, 480).m_IsReversed);
}

} // namespace tenon::test::depthwise_strip_driver_f32_test
