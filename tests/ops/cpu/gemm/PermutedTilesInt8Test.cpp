// SPDX-License-Identifier: Apache-2.0
// Products of bytes by permuted weights: the tiles beside plain sums, and whole layers beside CpuRef.
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"
#include "harness/GuardedBuffer.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <random>

namespace tenon::test::permuted_tiles_int8_test
{

namespace
{

using cpu::MicrokernelSetInt8;
using cpu::MicrokernelsInt8;

/// int8, [columns][depth], of which so many of a hundred are as large as they can be, most of them of one sign; the
/// others are below `small`. No eight beside each other have -128 more than twice.
std::vector<uint8_t> MakeWeights(std::mt19937& random, size_t columns, size_t depth, uint32_t percent, int32_t small)
{
    std::vector<uint8_t> weights(columns * depth);
    for (size_t i = 0; i < weights.size(); ++i)
    {
        const auto any = static_cast<int32_t>(random() % static_cast<uint32_t>(2 * small + 1)) - small;
        weights[i] = static_cast<uint8_t>(random() % 100 < percent ? (random() % 8 == 0 ? -128 : 127) : any);
        const size_t k = i % depth;
        const auto begin = weights.begin() + static_cast<ptrdiff_t>(i - k % 8);
        if (std::count(begin, weights.begin() + static_cast<ptrdiff_t>(i + 1), 0x80) > 2)
        {
            weights[i] = 0x81;
        }
    }
    return weights;
}

/// Steps of each kind that there were.
struct Kinds
{
    size_t m_Paired = 0;
    size_t m_Single = 0;
};

/// Data at an end, at the other one, or any.
void CheckTile(size_t vectors, size_t rows, size_t columns, size_t depth, const std::vector<uint8_t>& weights,
               size_t choice, Kinds& kinds)
{
    const MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    const MicrokernelSetInt8& tiles = microkernels.Get(cpu::KernelRoleInt8::Permuted);
    const size_t lanes = microkernels.m_Lanes;
    const size_t numSteps = cpu::GetNumPermutedSteps(depth);
    const size_t rowBytes = numSteps * cpu::ComplementBlockBytes;
    const size_t width = vectors * lanes;
    const cpu::PermutedWeightsInt8 permuted(depth, lanes);
    const cpu::PanelInt8 panel = {0, columns, vectors, 0};
    const GuardedBuffer packed(permuted.GetPanelBytes(panel), 64);
    permuted.Pack(panel, weights.data(), packed.GetData());
    EXPECT_TRUE(packed.IsIntactAround());
    EXPECT_TRUE(permuted.IsPanel(panel, packed.GetData()));
    const auto& header = *reinterpret_cast<const cpu::PermutedHeader*>(packed.GetData());
    kinds.m_Paired += header.m_NumPairedSteps;
    kinds.m_Single += numSteps - header.m_NumPairedSteps;
    std::mt19937 random(static_cast<uint32_t>(depth));
    std::vector<uint8_t> stored(rows * rowBytes / 2);
    for (uint8_t& byte : stored)
    {
        byte = static_cast<uint8_t>(choice == 0 ? random() : choice == 1 ? 0x80 : 0x7F);
    }
    const GuardedBuffer data(rows * rowBytes);
    microkernels.m_MakeComplementBlocks(stored.data(), stored.size(), reinterpret_cast<uint8_t*>(data.GetData()));
    EXPECT_TRUE(data.IsIntactAround());
    const GuardedBuffer bias(width * sizeof(int32_t), lanes * sizeof(int32_t));
    std::memset(bias.GetData(), 3, width * sizeof(int32_t));
    const GuardedBuffer out(rows * width * sizeof(int32_t), lanes * sizeof(int32_t));
    const auto* sums = reinterpret_cast<const int32_t*>(out.GetData());
    tiles.m_Tiles[vectors][rows](data.GetData(), rowBytes, packed.GetData(), rowBytes / 4,
                                 reinterpret_cast<const int32_t*>(bias.GetData()),
                                 reinterpret_cast<int32_t*>(out.GetData()));
    EXPECT_TRUE(out.IsIntactAround());
    for (size_t r = 0; r < rows; ++r)
    {
        for (size_t c = 0; c < width; ++c)
        {
            int32_t want = 0x03030303;
            for (size_t k = 0; c < columns && k < depth; ++k)
            {
                want += (stored[r * rowBytes / 2 + k] ^ 0x80) * static_cast<int8_t>(weights[c * depth + k]);
            }
            ASSERT_EQ(sums[r * width + c], want) << "row " << r << ", column " << c;
        }
    }
}

} // namespace

// Steps of both kinds; panels with columns that there are not, depths whose last window is not full.
ISA_TEST(PermutedTilesInt8, AllSumsOfProducts)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    std::mt19937 random(3);
    Kinds kinds;
    for (size_t vectors = 1; vectors <= microkernels.Get(cpu::KernelRoleInt8::Permuted).m_Vectors; ++vectors)
    {
        for (size_t rows = 1; rows <= microkernels.Get(cpu::KernelRoleInt8::Permuted).m_Rows[vectors]; ++rows)
        {
            for (const size_t depth : {33U, 49U, 53U, 58U, 63U, 64U, 140U})
            {
                for (const uint32_t percent : {0U, 3U, 40U, 100U})
                {
                    const size_t columns = vectors * microkernels.m_Lanes - random() % 3;
                    const int32_t small = random() % 2 == 0 ? 20 : 100;
                    const std::vector<uint8_t> weights = MakeWeights(random, columns, depth, percent, small);
                    SCOPED_TRACE(std::to_string(vectors) + " vectors, " + std::to_string(rows) + " rows, depth " +
                                 std::to_string(depth) + ", " + std::to_string(percent) + " % large");
                    for (size_t choice = 0; choice < 3; ++choice)
                    {
                        ASSERT_NO_FATAL_FAILURE(CheckTile(vectors, rows, columns, depth, weights, choice, kinds));
                    }
                }
            }
        }
    }
    EXPECT_GT(kinds.m_Paired, 100U);
    EXPECT_GT(kinds.m_Single, 100U);
}

