// SPDX-License-Identifier: Apache-2.0
// Populate and UseHugePages: hints, which leave contents and what lies beside alone, for any block. Discard: leaves
// what lies beside alone.
#include "common/Populate.hpp"

#include "common/AlignedMemory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tenon::test::populate_test
{

TEST(Populate, LeavesContentsAlone)
{
    constexpr size_t Bytes = 3 * HugePageBytes;
    for (const size_t alignment : {ArenaAlignment, HugePageBytes})
    {
        const AlignedMemory memory(Bytes, nullptr, alignment);
        std::memset(memory.Data(), 0x5A, Bytes);
        for (const size_t offset : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, HugePageBytes - 1})
        {
            for (const size_t size : {size_t{0}, size_t{1}, size_t{65536}, size_t{65537}, 2 * HugePageBytes})
            {
                UseHugePages(memory.Data() + offset, size);
                Populate(memory.Data() + offset, size);
            }
        }
        EXPECT_EQ(std::vector<std::byte>(memory.Data(), memory.Data() + Bytes),
                  std::vector<std::byte>(Bytes, std::byte{0x5A}));
    }
}

TEST(Populate, DiscardLeavesTheRestAlone)
{
    constexpr size_t Bytes = 3 * HugePageBytes;
    const std::vector<std::byte> written(Bytes, std::byte{0x5A});
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{4096}, HugePageBytes - 1, HugePageBytes + 64})
    {
        for (const size_t size : {size_t{0}, size_t{1}, size_t{65537}, HugePageBytes + 1})
        {
            const AlignedMemory memory(Bytes, nullptr, HugePageBytes);
            UseHugePages(memory.Data(), Bytes);
            std::memset(memory.Data(), 0x5A, Bytes);
            std::byte* const end = memory.Data() + offset + size;
            Discard(memory.Data() + offset, size);
            EXPECT_TRUE(std::equal(memory.Data(), memory.Data() + offset, written.begin()));
            EXPECT_TRUE(std::equal(end, memory.Data() + Bytes, written.begin()));
            std::memset(memory.Data() + offset, 0x5A, size); // it is the caller's as before
            EXPECT_TRUE(std::equal(memory.Data(), memory.Data() + Bytes, written.begin()));
        }
    }
}

#ifdef __linux__

TEST(Populate, DiscardGivesPagesBack)
{
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = 8 * page;
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    std::memset(mapped, 0x5A, bytes);
    Discard(static_cast<char*>(mapped) + 1, bytes - 2); // all pages but the first and the last one
    const auto* const data = static_cast<const unsigned char*>(mapped);
    for (size_t i = 0; i < 8; ++i)
    {
        EXPECT_EQ(data[i * page + page / 2], i == 0 || i == 7 ? 0x5A : 0) << "page " << i; // anew they are zeros
    }
    munmap(mapped, bytes);
}

// Memory that may be read alone cannot be populated for writing: the system refuses, and nothing else happens.
TEST(Populate, MemoryThatCannotBeWritten)
{
    constexpr size_t Bytes = 2 * HugePageBytes;
    void* const mapped = mmap(nullptr, Bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    UseHugePages(mapped, Bytes);
    Populate(mapped, Bytes);
    const auto* const bytes = static_cast<const std::byte*>(mapped);
    EXPECT_EQ(std::vector<std::byte>(bytes, bytes + Bytes), std::vector<std::byte>(Bytes));
    munmap(mapped, Bytes);
}

#endif

} // namespace tenon::test::populate_test
