// SPDX-License-Identifier: Apache-2.0
// PackedWeightsInt16: the packed layout, compared with its definition, for sizes that fill vectors and sizes that do
// not.
#include "backends/cpu/gemm/pack/PackedWeightsInt16.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test::packed_weights_int16_test
{

namespace
{

using cpu::PackedWeightsInt16;
using cpu::PanelInt16;
using cpu::RequantizeArraysInt16;
using cpu::WeightReaderInt16;
using cpu::WeightSizesInt16;

/// Keeps the packed bytes, and detects writes around them.
class KeepingStore final : public backends::PackedStore
{
public:
    std::vector<backends::PackedBlock> m_Blocks;

    backends::PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override
    {
        const auto memory = std::make_shared<GuardedBuffer>(bytes, ArenaAlignment);
        fill(memory->GetData());
        EXPECT_TRUE(memory->IsIntactAround());
        m_Blocks.emplace_back(std::shared_ptr<const std::byte>(memory, memory->GetData()), bytes);
        return m_Blocks.back();
    }
};

/// Returns weights that no packing produces, as a corrupt file might.
class ForgedStore final : public backends::PackedStore
{
public:
    backends::PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override
    {
        const bool isSums = std::exchange(m_IsFirst, false);
        return backends::MakeBlock(bytes,
                                   [&](std::byte* to)
                                   {
                                       fill(to);
                                       for (size_t i = 0; !isSums && i < bytes; i += 2)
                                       {
                                           to[i] = std::byte{0};
                                           to[i + 1] = std::byte{0x80};
                                       }
                                   });
    }

private:
    bool m_IsFirst = true;
};

struct PackingCase
{
    WeightSizesInt16 m_Sizes;
    bool m_IsTransposed = false;
    int8_t m_ZeroPoint = 0;
    size_t m_Rows = 1;
    int m_Min = -128; ///< of the weights
};

/// Weights that end at a guard page.
class StoredWeights
{
public:
    explicit StoredWeights(const PackingCase& test)
        : m_Case(test), m_Memory(test.m_Sizes.m_Columns * test.m_Sizes.m_Depth),
          m_Values(reinterpret_cast<int8_t*>(m_Memory.GetData()))
    {
        std::mt19937 engine(static_cast<unsigned int>(m_Memory.GetBytes()));
        std::uniform_int_distribution<int> values(test.m_Min, 127);
        for (size_t i = 0; i < m_Memory.GetBytes(); ++i)
        {
            m_Values[i] = static_cast<int8_t>(values(engine));
        }
    }

    const int8_t* Data() const { return m_Values; }
    int Get(size_t column, size_t k) const
    {
        const WeightSizesInt16& sizes = m_Case.m_Sizes;
        const size_t index = m_Case.m_IsTransposed ? k * sizes.m_Columns + column : column * sizes.m_Depth + k;
        return k < sizes.m_Depth ? m_Values[index] - m_Case.m_ZeroPoint : 0;
    }
    int64_t AddMagnitudes(size_t column, size_t begin, size_t end) const
    {
        int64_t sum = 0;
        for (size_t k = begin; k < end; ++k)
        {
            sum += std::abs(Get(column, k));
        }
        return sum;
    }

private:
    const PackingCase& m_Case;
    GuardedBuffer m_Memory;
    int8_t* m_Values;
};

/// The pair of a padded column, packed as int8 or int16.
std::pair<int, int> GetPair(const PackedWeightsInt16& packed, const std::byte* group, size_t place)
{
    if (packed.IsInt8())
    {
        int8_t pair[2];
        std::memcpy(pair, group + place * sizeof(pair), sizeof(pair));
        return {pair[0], pair[1]};
    }
    int16_t pair[2];
    std::memcpy(pair, group + place * sizeof(pair), sizeof(pair));
    return {pair[0], pair[1]};
}

void ExpectPairs(const PackedWeightsInt16& packed, const PanelInt16& panel, const StoredWeights& weights)
{
    const size_t lanes = packed.GetMicrokernels().m_Lanes;
    const size_t width = panel.m_Vectors * lanes;
    for (size_t g = 0; g < packed.GetGroups(); ++g)
    {
        std::vector<std::pair<int, int>> expected(width);
        std::vector<std::pair<int, int>> found(width);
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            expected[cpu::GetPaddedColumnInt16(c, panel.m_Vectors, lanes)] = {
                weights.Get(panel.m_Column + c, 2 * g), weights.Get(panel.m_Column + c, 2 * g + 1)};
        }
        for (size_t place = 0; place < width; ++place)
        {
            found[place] = GetPair(packed, packed.GetData(panel, g), place);
        }
        ASSERT_EQ(found, expected) << "column " << panel.m_Column << ", group " << g;
    }
}

/// Each slice ends before the first group that exceeds the limit of one of the columns.
void ExpectSlices(const PackedWeightsInt16& packed, const PanelInt16& panel, const StoredWeights& weights)
{
    const auto fits = [&](size_t begin, size_t end)
    {
        for (size_t c = 0; c < panel.m_Columns; ++c)
        {
            if (weights.AddMagnitudes(panel.m_Column + c, 2 * begin, 2 * end) > RequantizeArraysInt16::MaxMagnitude)
            {
                return false;
            }
        }
        return true;
    };
    size_t begin = 0;
    for (const size_t end : packed.GetSlices(panel))
    {
        EXPECT_TRUE(fits(begin, end)) << begin << " to " << end;
        EXPECT_TRUE(end == packed.GetGroups() || !fits(begin, end + 1)) << begin << " to " << end;
        begin = end;
    }
    EXPECT_EQ(begin, packed.GetGroups());
}

void ExpectAsStored(const PackingCase& test)
{
    const WeightSizesInt16& sizes = test.m_Sizes;
    SCOPED_TRACE(std::to_string(sizes.m_Groups) + " groups, " + std::to_string(sizes.m_Columns) + " columns, depth " +
                 std::to_string(sizes.m_Depth) + ", transposed " + std::to_string(test.m_IsTransposed) +
                 ", zero point " + std::to_string(test.m_ZeroPoint) + ", rows " + std::to_string(test.m_Rows));
    const StoredWeights values(test);
    WeightReaderInt16 weights(values.Data(), 1e-9);
    weights.m_ZeroPoint = test.m_ZeroPoint;
    weights.m_Rounding = cpu::RoundingInt16::Double;
    KeepingStore store;
    const PackedWeightsInt16 packed(weights, sizes, test.m_Rows, store, test.m_IsTransposed);
    ASSERT_TRUE(packed.IsExact());
    ASSERT_EQ(packed.IsInt8(), test.m_Rows == 1 && test.m_ZeroPoint == 0);
    ASSERT_EQ(packed.GetGroups(), (sizes.m_Depth + 1) / 2);
    ASSERT_EQ(store.m_Blocks.size(), 2U);
    for (size_t c = 0; c < sizes.m_Columns; ++c)
    {
        ASSERT_EQ(store.m_Blocks[0].As<int64_t>()[c], values.AddMagnitudes(c, 0, sizes.m_Depth)) << "column " << c;
    }
    for (const PanelInt16& panel : packed.GetPanels())
    {
        ASSERT_NO_FATAL_FAILURE(ExpectPairs(packed, panel, values));
        ExpectSlices(packed, panel, values);
    }
}

} // namespace

