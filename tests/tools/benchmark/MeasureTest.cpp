// SPDX-License-Identifier: Apache-2.0
// Bounds on the number and time of inferences, callers at once, and turns.
#include "tools/benchmark/Measure.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace tenon::tools
{
namespace
{

double Sleep()
{
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return 1.0;
}

TEST(MeasureCallers, RunsAtLeastTheNumber)
{
    unsigned int count = 0;
    const CallerRuns runs =
        MeasureCallers([&](unsigned int) { return static_cast<double>(++count); }, {7, 0.0, 100.0}, 1);
    ASSERT_EQ(runs.m_Ms.size(), 1U);
    EXPECT_EQ(runs.m_Ms[0], (std::vector<double>{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0}));
}

TEST(MeasureCallers, RunsAtLeastTheTime)
{
    const CallerRuns runs = MeasureCallers([](unsigned int) { return Sleep(); }, {1, 0.03, 100.0}, 1);
    EXPECT_GT(runs.m_Ms[0].size(), 1U);
    EXPECT_GE(runs.m_Seconds, 0.03);
}

TEST(MeasureCallers, EndsAtTheUpperBound)
{
    const CallerRuns runs = MeasureCallers([](unsigned int) { return Sleep(); }, {1'000'000, 0.0, 0.01}, 1);
    EXPECT_GE(runs.m_Ms[0].size(), 1U);
    EXPECT_LT(runs.m_Ms[0].size(), 100U);
    EXPECT_EQ(MeasureCallers([](unsigned int) { return Sleep(); }, {5, 0.0, 0.0}, 1).m_Ms[0].size(), 1U)
        << "there is always one";
}

TEST(MeasureCallers, CallersRunAtOnceOnTheirOwnThreads)
{
    constexpr unsigned int numCallers = 3;
    std::vector<std::thread::id> threads(numCallers);
    std::atomic<unsigned int> numInside = 0;
    const auto infer = [&](unsigned int caller)
    {
        threads[caller] = std::this_thread::get_id();
        ++numInside;
        while (numInside < numCallers) // until all have begun
        {
            std::this_thread::yield();
        }
        return 1.0 + caller;
    };
    const CallerRuns runs = MeasureCallers(infer, {4, 0.0, 100.0}, numCallers);
    ASSERT_EQ(runs.m_Ms.size(), numCallers);
    EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), numCallers);
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    for (unsigned int caller = 0; caller < numCallers; ++caller)
    {
        EXPECT_GE(runs.m_Ms[caller].size(), 4U);
        EXPECT_EQ(runs.m_Ms[caller].front(), 1.0 + caller);
    }
}

TEST(MeasureCallers, AnErrorOfOneEndsAll)
{
    const auto infer = [](unsigned int caller)
    {
        if (caller == 1)
        {
            throw RunError("no more");
        }
        return Sleep();
    };
    EXPECT_THROW_WITH(MeasureCallers(infer, {1, 100.0, 100.0}, 2), RunError, "no more");
    EXPECT_THROW_WITH(MeasureCallers([](unsigned int) -> double { throw RunError("none"); }, {1, 0.0, 1.0}, 1),
                      RunError, "none");
}

TEST(MeasureTurns, AlternateAndBeginInTurn)
{
    std::string order;
    const auto side = [&order](char name, double ms)
    {
        return [&order, name, ms](unsigned int numRuns)
        {
            order += name;
            return std::vector<double>(numRuns, ms);
        };
    };
    // 30 ms: an inference is a turn. 8 ms: two or three are, and one before them.
    const std::array<SideRuns, 2> runs = MeasureTurns({side('a', 30.0), side('b', 8.0)}, {1, 0.0, 100.0});
    EXPECT_EQ(order.substr(0, 10), "ababbaabba");
    EXPECT_EQ(runs[0].m_RunsPerTurn, 1U);
    EXPECT_EQ(runs[1].m_RunsPerTurn, 3U);
    ASSERT_EQ(runs[0].m_Medians.size(), MinRounds);
    ASSERT_EQ(runs[1].m_Medians.size(), MinRounds);
    EXPECT_EQ(runs[0].m_Ms.size(), MinRounds);
    EXPECT_EQ(runs[1].m_Ms.size(), 3 * MinRounds);
    EXPECT_EQ(runs[1].m_Medians.front(), 8.0);
}

TEST(MeasureTurns, LeaveOutTheFirstOfSeveral)
{
    const Turn cold = [](unsigned int numRuns)
    {
        std::vector<double> times(numRuns, 10.0);
        times.front() = 1000.0;
        return times;
    };
    const std::array<SideRuns, 2> runs = MeasureTurns({cold, cold}, {1, 0.0, 100.0});
    EXPECT_EQ(runs[0].m_RunsPerTurn, 2U);
    EXPECT_EQ(runs[0].m_Ms, std::vector<double>(2 * MinRounds, 10.0));
}

TEST(MeasureTurns, GoOnUntilBothHaveRunOftenEnough)
{
    const Turn slow = [](unsigned int numRuns) { return std::vector<double>(numRuns, 50.0); };
    EXPECT_EQ(MeasureTurns({slow, slow}, {20, 0.0, 100.0})[0].m_Ms.size(), 20U);
    EXPECT_EQ(MeasureTurns({slow, slow}, {20, 0.0, 0.0})[0].m_Ms.size(), 1U) << "the upper bound";
}

} // namespace
} // namespace tenon::tools
