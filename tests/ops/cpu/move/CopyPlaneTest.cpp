// SPDX-License-Identifier: Apache-2.0
// Copies of runs of all short lengths, some of which have copies of their own, and of runs that are repeated; what lies
// between them stays.
#include "backends/cpu/move/CopyPlane.hpp"

#include "backends/cpu/move/CopyRepeated.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <vector>

namespace tenon::test::copy_plane_test
{

namespace
{

constexpr size_t LongestRun = 140;

std::vector<std::byte> Count(size_t bytes)
{
    std::vector<std::byte> memory(bytes);
    for (size_t i = 0; i < bytes; ++i)
    {
        memory[i] = static_cast<std::byte>(i % 251);
    }
    return memory;
}

} // namespace

ISA_TEST(CopyPlane, RunsOfAnyLength)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (size_t i = 0; i <= 2 * LongestRun; ++i)
    {
        const size_t bytes = i / 2;
        const size_t gap = i % 2;
        cpu::Plane plane;
        plane.m_Rows = 2;
        plane.m_Runs = 3;
        plane.m_RunBytes = bytes;
        plane.m_FromRun = static_cast<int64_t>(bytes);
        plane.m_FromRow = 3 * plane.m_FromRun;
        plane.m_ToRun = static_cast<int64_t>(bytes + gap);
        plane.m_ToRow = 3 * plane.m_ToRun;
        const std::vector<std::byte> from = Count(6 * bytes);
        std::vector<std::byte> to(6 * bytes + 5 * gap, std::byte{0xff}); // no byte behind the last run
        std::vector<std::byte> expected = to;
        for (size_t run = 0; run < 6 && bytes != 0; ++run)
        {
            std::memcpy(expected.data() + run * (bytes + gap), from.data() + run * bytes, bytes);
        }
        cpu::ChooseCopyPlane(bytes)(plane, from.data(), to.data());
        EXPECT_EQ(to, expected) << bytes << " bytes, gaps of " << gap;
    }
}

ISA_TEST(CopyPlane, GatheredRunsOfAnyLength)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    // Groups without the last slice, and with it.
    const uint32_t indices[] = {2, 0, 1, 0, 2, 2, 1, 0, 0, 3, 1, 3, 2, 0, 1, 1, 3, 2, 0, 2, 1, 0, 0, 1, 2, 1};
    for (size_t bytes = 1; bytes <= LongestRun; ++bytes)
    {
        const std::vector<std::byte> values = Count(4 * bytes);
        const GuardedBuffer from(values.size()); // nothing behind it can be read
        std::memcpy(from.GetData(), values.data(), values.size());
        for (size_t count = 0; count <= std::size(indices); ++count)
        {
            const GuardedBuffer to(count * bytes);
            cpu::ChooseCopyGathered(bytes)(from.GetData(), 4, indices, count, bytes, to.GetData());
            EXPECT_TRUE(to.IsIntactAround());
            for (size_t i = 0; i < count; ++i)
            {
                EXPECT_EQ(std::memcmp(to.GetData() + i * bytes, values.data() + indices[i] * bytes, bytes), 0)
                    << bytes << ", " << i << " of " << count;
            }
        }
    }
}

ISA_TEST(CopyRepeated, RunsOfAnyLength)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    size_t ways = 0;
    for (size_t bytes = 1; bytes <= 300; ++bytes)
    {
        for (size_t times = 1; times <= 5; ++times)
        {
            const cpu::CopyRepeatedFunction copy = cpu::ChooseCopyRepeated(bytes, times);
            if (copy == nullptr)
            {
                continue;
            }
            ++ways;
            for (const size_t runs : {0, 1, 7, 70}) // none, some and several groups and vectors, and what they leave
            {
                // Pixels may be aligned to less than their bytes.
                const std::vector<std::byte> values = Count(runs * bytes + 1);
                const GuardedBuffer from(values.size());
                std::memcpy(from.GetData(), values.data(), values.size());
                for (size_t rows = 0; rows <= 3; ++rows)
                {
                    const GuardedBuffer to(rows * runs * times * bytes + 1);
                    to.GetData()[0] = std::byte{0xa5};
                    copy({runs, bytes, times, rows}, from.GetData() + 1, to.GetData() + 1);
                    EXPECT_TRUE(to.IsIntactAround());
                    EXPECT_EQ(to.GetData()[0], std::byte{0xa5});
                    for (size_t i = 0; i < rows * runs * times; ++i)
                    {
                        ASSERT_EQ(std::memcmp(to.GetData() + 1 + i * bytes,
                                              values.data() + 1 + i / times % runs * bytes, bytes),
                                  0)
                            << bytes << " bytes, " << times << " times, " << i << " of " << runs << " in " << rows;
                    }
                }
            }
        }
    }
#if defined(__arm__)
    constexpr size_t Elements = 3; // of 1, 2 and 4 bytes
#else
    constexpr size_t Elements = 4; // and of 8
#endif
    // Elements twice and four times; 16 bytes twice; 32, 48, 64, 96 and 128 bytes any number of times; long runs.
    EXPECT_EQ(ways, Elements * 2 + 1 + 5 * 5 + (300 - 191) + (256 - 191) * 4);
}

} // namespace tenon::test::copy_plane_test