ISA_TEST(PackedWeightsInt16, SizesOfAllKinds)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (const size_t columns : {1U, 4U, 7U, 8U, 9U, 16U, 17U, 31U, 33U, 48U, 64U, 65U, 81U, 144U})
    {
        for (const size_t depth : {1U, 2U, 3U, 15U, 16U, 17U, 30U, 33U, 64U, 257U, 271U, 512U})
        {
            for (const bool isTransposed : {false, true})
            {
                for (const int zeroPoint : {0, 127, -128})
                {
                    for (const size_t rows : {1U, 100U})
                    {
                        ExpectAsStored({{1, columns, depth}, isTransposed, static_cast<int8_t>(zeroPoint), rows});
                    }
                }
            }
        }
    }
}

ISA_TEST(PackedWeightsInt16, GroupsOfColumns)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (const size_t columns : {1U, 5U, 24U})
    {
        for (const size_t rows : {1U, 100U})
        {
            ExpectAsStored({{3, 3 * columns, 27}, false, 0, rows});
        }
    }
}

// Depths of several slices, up to the largest magnitudes.
ISA_TEST(PackedWeightsInt16, DepthsOfSeveralSlices)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (const size_t columns : {1U, 19U, 70U})
    {
        for (const bool isTransposed : {false, true})
        {
            for (const int least : {-128, 127})
            {
                for (const size_t rows : {1U, 100U})
                {
                    ExpectAsStored({{1, columns, 2101}, isTransposed, 0, rows, least});
                    ExpectAsStored({{1, columns, 2101}, isTransposed, -128, rows, least});
                }
            }
        }
    }
}

// Slices of pairs that exceed the limit by themselves.
ISA_TEST(PackedWeightsInt16, SlicesOfWeightsThatCannotBe)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    const PackingCase test{{1, 19, 2101}, false, -128, 100, 127};
    const StoredWeights values(test);
    WeightReaderInt16 weights(values.Data(), 1e-9);
    weights.m_ZeroPoint = test.m_ZeroPoint;
    ForgedStore store;
    const PackedWeightsInt16 packed(weights, test.m_Sizes, test.m_Rows, store);
    for (const PanelInt16& panel : packed.GetPanels())
    {
        size_t begin = 0;
        for (const size_t end : packed.GetSlices(panel))
        {
            EXPECT_GT(end, begin);
            begin = end;
        }
        EXPECT_EQ(begin, packed.GetGroups());
    }
}

} // namespace tenon::test::packed_weights_int16_test
