// SPDX-License-Identifier: Apache-2.0
// Products of bytes by weights that are split into terms whose products fit 16 bits: the tiles beside plain sums, and
// whole layers beside CpuRef.
#include "backends/cpu/gemm/pack/SplitLoopsInt8.hpp"
#include "backends/cpu/gemm/pack/SplitWeightsInt8.hpp"
#include "harness/GuardedBuffer.hpp"
#include "ops/cpu/gemm/LayerCasesInt8.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <random>

namespace tenon::test::split_tiles_int8_test
{

namespace
{

using cpu::KernelRoleInt8;
using cpu::MicrokernelSetInt8;
using cpu::MicrokernelsInt8;
using cpu::SplitPanelInt8;

struct Panel
{
    size_t m_Columns;
    size_t m_Width;
    size_t m_Depth;
    bool m_IsSigned;
    int32_t m_ZeroPoint;
    std::vector<uint8_t> m_Weights; ///< [columns][depth]

    cpu::WeightFormatInt8 Describe() const { return {m_Columns, m_Depth, false, m_IsSigned, m_ZeroPoint}; }
};

/// Data at an end, at the other one, or any.
void CheckTile(const MicrokernelSetInt8& tiles, size_t vectors, size_t rows, const Panel& panel, size_t choice,
               std::mt19937& random)
{
    SplitPanelInt8 split(panel.m_Weights.data(), panel.m_Columns, panel.Describe(), cpu::GetMicrokernelsInt8());
    const size_t groups = (panel.m_Depth + 3) / 4;
    const size_t lanes = cpu::GetMicrokernelsInt8().m_Lanes;
    const size_t numTerms = split.CountTerms();
    const GuardedBuffer packed(cpu::GetSplitPanelBytes(panel.m_Width, numTerms), 64);
    split.Pack(panel.m_Width, numTerms, packed.GetData());
    EXPECT_TRUE(packed.IsIntactAround());
    EXPECT_TRUE(cpu::IsSplitPanel(packed.GetData(), groups, numTerms));
    const GuardedBuffer data(rows * groups * 4);
    for (size_t i = 0; i < rows * groups * 4; ++i)
    {
        const auto byte = static_cast<uint8_t>(choice == 0 ? random() : choice == 1 ? 0 : 255);
        data.GetData()[i] = static_cast<std::byte>(tiles.m_IsDataBiased ? byte ^ 0x80 : byte);
    }
    const GuardedBuffer bias(panel.m_Width * sizeof(int32_t), lanes * sizeof(int32_t));
    std::memset(bias.GetData(), 3, panel.m_Width * sizeof(int32_t));
    const GuardedBuffer out(rows * panel.m_Width * sizeof(int32_t), lanes * sizeof(int32_t));
    const auto* sums = reinterpret_cast<const int32_t*>(out.GetData());
    tiles.m_Tiles[vectors][rows](data.GetData(), groups * 4, packed.GetData(), groups,
                                 reinterpret_cast<const int32_t*>(bias.GetData()),
                                 reinterpret_cast<int32_t*>(out.GetData()));
    EXPECT_TRUE(out.IsIntactAround());
    for (size_t r = 0; r < rows; ++r)
    {
        for (size_t c = 0; c < panel.m_Width; ++c)
        {
            int32_t want = 0x03030303;
            for (size_t k = 0; c < panel.m_Columns && k < panel.m_Depth; ++k)
            {
                const uint8_t byte = panel.m_Weights[c * panel.m_Depth + k];
                const int32_t weight = cpu::GetValueInt8(byte, panel.m_IsSigned) - panel.m_ZeroPoint;
                const auto stored = static_cast<uint8_t>(data.GetData()[r * groups * 4 + k]);
                want += (tiles.m_IsDataBiased ? stored ^ 0x80 : stored) * weight;
            }
            ASSERT_EQ(sums[r * panel.m_Width + c], want) << "row " << r << ", column " << c;
        }
    }
}

} // namespace

// Weights of up to four terms, of one, of couples; panels with columns that there are not, depths of half groups.
ISA_TEST(SplitTilesInt8, AllSumsOfProducts)
{
    if (!HasSplits())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const MicrokernelsInt8& microkernels = cpu::GetMicrokernelsInt8();
    std::mt19937 random(3);
    const auto pick = [&random](std::initializer_list<int32_t> of) { return *(of.begin() + random() % of.size()); };
    for (const MicrokernelSetInt8* tiles :
         {&microkernels.Get(KernelRoleInt8::SplitInt8), &microkernels.Get(KernelRoleInt8::SplitUInt8)})
    {
        for (size_t vectors = 1; vectors <= tiles->m_Vectors; ++vectors)
        {
            for (size_t rows = 1; rows <= tiles->m_Rows[vectors]; ++rows)
            {
                for (int sample = 0; sample < 30; ++sample)
                {
                    const auto depth = static_cast<size_t>(pick({1, 3, 4, 5, 8, 27, 40, 121}));
                    const auto oneOf = static_cast<size_t>(pick({1, 7, 1000}));
                    const int32_t small = pick({0, 16, 60, 128, 255});
                    const bool isSigned = random() % 2 == 0;
                    const int32_t zeroPoint = pick({0, 127, 3, 100, 64}) + (isSigned ? 0 : pick({0, 128}));
                    const size_t width = vectors * microkernels.m_Lanes;
                    Panel panel = {width - random() % 3, width, depth, isSigned, zeroPoint, {}};
                    panel.m_Weights = MakeSplitWeights(panel.m_Columns * depth, isSigned, zeroPoint, small, oneOf);
                    SCOPED_TRACE(std::to_string(vectors) + " vectors, " + std::to_string(rows) + " rows, sample " +
                                 std::to_string(sample));
                    for (size_t choice = 0; choice < 3; ++choice)
                    {
                        ASSERT_NO_FATAL_FAILURE(CheckTile(*tiles, vectors, rows, panel, choice, random));
                    }
                }
            }
        }
    }
}

// No two of a couple may exceed what they share, and none that might be one may be left alone for nothing.
ISA_TEST(SplitTilesInt8, TermPairsFitInt16)
{
    if (!HasSplits())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr size_t RowBytes = 64;
    std::mt19937 random(5);
    for (const int most : {0, 20, 40, 64})
    {
        for (const size_t count : {1U, 2U, 3U, 50U})
        {
            std::vector<int8_t> terms(count * RowBytes);
            for (int8_t& weight : terms)
            {
                weight = static_cast<int8_t>(static_cast<int>(random() % static_cast<uint32_t>(2 * most + 1)) - most);
            }
            const cpu::TermOrder order =
                cpu::PairTerms(reinterpret_cast<const std::byte*>(terms.data()), count, RowBytes);
            std::vector<uint32_t> sorted = order.m_Terms;
            std::sort(sorted.begin(), sorted.end());
            ASSERT_EQ(sorted.size(), count);
            for (uint32_t t = 0; t < count; ++t)
            {
                EXPECT_EQ(sorted[t], t);
            }
            if (most <= 20)
            {
                EXPECT_EQ(order.m_NumTermPairs, count / 2); // 2 * 2 * 20 <= 128: any two
            }
            for (size_t couple = 0; couple < order.m_NumTermPairs; ++couple)
            {
                const int8_t* const first = terms.data() + order.m_Terms[2 * couple] * RowBytes;
                const int8_t* const second = terms.data() + order.m_Terms[2 * couple + 1] * RowBytes;
                for (size_t i = 0; i < RowBytes; i += 2)
                {
                    int positive = 0;
                    int negative = 0;
                    for (const int weight : {first[i], first[i + 1], second[i], second[i + 1]})
                    {
                        (weight > 0 ? positive : negative) += weight;
                    }
                    ASSERT_LE(255 * positive, 32767);
                    ASSERT_GE(255 * negative, -32768);
                }
            }
        }
    }
}

ISA_TEST(SplitTilesInt8, LayersAsReference)
{
    for (const bool isSigned : {false, true})
    {
        for (const int32_t zeroOfAll : {0, 3, 127})
        {
            const int32_t zeroPoint = isSigned ? 0 : zeroOfAll;
            for (const unsigned int depth : {4U, 7U, 24U, 150U})
            {
                const unsigned int columns = 5 + depth % 40;
                const TensorInfo weights = InfoInt8({columns, depth}, isSigned, 0.1f, zeroPoint);
                const std::vector<uint8_t> bytes = MakeSplitWeights(columns * depth, isSigned, zeroPoint, 20, 300);
                TestTensor stored = StoreBytes(weights, bytes);
                const TestTensor hybrid = {TensorInfo(weights.GetShape(), DataType::QSymmS8, 0.1f, 0), stored.m_Bytes};
                const int32_t ofData = isSigned ? -128 + zeroOfAll : zeroOfAll;
                for (const unsigned int rows : {1U, 6U, 43U})
                {
                    const std::string name = std::to_string(rows) + " x " + std::to_string(depth);
                    ExpectConnectedAsReference(name, Random(InfoInt8({rows, depth}, isSigned, 0.1f, ofData), rows),
                                               stored, 1.0f);
                    ExpectHybridAsReference(name, rows, hybrid);
                }
                Convolution2dDescriptor c;
                c.m_DataLayout = DataLayout::NHWC;
                c.m_PadLeft = c.m_PadTop = c.m_PadRight = c.m_PadBottom = 1;
                c.m_StrideX = c.m_StrideY = 1;
                stored.m_Info.SetShape({columns, 1, 1, depth});
                ExpectAsReference(
                    ReferenceCase("padded, depth " + std::to_string(depth), LayerType::Convolution2d, c,
                                  {Random(InfoInt8({2, 5, 7, depth}, isSigned, 0.1f, ofData), 3), Constant(stored)},
                                  InfoInt8({2, 7, 9, columns}, isSigned, 1.0f, 5)),
                    "CpuConvolution2dInt8");
            }
        }
    }
}

} // namespace tenon::test::split_tiles_int8_test
