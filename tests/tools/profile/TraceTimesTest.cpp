// SPDX-License-Identifier: Apache-2.0
// Times of layers from traces that are spelled out.
#include "tools/profile/TraceTimes.hpp"

#include "TextProfiler.hpp"

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

TEST(ReadTrace, LeavesTheFirstInferenceOut)
{
    TextProfiler profiler;
    profiler.AddLayer(7, "Kernel", 0, 5000);
    profiler.AddInference(0, 6000);
    profiler.AddLayer(7, "Kernel", 10000, 1000);
    profiler.AddInference(9000, 2500);
    profiler.AddLayer(7, "Kernel", 20000, 3000);
    profiler.AddInference(19000, 4500);
    const Trace trace = ReadTrace(profiler);
    EXPECT_FALSE(trace.m_IsFirst);
    EXPECT_EQ(trace.m_InferenceMs, (std::vector<double>{2.5, 4.5}));
    ASSERT_EQ(trace.m_Layers.size(), 1U);
    EXPECT_EQ(trace.m_Layers.at(7).m_Ms, (std::vector<double>{1.0, 3.0}));
    EXPECT_EQ(trace.m_Layers.at(7).m_Kernel, "Kernel_Execute");
}

TEST(ReadTrace, KeepsAnOnlyInference)
{
    TextProfiler profiler;
    profiler.AddLayer(7, "Kernel", 0, 5000);
    profiler.AddInference(0, 6000);
    const Trace trace = ReadTrace(profiler);
    EXPECT_TRUE(trace.m_IsFirst);
    EXPECT_EQ(trace.m_InferenceMs, (std::vector<double>{6.0}));
    EXPECT_EQ(trace.m_Layers.at(7).m_Ms, (std::vector<double>{5.0}));
    EXPECT_EQ(trace.m_Layers.at(7).m_ThreadMs, (std::vector<double>{5.0}));
}

TEST(ReadTrace, TakesNestedLayersOut)
{
    TextProfiler profiler;
    for (const double start : {0.0, 100000.0})
    {
        profiler.AddLayer(2, "Inner", start + 1000, 2000); // twice in the loop
        profiler.AddLayer(2, "Inner", start + 4000, 2000);
        profiler.AddLayer(1, "While", start + 500, 9000);
        profiler.AddLayer(3, "After", start + 10000, 100);
        profiler.AddInference(start, 12000);
    }
    const Trace trace = ReadTrace(profiler);
    EXPECT_EQ(trace.m_Layers.at(1).m_Ms, (std::vector<double>{5.0}));
    EXPECT_EQ(trace.m_Layers.at(2).m_Ms, (std::vector<double>{4.0}));
    EXPECT_EQ(trace.m_Layers.at(3).m_Ms, (std::vector<double>{0.1}));
}

TEST(ReadTrace, GivesSharesToTheLayerOfTheirLoop)
{
    TextProfiler profiler;
    profiler.AddLayer(1, "A", 0, 4000);
    profiler.AddInference(0, 9000);
    profiler.AddLayer(1, "A", 10000, 4000);
    profiler.AddLayer(2, "B", 15000, 1000);
    profiler.AddInference(10000, 9000);
    profiler.AddLoop(100, 3000, {{0, 3000.0}, {5, 3000.0}}); // of the first inference
    profiler.AddLoop(10500, 3000, {{0, 2900.0}, {5, 1500.0}});
    const Trace trace = ReadTrace(profiler);
    ASSERT_EQ(trace.m_Layers.at(1).m_ThreadMs.size(), 2U);
    EXPECT_NEAR(trace.m_Layers.at(1).m_ThreadMs[0], 3.9, 1e-9); // 1 ms outside of the loop
    EXPECT_NEAR(trace.m_Layers.at(1).m_ThreadMs[1], 1.5, 1e-9);
    EXPECT_NEAR(trace.m_Layers.at(2).m_ThreadMs[0], 1.0, 1e-9);
    EXPECT_NEAR(trace.m_Layers.at(2).m_ThreadMs[1], 0.0, 1e-9);
}

TEST(ReadTrace, CountsDroppedEvents)
{
    TextProfiler profiler;
    profiler.m_NumDropped = 12;
    profiler.AddInference(0, 6000);
    EXPECT_EQ(ReadTrace(profiler).m_NumDropped, 12U);
    EXPECT_TRUE(ReadTrace(TextProfiler()).m_InferenceMs.empty());
}

} // namespace
} // namespace tenon::tools
