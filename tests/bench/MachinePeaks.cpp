// SPDX-License-Identifier: Apache-2.0
// Speeds of the loops of PeakLoops.cpp, and of memory.
#include "MachinePeaks.hpp"

#include "AlignedBytes.hpp"
#include "InterleavedTimer.hpp"
#include "tools/profile/PeakLoops.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <sys/mman.h>
#include <utility>

namespace tenon::bench
{

namespace
{

using tools::PeakLoop;
using tools::PeakLoops;

/// Of several trials, where calls of `run` each do `workPerCall`.
double MedianRate(double workPerCall, std::function<void()> run, int trials = 41)
{
    constexpr double TrialSeconds = 0.002;
    InterleavedTimer runner(std::move(run), TrialSeconds, ProcessSeconds);
    for (int trial = 0; trial < trials; ++trial)
    {
        runner.RunRound();
    }
    return workPerCall / runner.GetMedian();
}

double MedianRate(const PeakLoop& loop)
{
    return MedianRate(loop.m_Macs, loop.m_Run);
}

std::optional<double> MedianRate(const std::optional<PeakLoop>& loop)
{
    return loop ? std::optional<double>(MedianRate(*loop)) : std::nullopt;
}

/// Of whole cache lines. Sums that do not wait for each other leave the time to the loads.
uint64_t SumWords(const uint64_t* words, size_t count)
{
    constexpr size_t Sums = 16;
    std::array<uint64_t, Sums> sums{};
    for (size_t i = 0; i + Sums <= count; i += Sums)
    {
        for (size_t s = 0; s < Sums; ++s)
        {
            sums[s] += words[i + s];
        }
    }
    return std::accumulate(sums.begin(), sums.end(), uint64_t{0});
}

} // namespace

MachinePeaks MeasurePeaks()
{
    const PeakLoops& loops = tools::GetPeakLoops();
    MachinePeaks peaks;
    peaks.m_Float32 = MedianRate(loops.m_Float32);
    peaks.m_Int8 = MedianRate(loops.m_Int8);
    peaks.m_Int16 = MedianRate(loops.m_Int16);
    peaks.m_BFloat16 = MedianRate(loops.m_BFloat16);
    peaks.m_Int8Tiles = MedianRate(loops.m_Int8Tiles);
    peaks.m_BFloat16Tiles = MedianRate(loops.m_BFloat16Tiles);
    peaks.m_Float32Name = loops.m_Float32.m_Name;
    peaks.m_Int8Name = loops.m_Int8 ? loops.m_Int8->m_Name : "";
    constexpr size_t ManyBytes = 256U << 20U;
    peaks.m_ReadBytes = MedianRate(double{ManyBytes}, MakeRead(ManyBytes), 9);
    return peaks;
}

std::function<void()> MakeRead(size_t bytes)
{
    constexpr size_t PageBytes = size_t{2} << 20; // a huge page
    const size_t wholeBytes = (bytes + PageBytes - 1) / PageBytes * PageBytes;
    const std::shared_ptr<void> memory(std::aligned_alloc(PageBytes, wholeBytes), std::free);
    if (memory == nullptr)
    {
        throw std::bad_alloc();
    }
#ifdef MADV_HUGEPAGE
    madvise(memory.get(), wholeBytes, MADV_HUGEPAGE); // where it is refused, pages are small
#endif
    std::memset(memory.get(), 1, wholeBytes);
    return [memory, bytes]
    {
        const uint64_t sum = SumWords(static_cast<const uint64_t*>(memory.get()), bytes / sizeof(uint64_t));
        asm volatile("" : : "r"(sum) : "memory");
    };
}

std::function<void()> MakeMemcpy(size_t bytes)
{
    // Both at the same place of a page: some other places are slow (common/CopyBlock.hpp), and no measure.
    constexpr size_t PageBytes = 4096;
    const size_t distance = (bytes + PageBytes - 1) / PageBytes * PageBytes;
    const auto memory = std::make_shared<AlignedBytes>(2 * distance, char{1});
    return [memory, distance, bytes]
    {
        char* const to = memory->data() + distance;
        std::memcpy(to, memory->data(), bytes);
        asm volatile("" : : "r"(to) : "memory");
    };
}

double MemcpyBytesPerSecond(size_t bytes)
{
    static std::map<size_t, double> known;
    double& rate = known[bytes];
    if (rate == 0.0)
    {
        rate = MedianRate(static_cast<double>(bytes), MakeMemcpy(bytes));
    }
    return rate;
}

} // namespace tenon::bench
