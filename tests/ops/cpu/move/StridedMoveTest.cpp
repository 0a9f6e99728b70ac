// SPDX-License-Identifier: Apache-2.0
// StridedMove beside plain loops: any strides, planes that are cut and joined again, and ranges in any order.
#include "backends/cpu/move/StridedMove.hpp"

#include "backends/cpu/simd/Isa.hpp"
#include "harness/GuardedBuffer.hpp"
#include "harness/IsaTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::strided_move_test
{

namespace
{

using cpu::StridedMove;
using Dimensions = std::vector<StridedMove::Dimension>;

/// Runs ranges of random lengths, of the grain at least, in random order.
class RandomRanges final : public IParallelFor
{
public:
    explicit RandomRanges(unsigned int threads = 4) : m_Threads(threads) {}

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override
    {
        std::vector<size_t> ends;
        for (size_t at = 0; at < count;)
        {
            at = std::min(count, at + grain * (1 + m_Random() % 4));
            ends.push_back(at);
        }
        std::vector<size_t> order(ends.size());
        std::generate(order.begin(), order.end(), [i = size_t{0}]() mutable { return i++; });
        std::shuffle(order.begin(), order.end(), m_Random);
        m_MaxRanges = std::max(m_MaxRanges, ends.size());
        for (const size_t i : order)
        {
            body(i == 0 ? 0 : ends[i - 1], ends[i]);
        }
    }
    unsigned int GetNumThreads() const override { return m_Threads; }
    size_t GetMostRanges() const { return m_MaxRanges; }

private:
    unsigned int m_Threads;
    std::mt19937 m_Random{3};
    size_t m_MaxRanges = 0;
};

void ExpectMoved(const Dimensions& dimensions, size_t elementBytes, RandomRanges& ranges)
{
    int64_t first = 0; // the least source offset is negative where strides are
    int64_t fromEnd = static_cast<int64_t>(elementBytes);
    int64_t toEnd = fromEnd;
    std::string name = std::to_string(elementBytes) + " bytes";
    size_t elements = 1;
    for (const StridedMove::Dimension& d : dimensions)
    {
        const auto last = static_cast<int64_t>(d.m_Count) - 1;
        (d.m_From < 0 ? first : fromEnd) += last * d.m_From;
        toEnd += last * d.m_To;
        elements *= d.m_Count;
        name +=
            ", {" + std::to_string(d.m_Count) + ", " + std::to_string(d.m_From) + ", " + std::to_string(d.m_To) + "}";
    }
    const GuardedBuffer source(static_cast<size_t>(fromEnd - first));
    for (size_t i = 0; i < source.GetBytes(); ++i)
    {
        source.GetData()[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
    }
    const std::byte* const from = source.GetData() - first;
    const GuardedBuffer target(static_cast<size_t>(toEnd));
    std::memset(target.GetData(), 0xa5, target.GetBytes());
    std::vector<std::byte> expected(target.GetData(), target.GetData() + target.GetBytes());
    for (size_t element = 0; element < elements; ++element)
    {
        size_t rest = element;
        int64_t fromOffset = 0;
        int64_t toOffset = 0;
        for (const StridedMove::Dimension& d : dimensions)
        {
            const auto index = static_cast<int64_t>(rest % d.m_Count);
            rest /= d.m_Count;
            fromOffset += index * d.m_From;
            toOffset += index * d.m_To;
        }
        std::memcpy(expected.data() + toOffset, from + fromOffset, elementBytes);
    }
    StridedMove(dimensions, elementBytes).Run(ranges, from, target.GetData());
    EXPECT_EQ(std::memcmp(target.GetData(), expected.data(), expected.size()), 0) << name;
    EXPECT_TRUE(target.IsIntactAround()) << name;
}

} // namespace

ISA_TEST(StridedMove, AnyStrides)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    std::mt19937 random(1);
    RandomRanges ranges;
    for (size_t i = 0; i < 4000; ++i)
    {
        const size_t bytes = size_t{1} << random() % 4;
        Dimensions dimensions(1 + random() % 4);
        int64_t step = static_cast<int64_t>(bytes); // of the target: each dimension begins behind the ones before
        for (StridedMove::Dimension& d : dimensions)
        {
            d.m_Count = 1 + random() % (random() % 4 == 0 ? 70 : 9);
            d.m_To = step + static_cast<int64_t>(random() % 3 == 0 ? random() % 9 : 0);
            step = static_cast<int64_t>(d.m_Count) * d.m_To;
            d.m_From = static_cast<int64_t>(random() % 200) - (random() % 3 == 0 ? 200 : 0);
            d.m_From = random() % 2 == 0 ? d.m_From : static_cast<int64_t>(bytes << random() % 3);
        }
        std::shuffle(dimensions.begin(), dimensions.end(), random);
        ExpectMoved(dimensions, bytes, ranges);
    }
}

ISA_TEST(StridedMove, CutsPlanesOfAnySize)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (const int64_t count : {1009, 1024, 1571})
    {
        RandomRanges ranges;
        const auto size = static_cast<size_t>(count);
        ExpectMoved({{size, 1, count}, {size, count, 1}}, 1, ranges); // transposed
        ExpectMoved({{3, 40 * count, 40 * count}, {size, 40, 4}, {10, 4, 4 * count}}, 4, ranges);
        ExpectMoved({{size, 1000, 1000}, {300, 2, 3}}, 2, ranges); // rows with gaps
        ExpectMoved({{size * 1000, 1, 1}}, 1, ranges);             // all of it
        EXPECT_GT(ranges.GetMostRanges(), 1U);
    }
}

ISA_TEST(StridedMove, CutsSmallerPlanesForManyThreads)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "without vectors the reference kernels run";
    }
    for (const unsigned int threads : {2U, 4U})
    {
        RandomRanges ranges(threads);
        ExpectMoved({{5, 256, 20736}, {81, 1280, 256}, {64, 4, 4}}, 4, ranges); // runs of several cache lines
        ExpectMoved({{300, 4, 280}, {70, 1200, 4}}, 4, ranges);                 // transposed
        EXPECT_EQ(ranges.GetMostRanges() > 1, threads == 4);
    }
}

} // namespace tenon::test::strided_move_test
