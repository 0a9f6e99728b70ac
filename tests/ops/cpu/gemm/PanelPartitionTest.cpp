// SPDX-License-Identifier: Apache-2.0
// PanelPartition and RunChunks: each element of a product in one range, no task of two threads at the same time, for
// all numbers of threads.
#include "backends/cpu/gemm/driver/PanelRange.hpp"
#include "common/ThreadPool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tenon::cpu::panel_partition_test
{
namespace
{

class PoolParallelFor final : public IParallelFor
{
public:
    explicit PoolParallelFor(unsigned int threads) : m_Pool(threads), m_Threads(threads) {}

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override
    {
        m_Pool.ParallelFor(
            count, m_Threads, [&](size_t begin, size_t end, unsigned) { body(begin, end); }, grain);
    }
    unsigned int GetNumThreads() const override { return m_Threads; }

private:
    ThreadPool m_Pool;
    unsigned int m_Threads;
};

PartitionShape MakeShape(size_t rows, size_t panels)
{
    PartitionShape shape;
    shape.m_Rows = rows;
    shape.m_Columns = 16 * panels;
    shape.m_Panels = panels;
    shape.m_TileRows = 8;
    shape.m_MaxRanges = 1000;
    return shape;
}

TEST(PanelPartition, CoversEachElementOnce)
{
    for (const unsigned int threads : {1U, 2U, 3U, 7U, 16U})
    {
        PoolParallelFor parallel(threads);
        for (const size_t rows : {1U, 5U, 49U, 196U, 3136U})
        {
            for (const size_t panels : {0U, 1U, 3U, 32U})
            {
                for (const size_t unit : {1U, 8U})
                {
                    for (const size_t tasks : {1U, 2U, 16U})
                    {
                        PartitionShape shape = MakeShape(rows, panels);
                        shape.m_RowUnit = unit;
                        std::vector<std::atomic<int>> visits(rows * std::max<size_t>(panels, 1));
                        std::vector<std::atomic<int>> inside(tasks);
                        PanelPartition(shape, tasks)
                            .Run(parallel,
                                 [&](size_t task, const PanelRange& range)
                                 {
                                     ASSERT_LT(task, tasks);
                                     EXPECT_EQ(inside[task]++, 0) << "two threads have one task";
                                     EXPECT_LT(range.m_FirstRow, range.m_LastRow);
                                     EXPECT_TRUE(range.m_FirstRow % unit == 0);
                                     for (size_t row = range.m_FirstRow; row < range.m_LastRow; ++row)
                                     {
                                         for (size_t p = range.m_FirstPanel;
                                              p < range.m_LastPanel || (panels == 0 && p == 0); ++p)
                                         {
                                             ++visits[row * std::max<size_t>(panels, 1) + p];
                                         }
                                     }
                                     --inside[task];
                                 });
                        for (const std::atomic<int>& visit : visits)
                        {
                            ASSERT_EQ(visit, 1) << rows << " rows, " << panels << " panels, " << threads << " threads";
                        }
                    }
                }
            }
        }
    }
}

TEST(PanelPartition, SplitsTheLargerSide)
{
    const PanelGrid wide = FindPanelGrid(MakeShape(49, 64), 4, 4);
    EXPECT_EQ(wide.m_PanelRanges, 4u);
    EXPECT_EQ(wide.m_RowRanges, 1u);
    const PanelGrid high = FindPanelGrid(MakeShape(12544, 2), 4, 4);
    EXPECT_EQ(high.m_PanelRanges, 1u);
    EXPECT_EQ(high.m_RowRanges, 4u);
    const PanelGrid square = FindPanelGrid(MakeShape(1024, 64), 16, 16);
    EXPECT_GT(square.m_PanelRanges, 1u);
    EXPECT_GT(square.m_RowRanges, 1u);
}

TEST(PanelPartition, RowsThatArePackedAreSplitLess)
{
    PartitionShape shape = MakeShape(1024, 64);
    const PanelGrid inPlace = FindPanelGrid(shape, 16, 16);
    shape.m_PacksRows = true;
    EXPECT_LE(FindPanelGrid(shape, 16, 16).m_PanelRanges, inPlace.m_PanelRanges);
}

TEST(RunChunks, FewTasksOfManyThreadsHaveAChunkEach)
{
    EXPECT_EQ(CountChunks(16, 4, 100), 4u) << "no more than four threads may have a task";
    EXPECT_EQ(CountChunks(16, 16, 100), 32u);
    EXPECT_EQ(CountChunks(16, 16, 20), 20u);
    EXPECT_EQ(CountChunks(16, 16, 2), 16u);
    EXPECT_EQ(CountChunks(2, 2, 100), 2u);
}

TEST(RunChunks, TasksAreFreeAgainAfterAnException)
{
    PoolParallelFor parallel(4);
    for (int repeat = 0; repeat < 20; ++repeat)
    {
        EXPECT_THROW(RunChunks(parallel, 4, 8, [](size_t, size_t) { throw std::runtime_error("chunk"); }),
                     std::runtime_error);
    }
    std::vector<int> visits(8, 0);
    RunChunks(parallel, 4, 8, [&](size_t, size_t chunk) { ++visits[chunk]; });
    EXPECT_EQ(visits, std::vector<int>(8, 1));
}

} // namespace
} // namespace tenon::cpu::panel_partition_test
