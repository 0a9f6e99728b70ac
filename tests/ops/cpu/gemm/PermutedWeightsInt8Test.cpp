// SPDX-License-Identifier: Apache-2.0
// Packing of permuted weights: which ones are permuted at all, of which kind their steps are, how much memory they
// take, and files that cannot be.
#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"

#include "harness/IsaTest.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace tenon::test::permuted_weights_int8_test
{

namespace
{

using cpu::PackedWeightsInt8;
using cpu::PermutedHeader;
using cpu::WeightLayoutInt8;

/// Like those of trained layers with a scale for each channel: most are small, and the largest is 127.
std::vector<uint8_t> MakeChannelWeights(size_t columns, size_t depth, double deviation)
{
    std::mt19937 random(static_cast<uint32_t>(columns * depth));
    std::normal_distribution<double> normal(0.0, deviation);
    std::vector<uint8_t> bytes(columns * depth);
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        const double value = i % depth == i / depth % depth ? 127.0 : std::clamp(normal(random), -127.0, 127.0);
        bytes[i] = static_cast<uint8_t>(static_cast<int8_t>(value));
    }
    return bytes;
}

Packing MakePacking(unsigned int columns, unsigned int depth, const std::vector<uint8_t>& bytes)
{
    return Packing(InfoInt8({8, depth}, true, 0.1f, 3), InfoInt8({columns, depth}, true, 0.1f, 0), bytes,
                   InfoInt8({8, columns}, true, 1.0f, 0));
}

} // namespace

// Any weights are permuted, whatever their sizes and signs, unless -128, which has no other sign, is among eight of
// them more than twice.
ISA_TEST(PermutedWeightsInt8, WeightsThatArePermuted)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const unsigned int columns : {1U, 16U, 17U, 19U, 24U, 40U})
    {
        for (const unsigned int depth : {32U, 33U, 48U, 50U, 56U, 60U, 64U, 1000U})
        {
            const std::vector<uint8_t> trained = MakeChannelWeights(columns, depth, 36.0);
            const std::vector<uint8_t> large(size_t{columns} * depth, 120);
            const auto withMinByte = [&large, depth](std::initializer_list<size_t> places)
            {
                std::vector<uint8_t> bytes = large;
                for (const size_t place : places)
                {
                    bytes[bytes.size() - depth + place] = 0x80; // of the last column
                }
                return bytes;
            };
            const std::pair<const char*, std::vector<uint8_t>> kinds[] = {
                {"trained", trained},
                {"large", large},
                {"one least", withMinByte({depth - size_t{1}})},
                {"two and two", withMinByte({8, 15, 16, 23})},
                {"three of eight", withMinByte({8, 11, 15})}};
            for (const auto& [kind, bytes] : kinds)
            {
                backends::FillingStore store;
                const auto packed = MakePacking(columns, depth, bytes).Pack(store, 64);
                ASSERT_TRUE(packed->IsExact());
                const WeightLayoutInt8 layout = packed->GetTiles().m_Layout;
                const bool isPermuted = layout == WeightLayoutInt8::Permuted;
                // Few columns are multiplied as signed bytes, where there are such tiles, but those that have the
                // least one.
                const bool isFew = cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::SignTransferInt8) &&
                                   columns <= 2 * cpu::GetMicrokernelsInt8().m_Lanes &&
                                   std::find(bytes.begin(), bytes.end(), uint8_t{0x80}) == bytes.end();
                const bool mayPermute = depth > 32 && bytes != kinds[4].second && !isFew;
                // A column too few may have weights that are split for less.
                EXPECT_TRUE(isPermuted == mayPermute ||
                            (bytes == trained && columns < 16 && layout == WeightLayoutInt8::Split))
                    << columns << " x " << depth << ", " << kind;
                if (isPermuted)
                {
                    const size_t steps = cpu::GetNumPermutedSteps(depth);
                    const size_t vectorBytes = cpu::GetPermutedBytes(cpu::GetMicrokernelsInt8().m_Lanes, steps);
                    const cpu::PanelInt8& last = packed->GetPanels().back();
                    EXPECT_LE(last.m_Offset + last.m_Vectors * vectorBytes,
                              PackedWeightsInt8::GetPackedBytes(columns, depth));
                }
            }
        }
    }
}

// Packing takes a while, which few rows do not make up for.
ISA_TEST(PermutedWeightsInt8, FewRowsNeedManySteps)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const unsigned int depth : {512U, 1024U})
    {
        for (const size_t rows : {4U, 5U, 15U, 16U})
        {
            backends::FillingStore store;
            const auto packed = MakePacking(24, depth, MakeChannelWeights(24, depth, 36.0)).Pack(store, rows);
            EXPECT_EQ(packed->GetTiles().m_Layout == WeightLayoutInt8::Permuted,
                      rows == 16 || (rows > 4 && depth == 1024))
                << rows << " rows, depth " << depth;
        }
    }
}

