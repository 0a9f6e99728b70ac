// SPDX-License-Identifier: Apache-2.0
// Pages and BlockPool: memory is whole, apart from other memory, and used again.
#include "common/Pages.hpp"

#include "common/BlockPool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#ifdef __linux__
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace tenon::test::pages_test
{

TEST(Pages, AreWholeAndAligned)
{
    for (const size_t bytes : {size_t{1}, size_t{100} << 10, size_t{130} << 10, size_t{1} << 20, (size_t{2} << 20) - 1,
                               size_t{2} << 20, (size_t{4} << 20) + 1})
    {
        const size_t whole = RoundToPages(bytes);
        ASSERT_GE(whole, bytes);
        ASSERT_LE(whole, 2 * bytes + (size_t{2} << 20));
        ASSERT_EQ(RoundToPages(whole), whole) << "arenas ask for whole sizes";
        void* const memory = TakePages(bytes);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0u);
        std::memset(memory, 0x5a, whole);
        GivePages(memory, bytes);
    }
}

TEST(Pages, ThoseGivenBackAreUsedAgain)
{
    constexpr size_t bytes = size_t{6} << 20;
    void* const first = TakePages(bytes);
    void* const second = TakePages(bytes);
    EXPECT_NE(first, second);
    GivePages(first, bytes);
#ifdef __linux__
    EXPECT_EQ(TakePages(bytes), first);
    GivePages(first, bytes);
#endif
    GivePages(second, bytes);
}

TEST(Pages, SizesThatNobodyAsksForAgainMakeRoom)
{
    // More than is kept of either kind, in sizes that do not come back.
    std::vector<std::pair<void*, size_t>> taken;
    for (size_t i = 0; i < 100; ++i)
    {
        taken.emplace_back(TakePages(size_t{128} << 10), size_t{128} << 10);
    }
    for (size_t i = 0; i < 12; ++i)
    {
        taken.emplace_back(TakePages(size_t{12} << 20), size_t{12} << 20);
    }
    for (const auto& [memory, bytes] : taken)
    {
        GivePages(memory, bytes);
    }
#ifdef __linux__
    for (const size_t bytes : {size_t{512} << 10, size_t{16} << 20})
    {
        void* const memory = TakePages(bytes);
        GivePages(memory, bytes);
        void* const again = TakePages(bytes);
        EXPECT_EQ(again, memory);
        GivePages(again, bytes);
    }
#endif
}

TEST(Pages, TooManyAreRefused)
{
    EXPECT_THROW(RoundToPages(SIZE_MAX), std::bad_alloc);
    EXPECT_THROW(TakePages(SIZE_MAX - (size_t{1} << 20)), std::bad_alloc);
    EXPECT_THROW(PageAllocator<uint64_t>().allocate(SIZE_MAX / 4), std::bad_array_new_length);
}

TEST(Pages, VectorsGrow)
{
    PageVector<uint32_t> values;
    for (uint32_t i = 0; i < 3000000; ++i)
    {
        values.push_back(i);
    }
    for (uint32_t i = 0; i < values.size(); ++i)
    {
        ASSERT_EQ(values[i], i);
    }
}

TEST(BlockPool, BlocksMayBeLargerThanItsChunks)
{
    constexpr size_t bytes = 10000;
    BlockPool pool(bytes);
    void* const first = pool.Take();
    void* const second = pool.Take();
    std::memset(first, 1, bytes);
    std::memset(second, 2, bytes);
    EXPECT_EQ(static_cast<unsigned char*>(first)[bytes - 1], 1);
    EXPECT_EQ(static_cast<unsigned char*>(second)[0], 2);
    pool.Give(first);
    pool.Give(second);
}

#ifdef __linux__
TEST(BlockPool, BlocksAreAligned)
{
    constexpr size_t bytes = 40;
    for (const size_t alignment : {size_t{8}, size_t{16}})
    {
        BlockPool pool(bytes, alignment);
        std::vector<void*> blocks;
        for (size_t i = 0; i < 1000; ++i) // of several chunks
        {
            blocks.push_back(pool.Take());
            ASSERT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % alignment, 0u);
            std::memset(blocks.back(), 1, bytes);
        }
        for (void* block : blocks)
        {
            pool.Give(block);
        }
    }
}

TEST(BlockPool, IsFreeAfterAFork)
{
    BlockPool pool(64);
    std::atomic<bool> stop{false};
    std::thread busy(
        [&]
        {
            while (!stop)
            {
                pool.Give(pool.Take());
            }
        });
    int failed = 0;
    for (int i = 0; i < 50; ++i)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            alarm(30); // ends a child that waits for ever
            pool.Give(pool.Take());
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        failed += status != 0 ? 1 : 0;
    }
    stop = true;
    busy.join();
    EXPECT_EQ(failed, 0);
}
#endif

TEST(BlockPool, BlocksAreApartAndUsedAgain)
{
    constexpr size_t bytes = 100;
    BlockPool pool(bytes);
    std::vector<unsigned char*> blocks;
    const auto fill = [&](size_t count)
    {
        while (blocks.size() < count)
        {
            auto* const block = static_cast<unsigned char*>(pool.Take());
            ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 8, 0u);
            std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
            blocks.push_back(block);
        }
    };
    const auto check = [&]
    {
        for (size_t i = 0; i < blocks.size(); ++i)
        {
            for (size_t k = 0; k < bytes; ++k)
            {
                ASSERT_EQ(blocks[i][k], i % 251) << "block " << i;
            }
        }
    };
    fill(50000);
    check();
    const std::set<unsigned char*> before(blocks.begin(), blocks.end());
    ASSERT_EQ(before.size(), blocks.size());
    while (blocks.size() > 20000)
    {
        pool.Give(blocks.back());
        blocks.pop_back();
    }
    check();
    fill(20001);
    EXPECT_EQ(before.count(blocks.back()), 1u);
    fill(50000);
    check();
    for (size_t i = 0; i < blocks.size(); i += 2) // holes, then the rest
    {
        pool.Give(blocks[i]);
    }
    for (size_t i = 1; i < blocks.size(); i += 2)
    {
        pool.Give(blocks[i]);
    }
    pool.Give(nullptr);
    blocks.clear();
    fill(10);
    check();
    for (unsigned char* block : blocks)
    {
        pool.Give(block);
    }
}

namespace
{

class Counter final : public Pooled<Counter>
{
public:
    explicit Counter(uint64_t value) : m_Value(value) {}
    uint64_t m_Value;
};

} // namespace

TEST(BlockPool, ObjectsOfSeveralThreads)
{
    std::vector<std::thread> threads;
    std::vector<std::vector<std::unique_ptr<Counter>>> made(4);
    for (size_t t = 0; t < made.size(); ++t)
    {
        threads.emplace_back(
            [&made, t]
            {
                for (uint64_t i = 0; i < 3000; ++i)
                {
                    made[t].push_back(std::make_unique<Counter>(uint64_t{t} << 32 | i));
                    if (i % 3 == 0)
                    {
                        made[t].pop_back();
                    }
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    for (size_t t = 0; t < made.size(); ++t)
    {
        ASSERT_EQ(made[t].size(), 2000u);
        for (size_t i = 0; i < made[t].size(); ++i)
        {
            ASSERT_EQ(made[t][i]->m_Value, uint64_t{t} << 32 | (i / 2 * 3 + i % 2 + 1));
        }
    }
}

} // namespace tenon::test::pages_test
