// SPDX-License-Identifier: Apache-2.0
// See MachinePeaks.hpp.
#include "tools/profile/MachinePeaks.hpp"

#include "tools/common/Progress.hpp"
#include "tools/profile/PeakLoops.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

namespace tenon::tools
{
namespace
{

using Clock = std::chrono::steady_clock;

// Other load of the machine slows some trials: many short ones leave a few undisturbed.
constexpr std::chrono::milliseconds TrialTime{1};
constexpr size_t NumTrials = 40;
constexpr size_t NumLongTrials = 7; ///< of calls that take longer than such a trial
constexpr uint64_t LongBytes = uint64_t{8} << 20U;
/// Footprints of copies: from the first-level cache to memory that no cache holds.
constexpr uint64_t CopiedBytes[] = {uint64_t{32} << 10U, uint64_t{256} << 10U, uint64_t{2} << 20U, uint64_t{16} << 20U,
                                    uint64_t{128} << 20U};

/// The best of several trials in which every thread calls its own `run` again and again. `work`: of one call.
double MeasureRate(unsigned int threads, double work, size_t numTrials,
                   const std::function<std::function<void()>()>& makeRun)
{
    std::vector<std::vector<double>> rates(numTrials, std::vector<double>(threads));
    std::vector<std::function<void()>> runs; // made here, where they may throw
    for (unsigned int thread = 0; thread < threads; ++thread)
    {
        runs.push_back(makeRun());
    }
    std::atomic<unsigned int> numReady{0};
    std::atomic<bool> isCancelled{false};
    const auto measure = [&](unsigned int thread)
    {
        const std::function<void()>& run = runs[thread];
        run();
        for (size_t trial = 0; trial < numTrials; ++trial)
        {
            ++numReady;
            while (numReady < threads * (trial + 1) && !isCancelled)
            {
                std::this_thread::yield();
            }
            const Clock::time_point start = Clock::now();
            Clock::duration passed{};
            double calls = 0.0;
            do
            {
                run();
                calls += 1.0;
                passed = Clock::now() - start;
            } while (passed < TrialTime);
            rates[trial][thread] = calls * work / std::chrono::duration<double>(passed).count();
        }
    };
    const auto measureAll = [&]
    {
        std::vector<std::jthread> others;
        try
        {
            for (unsigned int thread = 1; thread < threads; ++thread)
            {
                others.emplace_back(measure, thread);
            }
        }
        catch (...)
        {
            isCancelled = true; // those that have started would wait for the rest
            throw;
        }
        measure(0);
    };
    measureAll();
    double best = 0.0;
    for (const std::vector<double>& trial : rates)
    {
        best = std::max(best, std::accumulate(trial.begin(), trial.end(), 0.0));
    }
    return best;
}

double MeasureLoop(unsigned int threads, const PeakLoop& loop)
{
    return MeasureRate(threads, loop.m_Macs, NumTrials, [&] { return loop.m_Run; });
}

/// The better one of vectors and tiles.
std::optional<double> MeasureBest(unsigned int threads, const std::optional<PeakLoop>& vectors,
                                  const std::optional<PeakLoop>& tiles)
{
    std::optional<double> best;
    for (const std::optional<PeakLoop>& loop : {vectors, tiles})
    {
        if (loop)
        {
            best = std::max(best.value_or(0.0), MeasureLoop(threads, *loop));
        }
    }
    return best;
}

double MeasureCopies(unsigned int threads, uint64_t bytes)
{
    const size_t half = static_cast<size_t>(bytes) / threads / 2;
    const auto makeCopy = [half]() -> std::function<void()>
    {
        return [half, memory = std::vector<char>(2 * half, 1)]() mutable
        {
            std::memcpy(memory.data() + half, memory.data(), half);
            std::atomic_signal_fence(std::memory_order_seq_cst); // no call is left out
        };
    };
    return MeasureRate(threads, 2.0 * static_cast<double>(half), bytes < LongBytes ? NumTrials : NumLongTrials,
                       makeCopy);
}

/// The rate for a footprint between measured ones.
double FindBytesPerSecond(const MachinePeaks& peaks, uint64_t bytes)
{
    const auto& rates = peaks.m_BytesBySize;
    const auto above =
        std::find_if(rates.begin(), rates.end(), [&](const auto& measured) { return measured.first >= bytes; });
    if (above == rates.begin() || above == rates.end())
    {
        return above == rates.begin() ? rates.front().second : rates.back().second;
    }
    const auto& [lowBytes, lowRate] = *std::prev(above);
    const auto& [highBytes, highRate] = *above;
    const double part = std::log(static_cast<double>(bytes) / static_cast<double>(lowBytes)) /
                        std::log(static_cast<double>(highBytes) / static_cast<double>(lowBytes));
    return lowRate + (highRate - lowRate) * part;
}

double FindMacsPerSecond(const MachinePeaks& peaks, DataType type)
{
    switch (type)
    {
    case DataType::QAsymmS8:
    case DataType::QAsymmU8:
    case DataType::QSymmS8: return peaks.m_Int8.value_or(peaks.m_Float32);
    case DataType::QSymmS16: return peaks.m_Int16.value_or(peaks.m_Float32);
    case DataType::BFloat16: return peaks.m_BFloat16.value_or(peaks.m_Float32);
    default: return peaks.m_Float32;
    }
}

} // namespace

MachinePeaks MeasurePeaks(unsigned int threads)
{
    const PeakLoops& loops = GetPeakLoops();
    MachinePeaks peaks;
    peaks.m_Threads = std::clamp(threads, 1U, std::max(1U, std::thread::hardware_concurrency()));
    Progress progress(4 + std::size(CopiedBytes), 0, "peaks");
    peaks.m_Float32 = MeasureLoop(peaks.m_Threads, loops.m_Float32);
    progress.Advance();
    peaks.m_BFloat16 = MeasureBest(peaks.m_Threads, loops.m_BFloat16, loops.m_BFloat16Tiles);
    progress.Advance();
    peaks.m_Int16 = MeasureBest(peaks.m_Threads, loops.m_Int16, std::nullopt);
    progress.Advance();
    peaks.m_Int8 = MeasureBest(peaks.m_Threads, loops.m_Int8, loops.m_Int8Tiles);
    progress.Advance();
    for (const uint64_t bytes : CopiedBytes)
    {
        peaks.m_BytesBySize.emplace_back(bytes, MeasureCopies(peaks.m_Threads, bytes));
        progress.Advance();
    }
    return peaks;
}

std::optional<double> ComputeRooflineMs(const MachinePeaks& peaks, const LayerWork& work, DataType type)
{
    const std::optional<uint64_t> bytes = work.CountBytes();
    if (!bytes || !work.m_Macs || (*bytes == 0 && *work.m_Macs == 0))
    {
        return {};
    }
    const double macsSeconds = static_cast<double>(*work.m_Macs) / FindMacsPerSecond(peaks, type);
    const double bytesSeconds = static_cast<double>(*bytes) / FindBytesPerSecond(peaks, *bytes);
    constexpr double msPerSecond = 1e3;
    return std::max(macsSeconds, bytesSeconds) * msPerSecond;
}

} // namespace tenon::tools
