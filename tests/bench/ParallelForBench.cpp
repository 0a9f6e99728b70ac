// SPDX-License-Identifier: Apache-2.0
// What ThreadPool::ParallelFor costs around a layer, beside Eigen's thread pool in the same run. Run it on a quiet
// machine:
//   bench_parallel_for --benchmark_repetitions=5
// Columns: time = one whole loop; helper_ns = from the call to the first instruction of the second thread's share,
// median over the loops in which it came; helped = share of the loops in which a second thread came at all. Eigen's
// side is written as its users do: all shares but the first are scheduled, the caller does the first and waits.
#include "common/FunctionRef.hpp"
#include "common/ThreadPool.hpp"

#include <benchmark/benchmark.h>

// Warnings of a header that is not ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <unsupported/Eigen/CXX11/ThreadPool>
#pragma GCC diagnostic pop

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace
{

using Clock = std::chrono::steady_clock;
using Body = tenon::FunctionRef<void(std::size_t begin, std::size_t end, unsigned worker)>;

constexpr unsigned Threads = 2;

std::int64_t Nanoseconds(Clock::duration time)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Arithmetic that depends on itself: its time is the same on every core, and no clock is read in it.
std::uint64_t Work(std::uint64_t rounds)
{
    std::uint64_t value = 1;
    for (std::uint64_t i = 0; i < rounds; ++i)
    {
        value = value * 6364136223846793005u + 1442695040888963407u;
        benchmark::DoNotOptimize(value);
    }
    return value;
}

// Rounds of Work that take `time`, measured once: the best of several, as other programs may disturb some.
std::uint64_t RoundsFor(std::chrono::nanoseconds time)
{
    static const double nanosecondsPerRound = []
    {
        constexpr std::uint64_t Probe = 100'000;
        double best = 1e9;
        for (int i = 0; i < 20; ++i)
        {
            const auto start = Clock::now();
            benchmark::DoNotOptimize(Work(Probe));
            best = std::min(best, static_cast<double>(Nanoseconds(Clock::now() - start)) / Probe);
        }
        return best;
    }();
    return static_cast<std::uint64_t>(static_cast<double>(time.count()) / nanosecondsPerRound);
}

struct Inline
{
    void Run(std::size_t count, Body body) { body(0, count, 0); }
};

struct Tenon
{
    tenon::ThreadPool pool;

    void Run(std::size_t count, Body body) { pool.ParallelFor(count, Threads, body); }
};

struct Eigens
{
    Eigen::ThreadPool pool{static_cast<int>(Threads) - 1};

    void Run(std::size_t count, Body body)
    {
        Eigen::Barrier barrier(Threads - 1);
        const std::size_t share = (count + Threads - 1) / Threads;
        for (unsigned worker = 1; worker < Threads; ++worker)
        {
            pool.Schedule(
                [&barrier, body, worker, share, count]
                {
                    body(std::min(worker * share, count), std::min((worker + 1) * share, count), worker);
                    barrier.Notify();
                });
        }
        body(0, std::min(share, count), 0);
        barrier.Wait();
    }
};

// Two shares of `taskNs` each, with `gapNs` of serial work on the caller between the loops: 0 is a network of parallel
// layers; a few us is the usual bookkeeping; longer than a pool's patience, its workers have gone to sleep.
template <typename Pool>
void TwoChunks(benchmark::State& state)
{
    Pool pool;
    const std::uint64_t taskRounds = RoundsFor(std::chrono::nanoseconds(state.range(0)));
    const std::uint64_t gapRounds = RoundsFor(std::chrono::nanoseconds(state.range(1)));
    std::vector<std::int64_t> delays;
    delays.reserve(1 << 20);
    std::int64_t loops = 0;
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(Work(gapRounds));
        Clock::time_point arrival{};
        const auto start = Clock::now();
        pool.Run(2,
                 [&](std::size_t begin, std::size_t end, unsigned worker)
                 {
                     if (worker != 0)
                     {
                         arrival = Clock::now();
                     }
                     benchmark::DoNotOptimize(Work(taskRounds * (end - begin)));
                 });
        state.SetIterationTime(static_cast<double>(Nanoseconds(Clock::now() - start)) * 1e-9);
        ++loops;
        if (arrival != Clock::time_point{} && delays.size() < delays.capacity())
        {
            delays.push_back(Nanoseconds(arrival - start));
        }
    }
    if (!delays.empty())
    {
        const auto middle = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 2);
        std::nth_element(delays.begin(), middle, delays.end());
        state.counters["helper_ns"] = static_cast<double>(*middle);
    }
    state.counters["helped"] =
        static_cast<double>(delays.size()) / static_cast<double>(std::max<std::int64_t>(loops, 1));
}

void Cases(benchmark::internal::Benchmark* bench)
{
    bench->ArgNames({"task_ns", "gap_ns"})->UseManualTime()->Unit(benchmark::kMicrosecond);
    for (const std::int64_t gap : {0, 5'000, 30'000, 200'000})
    {
        bench->Args({20'000, gap});
    }
    bench->Args({5'000, 0})->Args({0, 0})->Args({0, 5'000});
}

BENCHMARK_TEMPLATE(TwoChunks, Inline)->Apply(Cases);
BENCHMARK_TEMPLATE(TwoChunks, Tenon)->Apply(Cases);
BENCHMARK_TEMPLATE(TwoChunks, Eigens)->Apply(Cases);

// Several threads with loops of their own on one pool: what a caller pays for the others.
template <typename Pool>
void ConcurrentCallers(benchmark::State& state)
{
    static std::unique_ptr<Pool> pool;
    if (state.thread_index() == 0)
    {
        pool = std::make_unique<Pool>();
    }
    const std::uint64_t rounds = RoundsFor(std::chrono::microseconds(20));
    for (auto _ : state)
    {
        pool->Run(2, [&](std::size_t begin, std::size_t end, unsigned)
                  { benchmark::DoNotOptimize(Work(rounds * (end - begin))); });
    }
    if (state.thread_index() == 0)
    {
        pool.reset();
    }
}

BENCHMARK_TEMPLATE(ConcurrentCallers, Inline)->Threads(2)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(ConcurrentCallers, Tenon)->Threads(2)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_TEMPLATE(ConcurrentCallers, Eigens)->Threads(2)->UseRealTime()->Unit(benchmark::kMicrosecond);

} // namespace

BENCHMARK_MAIN();
