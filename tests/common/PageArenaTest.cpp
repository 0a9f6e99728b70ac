// SPDX-License-Identifier: Apache-2.0
// PageArena: pieces of all sizes are aligned, apart from each other and keep what is written there.
#include "common/PageArena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace tenon::test::page_arena_test
{

TEST(PageArena, KeepsPiecesApart)
{
    struct Piece
    {
        unsigned char* m_Memory;
        size_t m_Bytes;
    };
    PageArena arena;
    std::vector<Piece> pieces;
    size_t sum = 0;
    const size_t alignments[] = {1, 4, 8, 16};
    while (sum < size_t{12} << 20) // through small chunks, and more than one mapped one
    {
        const size_t bytes = (pieces.size() * 37) % 5000;
        const size_t alignment = alignments[pieces.size() % 4];
        auto* const memory = static_cast<unsigned char*>(arena.Allocate(bytes, alignment));
        ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0U);
        std::memset(memory, static_cast<int>(pieces.size() % 251), bytes);
        pieces.push_back({memory, bytes});
        sum += bytes;
    }
    for (size_t i = 0; i < pieces.size(); ++i)
    {
        for (size_t k = 0; k < pieces[i].m_Bytes; ++k)
        {
            ASSERT_EQ(pieces[i].m_Memory[k], i % 251) << "byte " << k << " of piece " << i;
        }
    }
}

TEST(PageArena, GivesOnePieceLargerThanAnyChunk)
{
    PageArena arena;
    const size_t bytes = (size_t{20} << 20) + 1;
    auto* const large = static_cast<unsigned char*>(arena.Allocate(bytes, 8));
    auto* const next = static_cast<unsigned char*>(arena.Allocate(1, 1));
    std::memset(large, 1, bytes);
    *next = 2;
    EXPECT_EQ(large[0], 1);
    EXPECT_EQ(large[bytes - 1], 1);
    EXPECT_EQ(*next, 2);
}

TEST(PageArena, RefusesWhatCannotBeAddressed)
{
    PageArena arena;
    EXPECT_THROW(arena.Allocate(SIZE_MAX, 1), std::bad_alloc);
    EXPECT_THROW(arena.Allocate(SIZE_MAX - (size_t{16} << 20), 1), std::bad_alloc);
    EXPECT_NE(arena.Allocate(16, 8), nullptr) << "it goes on after a refusal";
}

#ifdef __linux__
TEST(PageArena, PagesAreUsedAgain)
{
    constexpr size_t bytes = size_t{24} << 20;
    void* before = nullptr;
    {
        PageArena arena;
        before = arena.Allocate(bytes, 16);
        std::memset(before, 1, bytes);
    }
    PageArena arena;
    auto* const again = static_cast<unsigned char*>(arena.Allocate(bytes, 16));
    EXPECT_EQ(again, before);
    std::memset(again, 2, bytes);
    PageArena other;
    auto* const apart = static_cast<unsigned char*>(other.Allocate(bytes, 16));
    std::memset(apart, 3, bytes);
    EXPECT_EQ(again[0], 2);
    EXPECT_EQ(again[bytes - 1], 2);
}

TEST(PageArena, ManyThreadsShareSparePages)
{
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
    {
        threads.emplace_back(
            [&wrong, t]
            {
                for (int round = 0; round < 20; ++round)
                {
                    PageArena arena;
                    std::vector<unsigned char*> pieces;
                    for (int i = 0; i < 40; ++i) // 10 MB: some chunks are mapped
                    {
                        constexpr size_t bytes = size_t{256} << 10;
                        pieces.push_back(static_cast<unsigned char*>(arena.Allocate(bytes, 16)));
                        std::memset(pieces.back(), t, bytes);
                    }
                    wrong += static_cast<int>(
                        std::count_if(pieces.begin(), pieces.end(), [t](const unsigned char* p) { return *p != t; }));
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
}
#endif

} // namespace tenon::test::page_arena_test
