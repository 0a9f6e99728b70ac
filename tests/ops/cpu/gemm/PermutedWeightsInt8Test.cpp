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

namespace tenon::test::permuted_weights_test
{

namespace
{

using cpu::Layout8;
using cpu::PackedWeights8;
using cpu::PermutedHeader;

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
    return Packing(BytesInfo({8, depth}, true, 0.1f, 3), BytesInfo({columns, depth}, true, 0.1f, 0), bytes,
                   BytesInfo({8, columns}, true, 1.0f, 0));
}

} // namespace

// Any weights are permuted, whatever their sizes and signs, unless -128, which has no other sign, is among eight of
// them more than twice.
ISA_TEST(PermutedWeights, WeightsThatArePermuted)
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
            const auto withLeast = [&large, depth](std::initializer_list<size_t> places)
            {
                std::vector<uint8_t> bytes = large;
                for (const size_t place : places)
                {
                    bytes[bytes.size() - depth + place] = 0x80; // of the last column
                }
                return bytes;
            };
            const std::pair<const char*, std::vector<uint8_t>> kinds[] = {{"trained", trained},
                                                                          {"large", large},
                                                                          {"one least", withLeast({depth - size_t{1}})},
                                                                          {"two and two", withLeast({8, 15, 16, 23})},
                                                                          {"three of eight", withLeast({8, 11, 15})}};
            for (const auto& [kind, bytes] : kinds)
            {
                backends::FillingStore store;
                const auto packed = MakePacking(columns, depth, bytes).Pack(store, 64);
                ASSERT_TRUE(packed->IsExact());
                const Layout8 layout = packed->GetTiles().m_Layout;
                const bool isPermuted = layout == Layout8::Permuted;
                // Few columns are multiplied as signed bytes, where there are such tiles, but those that have the
                // least one.
                const bool areFew = cpu::GetEngine8().m_FewRows.m_Vectors != 0 &&
                                    columns <= 2 * cpu::GetEngine8().m_Lanes &&
                                    std::find(bytes.begin(), bytes.end(), uint8_t{0x80}) == bytes.end();
                const bool mayPermute = depth > 32 && bytes != kinds[4].second && !areFew;
                // A column too few may have weights that are split for less.
                EXPECT_TRUE(isPermuted == mayPermute || (bytes == trained && columns < 16 && layout == Layout8::Splits))
                    << columns << " x " << depth << ", " << kind;
                if (isPermuted)
                {
                    const size_t steps = cpu::GetNumPermutedSteps(depth);
                    const size_t vectorBytes = cpu::GetPermutedBytes(cpu::GetEngine8().m_Lanes, steps);
                    const cpu::Panel8& last = packed->GetPanels().back();
                    EXPECT_LE(last.m_Offset + last.m_Vectors * vectorBytes,
                              PackedWeights8::GetPackedBytes(columns, depth));
                }
            }
        }
    }
}

// Packing takes a while, which few rows do not make up for.
ISA_TEST(PermutedWeights, FewRowsNeedManySteps)
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
            EXPECT_EQ(packed->GetTiles().m_Layout == Layout8::Permuted, rows == 16 || (rows > 4 && depth == 1024))
                << rows << " rows, depth " << depth;
        }
    }
}

// Windows of data are not worth making for few columns, but where no other bytes take the weights.
ISA_TEST(PermutedWeights, FewColumnsAreNot)
{
    if (!HasPermuted() || cpu::GetEngine8().m_FewRows.m_Vectors == 0)
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    const auto most = static_cast<unsigned int>(2 * cpu::GetEngine8().m_Lanes);
    for (const unsigned int columns : {5U, most, most + 1})
    {
        for (const bool hasLeast : {false, true})
        {
            std::vector<uint8_t> bytes(size_t{columns} * 64, 120);
            bytes.back() = hasLeast ? 0x80 : bytes.back();
            backends::FillingStore store;
            EXPECT_EQ(MakePacking(columns, 64, bytes).Pack(store, 64)->GetTiles().m_Layout,
                      columns > most || hasLeast ? Layout8::Permuted : Layout8::Dots)
                << columns << " columns";
        }
    }
}

// Almost all products of four share a sum in weights that are like those of trained layers.
ISA_TEST(PermutedWeights, MostStepsAreCoupled)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 512;
    backends::FillingStore store;
    const auto packed = MakePacking(64, Depth, MakeChannelWeights(64, Depth, 36.0)).Pack(store, 64);
    ASSERT_EQ(packed->GetTiles().m_Layout, Layout8::Permuted);
    size_t coupled = 0;
    const size_t steps = cpu::GetNumPermutedSteps(Depth);
    size_t vectors = 0;
    for (const cpu::Panel8& panel : packed->GetPanels())
    {
        const auto* bytes = static_cast<const std::byte*>(packed->GetData(panel));
        for (size_t v = 0; v < panel.m_Vectors; ++v, ++vectors)
        {
            const auto& header = *reinterpret_cast<const PermutedHeader*>(bytes);
            coupled += header.m_NumCoupled;
            bytes += cpu::GetPermutedBytes(cpu::GetEngine8().m_Lanes, steps);
        }
    }
    EXPECT_GE(coupled, 85 * steps * vectors / 100);
}

// A file of packed weights whose checksums hold may still have numbers that cannot be: it is refused.
ISA_TEST(PermutedWeights, PanelsThatCannotBeReadAreRefused)
{
    if (!HasPermuted())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 64;
    const auto columns = static_cast<unsigned int>(3 * cpu::GetEngine8().m_Lanes); // two panels
    const Packing packing = MakePacking(columns, Depth, MakeChannelWeights(columns, Depth, 36.0));
    ForgedStore whole;
    const auto packed = packing.Pack(whole, 64);
    ASSERT_EQ(packed->GetTiles().m_Layout, Layout8::Permuted);
    ASSERT_EQ(packed->GetPanels().size(), 2U);
    whole.m_IsRecording = false;
    ForgedStore same = whole;
    EXPECT_EQ(packing.Pack(same, 64)->GetTiles().m_Layout, Layout8::Permuted);
    const size_t vectorBytes = cpu::GetPermutedBytes(cpu::GetEngine8().m_Lanes, cpu::GetNumPermutedSteps(Depth));
    for (size_t vector = 0; vector < 3; ++vector)
    {
        // More coupled steps than the eight that there are; a window after the last one.
        for (const auto& [at, least] : {std::pair(offsetof(PermutedHeader, m_NumCoupled), 9U),
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
        EXPECT_NE(packing.Pack(forged, 64)->GetTiles().m_Layout, Layout8::Permuted) << number;
    }
}

} // namespace tenon::test::permuted_weights_test
