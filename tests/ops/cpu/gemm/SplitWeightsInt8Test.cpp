// SPDX-License-Identifier: Apache-2.0
// Packing of split weights: which ones are split at all, how much memory they take, and files that cannot be.
#include "harness/IsaTest.hpp"
#include "ops/cpu/gemm/PackingCasesInt8.hpp"
#include "ops/cpu/gemm/SplitCasesInt8.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace tenon::test::split_weights_int8_test
{

namespace
{

using cpu::PackedWeightsInt8;
using cpu::WeightLayoutInt8;

} // namespace

// Few large weights are split, and many are not.
ISA_TEST(SplitWeightsInt8, WeightsThatAreSplit)
{
    if (!HasSplits())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    for (const bool isSigned : {false, true})
    {
        const TensorInfo data = InfoInt8({8, 64}, isSigned, 0.1f, 3);
        const TensorInfo weights = InfoInt8({40, 64}, isSigned, 0.1f, isSigned ? 0 : 130);
        const TensorInfo output = InfoInt8({8, 40}, isSigned, 1.0f, 0);
        for (const size_t oneOf : {3000U, 2U})
        {
            backends::FillingStore store;
            const auto bytes = MakeSplitWeights(40 * 64, isSigned, weights.GetQuantizationOffset(), 30, oneOf);
            const auto packed = Packing(data, weights, bytes, output).Pack(store);
            ASSERT_TRUE(packed->IsExact());
            EXPECT_EQ(packed->GetTiles().m_Layout == WeightLayoutInt8::Split, oneOf == 3000U);
        }
    }
}

// One weight in so many that the terms are just as many as are worth while, and a few more; what is packed is never
// more than was said, nor are terms that are worth nothing taken.
ISA_TEST(SplitWeightsInt8, PackedWeightsTakeNoMoreThanIsSaid)
{
    if (!HasSplits())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 400; // of 100 groups
    for (const unsigned int columns : {1U, 16U, 19U, 40U})
    {
        for (const unsigned int large : {0U, 24U, 25U, 26U, 60U})
        {
            std::vector<uint8_t> bytes(size_t{columns} * Depth, 10);
            for (size_t i = 0; i < bytes.size(); ++i)
            {
                bytes[i] = i % Depth < 4 * large && i % 4 == 0 ? 200 : 10; // two terms
            }
            backends::FillingStore store;
            const auto packed =
                Packing(InfoInt8({8, Depth}, false, 0.1f, 3), InfoInt8({columns, Depth}, false, 0.1f, 0), bytes,
                        InfoInt8({8, columns}, false, 1.0f, 0))
                    .Pack(store);
            ASSERT_TRUE(packed->IsExact());
            EXPECT_EQ(packed->GetTiles().m_Layout == WeightLayoutInt8::Split, large <= 25) << large << " of 100 groups";
            if (packed->GetTiles().m_Layout == WeightLayoutInt8::Split)
            {
                const cpu::PanelInt8& last = packed->GetPanels().back();
                const size_t used =
                    last.m_Offset +
                    cpu::GetSplitPanelBytes(last.m_Vectors * cpu::GetMicrokernelsInt8().m_Lanes, 100 + large);
                EXPECT_LE(used, PackedWeightsInt8::GetPackedBytes(columns, Depth));
            }
        }
    }
}

// A file of packed weights whose checksums hold may still have numbers that cannot be: it is refused.
ISA_TEST(SplitWeightsInt8, PanelsThatCannotBeReadAreRefused)
{
    if (!HasSplits())
    {
        ISA_SKIP() << "other tiles are used on this processor";
    }
    constexpr unsigned int Depth = 64;
    const auto columns = static_cast<unsigned int>(6 * cpu::GetMicrokernelsInt8().m_Lanes); // three panels
    const Packing packing(InfoInt8({8, Depth}, false, 0.1f, 3), InfoInt8({columns, Depth}, false, 0.1f, 130),
                          MakeSplitWeights(size_t{columns} * Depth, false, 130, 30, 3000),
                          InfoInt8({8, columns}, false, 1.0f, 0));
    ForgedStore whole;
    const auto packed = packing.Pack(whole);
    ASSERT_EQ(packed->GetTiles().m_Layout, WeightLayoutInt8::Split);
    ASSERT_EQ(packed->GetPanels().size(), 3U);
    const auto forge = [&whole](auto change)
    {
        ForgedStore forged = whole;
        forged.m_IsRecording = false;
        change(forged);
        return forged;
    };
    for (const cpu::PanelInt8& panel : packed->GetPanels())
    {
        for (const size_t at : {offsetof(cpu::SplitHeader, m_NumTerms), offsetof(cpu::SplitHeader, m_NumTermPairs),
                                sizeof(cpu::SplitHeader) + 4})
        {
            ForgedStore forged =
                forge([&](ForgedStore& store) { store.m_Blocks.back()[panel.m_Offset + at] = std::byte{200}; });
            EXPECT_THROW(packing.Pack(forged), ParseException) << at << " of the panel at " << panel.m_Offset;
        }
    }
    // Counts that cannot be: other tiles are taken, for which the file has blocks of other sizes.
    for (const uint32_t count : {0U, 15U, 100U, 0x7FFFFFFFU, 0xFFFFFFFFU})
    {
        ForgedStore forged = forge(
            [&](ForgedStore& store)
            {
                std::memcpy(store.m_Blocks.front().data() + sizeof(count), &count, sizeof(count));
                store.m_Blocks.back().resize(size_t{columns} * Depth * 2);
            });
        EXPECT_NE(packing.Pack(forged)->GetTiles().m_Layout, WeightLayoutInt8::Split) << count;
    }
    // Others that can be, but are not those of the weights, which are packed: where some blocks are missing.
    ForgedStore counts = forge(
        [](ForgedStore& store)
        {
            std::byte& count = store.m_Blocks.front()[0];
            count = static_cast<std::byte>(std::to_integer<int>(count) + 1);
            store.m_FillsLast = true;
        });
    EXPECT_THROW(packing.Pack(counts), ParseException);
}

} // namespace tenon::test::split_weights_int8_test