// Windows of any number of eights, whole vectors or not.
ISA_TEST(PermutedTilesInt8, BlocksHaveBytesAndComplements)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (size_t count = 0; count <= 136; count += 8)
    {
        const GuardedBuffer bytes(count);
        const GuardedBuffer windows(2 * count);
        for (size_t i = 0; i < count; ++i)
        {
            bytes.GetData()[i] = static_cast<std::byte>(37 * i + count);
        }
        cpu::GetMicrokernelsInt8().m_MakeComplementBlocks(reinterpret_cast<const uint8_t*>(bytes.GetData()), count,
                                                          reinterpret_cast<uint8_t*>(windows.GetData()));
        EXPECT_TRUE(windows.IsIntactAround());
        for (size_t i = 0; i < count; ++i)
        {
            const int number = static_cast<int8_t>(bytes.GetData()[i]) + 128;
            const std::byte* const window = windows.GetData() + i / 8 * 16 + i % 8;
            ASSERT_EQ(static_cast<int>(window[0]), number) << i << " of " << count;
            ASSERT_EQ(static_cast<int>(window[8]), 255 - number) << i << " of " << count;
        }
    }
}

// Weights with a scale for each channel, of all kinds of layers that have them.
ISA_TEST(PermutedTilesInt8, LayersAsReference)
{
    std::mt19937 random(11);
    for (const unsigned int depth : {36U, 55U, 72U, 200U})
    {
        const unsigned int columns = 5 + depth % 40;
        const std::vector<uint8_t> bytes = MakeWeights(random, columns, depth, 2, 60);
        const TestTensor stored = StoreBytes(
            TensorInfo(TensorShape({columns, depth}), DataType::QSymmS8, std::vector<float>(columns, 0.1f), 0U), bytes);
        for (const int32_t zeroPoint : {-128, 0, 127})
        {
            for (const unsigned int rows : {66U, 131U})
            {
                const std::string name = std::to_string(rows) + " x " + std::to_string(depth);
                ExpectConnectedAsReference(name, Random(InfoInt8({rows, depth}, true, 0.1f, zeroPoint), rows), stored,
                                           1.0f);
                ExpectHybridAsReference(name, rows, stored);
            }
            // Windows of 3 x 3 pixels with padding, and pixels in place.
            for (const unsigned int window : {1U, 3U})
            {
                Convolution2dDescriptor c;
                c.m_DataLayout = DataLayout::NHWC;
                c.m_PadLeft = c.m_PadTop = c.m_PadRight = c.m_PadBottom = window / 2;
                c.m_StrideX = c.m_StrideY = 1;
                const unsigned int channels = window == 1 ? depth : depth / 9;
                const unsigned int taken = window * window * channels;
                TestTensor weights = {TensorInfo(TensorShape({columns, window, window, channels}), DataType::QSymmS8,
                                                 std::vector<float>(columns, 0.1f), 0U),
                                      {stored.m_Bytes.begin(), stored.m_Bytes.begin() + columns * taken}};
                ExpectAsReference(
                    ReferenceCase("window " + std::to_string(window) + ", depth " + std::to_string(depth),
                                  LayerType::Convolution2d, c,
                                  {Random(InfoInt8({2, 5, 7, channels}, true, 0.1f, zeroPoint), 3), Constant(weights)},
                                  InfoInt8({2, 5, 7, columns}, true, 1.0f, 5)),
                    "CpuConvolution2dInt8");
            }
        }
    }
}

} // namespace tenon::test::permuted_tiles_int8_test