// Windows of data are not worth making for few columns, but where no other bytes take the weights.
ISA_TEST(PermutedWeightsInt8, FewColumnsAreNot)
{
    if (!HasPermuted() || !cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::SignTransferInt8))
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const auto most = static_cast<unsigned int>(2 * cpu::GetMicrokernelsInt8().m_Lanes);
    for (const unsigned int columns : {5U, most, most + 1})
    {
        for (const bool hasMinByte : {false, true})
        {
            std::vector<uint8_t> bytes(size_t{columns} * 64, 120);
            bytes.back() = hasMinByte ? 0x80 : bytes.back();
            backends::FillingStore store;
            EXPECT_EQ(MakePacking(columns, 64, bytes).Pack(store, 64)->GetTiles().m_Layout,
                      columns > most || hasMinByte ? WeightLayoutInt8::Permuted : WeightLayoutInt8::Int8x4)
                << columns << " columns";
        }
    }
}

// Almost all products of four share a sum in weights that are like those of trained layers.
ISA_TEST(PermutedWeightsInt8, MostStepsArePaired)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 512;
    backends::FillingStore store;
    const auto packed = MakePacking(64, Depth, MakeChannelWeights(64, Depth, 36.0)).Pack(store, 64);
    ASSERT_EQ(packed->GetTiles().m_Layout, WeightLayoutInt8::Permuted);
    size_t coupled = 0;
    const size_t steps = cpu::GetNumPermutedSteps(Depth);
    size_t vectors = 0;
    for (const cpu::PanelInt8& panel : packed->GetPanels())
    {
        const auto* bytes = static_cast<const std::byte*>(packed->GetData(panel));
        for (size_t v = 0; v < panel.m_Vectors; ++v, ++vectors)
        {
            const auto& header = *reinterpret_cast<const PermutedHeader*>(bytes);
            coupled += header.m_NumPairedSteps;
            bytes += cpu::GetPermutedBytes(cpu::GetMicrokernelsInt8().m_Lanes, steps);
        }
    }
    EXPECT_GE(coupled, 85 * steps * vectors / 100);
}

// A file of packed weights whose checksums hold may still have numbers that cannot be: it is refused.
ISA_TEST(PermutedWeightsInt8, PanelsThatCannotBeReadAreRefused)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 64;
    const auto columns = static_cast<unsigned int>(3 * cpu::GetMicrokernelsInt8().m_Lanes); // two panels
    const Packing packing = MakePacking(columns, Depth, MakeChannelWeights(columns, Depth, 36.0));
    ForgedStore whole;
    const auto packed = packing.Pack(whole, 64);
    ASSERT_EQ(packed->GetTiles().m_Layout, WeightLayoutInt8::Permuted);
    ASSERT_EQ(packed->GetPanels().size(), 2U);
    whole.m_IsRecording = false;
    ForgedStore same = whole;
    EXPECT_EQ(packing.Pack(same, 64)->GetTiles().m_Layout, WeightLayoutInt8::Permuted);
    const size_t vectorBytes =
        cpu::GetPermutedBytes(cpu::GetMicrokernelsInt8().m_Lanes, cpu::GetNumPermutedSteps(Depth));
    for (size_t vector = 0; vector < 3; ++vector)
    {
        // More coupled steps than the eight that there are; a window after the last one.
        for (const auto& [at, least] : {std::pair(offsetof(PermutedHeader, m_NumPairedSteps), 9U),
                                        {sizeof(PermutedHeader), 113U},
                                        {sizeof(PermutedHeader) + 7 * sizeof(uint32_t), 113U}})
        {
            for (const uint32_t number : {least, 0x7FFFFFFFU, 0xFFFFFFFFU})
            {
                ForgedStore forged = whole;
                std::memcpy(forged.m_Blocks.back().data() + vector * vectorBytes + at, &number, sizeof(number));
                EXPECT_THROW(packing.Pack(forged, 64), ParseException) << at << " of vector " << vector;
            }
        }
    }
    // What says how often -128 is among eight, by a number that is too large: for other tiles the block has another
    // size.
    for (const uint32_t number : {3U, 0xFFFFFFFFU})
    {
        ForgedStore forged = whole;
        std::memcpy((forged.m_Blocks.end() - 3)->data(), &number, sizeof(number));
        forged.m_Blocks.back().resize(size_t{columns} * Depth);
        EXPECT_NE(packing.Pack(forged, 64)->GetTiles().m_Layout, WeightLayoutInt8::Permuted) << number;
    }
}

} // namespace tenon::test::permuted_weights_int8_test
