// SPDX-License-Identifier: Apache-2.0
// The arena planner: no two buffers that are alive together overlap; the size is near the lower bound.
#include "runtime/MemoryPlanner.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/MemoryOptimizerStrategies.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tenon::test::memory_planner_test
{

namespace
{

void ExpectValid(const std::vector<PlannedBuffer>& buffers, size_t arena)
{
    for (size_t i = 0; i < buffers.size(); ++i)
    {
        const PlannedBuffer& a = buffers[i];
        ASSERT_EQ(a.m_Offset % ArenaAlignment, 0u);
        ASSERT_LE(a.m_Offset + a.m_Bytes, arena);
        for (size_t j = 0; j < i; ++j)
        {
            const PlannedBuffer& b = buffers[j];
            const bool together = a.m_First <= b.m_Last && b.m_First <= a.m_Last;
            const bool overlap = a.m_Offset < b.m_Offset + b.m_Bytes && b.m_Offset < a.m_Offset + a.m_Bytes;
            ASSERT_FALSE(together && overlap) << "buffers " << j << " and " << i;
        }
    }
}

std::vector<PlannedBuffer> RandomBuffers(std::mt19937& random, size_t count, uint32_t steps, uint32_t longest)
{
    std::vector<PlannedBuffer> buffers(count);
    for (PlannedBuffer& buffer : buffers)
    {
        buffer.m_Bytes = random() % 10 == 0 ? 0 : random() % 5000;
        buffer.m_First = static_cast<uint32_t>(random() % steps);
        buffer.m_Last = std::min(steps - 1, buffer.m_First + static_cast<uint32_t>(random() % longest));
    }
    return buffers;
}

} // namespace

TEST(MemoryPlanner, EmptyNeedsNothing)
{
    std::vector<PlannedBuffer> none;
    EXPECT_EQ(PlanMemory(none), 0u);
    std::vector<PlannedBuffer> zero{{0, 0, 5, 0}};
    EXPECT_EQ(PlanMemory(zero), 0u);
}

TEST(MemoryPlanner, ChainReusesTwoBuffers)
{
    std::vector<PlannedBuffer> chain;
    for (uint32_t i = 0; i < 50; ++i)
    {
        chain.push_back({6400, i, i + 1, 0});
    }
    EXPECT_EQ(PlanMemory(chain), 2u * 6400);
    ExpectValid(chain, 2 * 6400);
}

TEST(MemoryPlanner, RandomLifetimesNeverOverlap)
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round)
    {
        auto buffers = RandomBuffers(random, 1 + random() % 60, static_cast<uint32_t>(1 + random() % 40), 12);
        const size_t arena = PlanMemory(buffers);
        ExpectValid(buffers, arena);
        ASSERT_GE(arena, MemoryLowerBound(buffers));
    }
}

TEST(MemoryPlanner, LongLifetimesTakeTheFastPathAndStayValid)
{
    // 3,000 buffers of up to 4,000 steps: beyond what greedy placement is allowed to cost.
    std::mt19937 random(11);
    auto buffers = RandomBuffers(random, 3000, 4000, 4000);
    const size_t arena = PlanMemory(buffers);
    ExpectValid(buffers, arena);
    EXPECT_LT(static_cast<double>(arena), 1.3 * static_cast<double>(MemoryLowerBound(buffers)));
}

TEST(MemoryPlanner, MeetsTheLowerBoundWhereOneOrderDoesNot)
{
    // Small lifetimes within larger ones, where greedy placement by size leaves gaps.
    std::mt19937 random(3);
    double worst = 1.0;
    for (int round = 0; round < 50; ++round)
    {
        auto buffers = RandomBuffers(random, 40, 30, 6);
        for (PlannedBuffer& buffer : buffers)
        {
            buffer.m_Bytes = (buffer.m_Bytes / 640 + 1) * 640;
        }
        const size_t arena = PlanMemory(buffers);
        ExpectValid(buffers, arena);
        worst = std::max(worst, static_cast<double>(arena) / static_cast<double>(MemoryLowerBound(buffers)));
    }
    EXPECT_LT(worst, 1.15);
}

TEST(MemoryPlanner, TheLowerBoundCountsWholeUnitsOfTheAlignment)
{
    // Two small buffers beside a large one: 4 units of 64 bytes are alive at once, though 140 bytes would do unaligned.
    std::vector<PlannedBuffer> buffers = {{4, 0, 1, 0}, {8, 0, 2, 0}, {128, 1, 2, 0}, {64, 3, 3, 0}};
    EXPECT_EQ(MemoryLowerBound(buffers), 140u);
    EXPECT_EQ(MemoryLowerBound(buffers, 64), 256u);
    EXPECT_LE(PlanMemory(buffers), 256u);
}

TEST(MemoryPlanner, IsDeterministic)
{
    std::mt19937 random(5);
    const auto buffers = RandomBuffers(random, 100, 40, 15);
    auto first = buffers;
    auto second = buffers;
    PlanMemory(first);
    PlanMemory(second);
    for (size_t i = 0; i < buffers.size(); ++i)
    {
        EXPECT_EQ(first[i].m_Offset, second[i].m_Offset);
    }
}

TEST(MemoryPlanner, EveryStrategyPacksRandomLifetimes)
{
    for (const std::string& name : GetMemoryOptimizerStrategyNames())
    {
        const auto strategy = MakeMemoryOptimizerStrategy(name);
        std::mt19937 random(13);
        for (int round = 0; round < 30; ++round)
        {
            auto buffers = RandomBuffers(random, 1 + random() % 60, static_cast<uint32_t>(1 + random() % 40), 12);
            const size_t arena = PlanMemory(buffers, 256, strategy.get());
            ExpectValid(buffers, arena);
            for (const PlannedBuffer& buffer : buffers)
            {
                ASSERT_EQ(buffer.m_Offset % 256, 0u) << name;
            }
        }
    }
}

TEST(MemoryPlanner, OverflowIsRefused)
{
    std::vector<PlannedBuffer> buffers{{std::numeric_limits<size_t>::max() - 100, 0, 1, 0}, {4096, 0, 1, 0}};
    EXPECT_THROW(PlanMemory(buffers), MemoryValidationException);
}

} // namespace tenon::test::memory_planner_test
