// SPDX-License-Identifier: Apache-2.0
// Speeds of the loops of PeakLoops.cpp, and of memory.
#include "MachinePeaks.hpp"

#include "AlignedBytes.hpp"
#include "InterleavedTimer.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace tenon::bench
{

namespace
{

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

} // namespace

MachinePeaks MeasurePeaks()
{
    const PeakLoops& loops = GetPeakLoops();
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
    const std::vector<uint64_t> memory(ManyBytes / sizeof(uint64_t), 1);
    volatile uint64_t sink = 0;
    peaks.m_ReadBytes = MedianRate(
        double{ManyBytes}, [&] { sink = std::accumulate(memory.begin(), memory.end(), uint64_t(0)); }, 9);
    return peaks;
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
