// SPDX-License-Identifier: Apache-2.0
// The contract of ThreadPool::ParallelFor. Nothing here measures time; where a broken pool would hang, a meeting point
// gives up after a while and fails the test. Most valuable under ThreadSanitizer.
#include "common/ThreadPool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tenon::thread_pool_test
{
namespace
{

constexpr auto Patience = std::chrono::seconds(60);

// So that loops have helpers whatever the machine has.
constexpr unsigned ManyCores = 8;

// Something that threads wait for; Wait is false if it did not happen within Patience.
class Event
{
public:
    void Set()
    {
        const std::lock_guard lock(m_Mutex);
        m_Set = true;
        m_Changed.notify_all();
    }

    bool Wait()
    {
        std::unique_lock lock(m_Mutex);
        return m_Changed.wait_for(lock, Patience, [this] { return m_Set; });
    }

private:
    std::mutex m_Mutex;
    std::condition_variable m_Changed;
    bool m_Set = false;
};

// Lets nobody pass until `expected` threads are here.
class Meeting
{
public:
    explicit Meeting(unsigned expected) : m_Missing(expected) {}

    bool Arrive()
    {
        std::unique_lock lock(m_Mutex);
        if (--m_Missing == 0)
        {
            m_Changed.notify_all();
        }
        return m_Changed.wait_for(lock, Patience, [this] { return m_Missing == 0; });
    }

private:
    std::mutex m_Mutex;
    std::condition_variable m_Changed;
    unsigned m_Missing;
};

struct Shape
{
    std::size_t count;
    unsigned threads;
    std::size_t grain;
};

class ThreadPoolCoverage : public testing::TestWithParam<Shape>
{
};

TEST_P(ThreadPoolCoverage, EveryElementOnceInWholeGrains)
{
    const auto [count, threads, grain] = GetParam();
    ThreadPool pool(ManyCores);
    for (int repeat = 0; repeat < 20; ++repeat)
    {
        // Plain ints: two threads on one element would also be a race that ThreadSanitizer reports.
        std::vector<int> visits(count, 0);
        std::atomic<bool> misaligned{false};
        std::atomic<bool> badWorker{false};
        pool.ParallelFor(
            count, threads,
            [&](std::size_t begin, std::size_t end, unsigned worker)
            {
                if (begin >= end || begin % grain != 0 || (end != count && end % grain != 0))
                {
                    misaligned = true;
                }
                if (worker >= pool.Participants(threads))
                {
                    badWorker = true;
                }
                for (std::size_t i = begin; i < end; ++i)
                {
                    ++visits[i];
                }
            },
            grain);
        EXPECT_EQ(visits, std::vector<int>(count, 1));
        EXPECT_FALSE(misaligned);
        EXPECT_FALSE(badWorker);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ThreadPoolCoverage,
                         testing::Values(Shape{1, 4, 1}, Shape{2, 2, 1}, Shape{3, 2, 1}, Shape{7, 4, 1},
                                         Shape{1000, 1, 1}, Shape{1000, 0, 1}, Shape{1000, 2, 1}, Shape{1001, 3, 16},
                                         Shape{1000, 4, 999}, Shape{1000, 4, 1000}, Shape{1000, 4, 5000},
                                         Shape{5, 200, 1}, Shape{4099, 8, 7}),
                         [](const auto& test)
                         {
                             const Shape& shape = test.param;
                             return "Count" + std::to_string(shape.count) + "Threads" + std::to_string(shape.threads) +
                                    "Grain" + std::to_string(shape.grain);
                         });

TEST(ThreadPool, CountZeroCallsNothingAndStartsNothing)
{
    ThreadPool pool(ManyCores);
    pool.ParallelFor(0, 4, [](std::size_t, std::size_t, unsigned) { FAIL() << "called for an empty range"; });
    EXPECT_EQ(pool.StartedWorkers(), 0u);
}

TEST(ThreadPool, GrainZeroIsTakenAsOne)
{
    ThreadPool pool(ManyCores);
    std::vector<int> visits(10, 0);
    pool.ParallelFor(
        visits.size(), 2,
        [&](std::size_t begin, std::size_t end, unsigned)
        {
            for (std::size_t i = begin; i < end; ++i)
            {
                ++visits[i];
            }
        },
        0);
    EXPECT_EQ(visits, std::vector<int>(10, 1));
}

TEST(ThreadPool, OneThreadIsOneCallOnTheCaller)
{
    ThreadPool pool(ManyCores);
    const std::thread::id self = std::this_thread::get_id();
    int calls = 0;
    pool.ParallelFor(1000, 1,
                     [&](std::size_t begin, std::size_t end, unsigned worker)
                     {
                         ++calls;
                         EXPECT_EQ(begin, 0u);
                         EXPECT_EQ(end, 1000u);
                         EXPECT_EQ(worker, 0u);
                         EXPECT_EQ(std::this_thread::get_id(), self);
                     });
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(pool.StartedWorkers(), 0u);
}

TEST(ThreadPool, WorkersStartWhenAskedForAndNoMore)
{
    ThreadPool pool(ManyCores);
    EXPECT_EQ(pool.StartedWorkers(), 0u);
    const auto nothing = [](std::size_t, std::size_t, unsigned) {};
    pool.ParallelFor(100, 3, nothing);
    EXPECT_EQ(pool.StartedWorkers(), 2u);
    pool.ParallelFor(100, 2, nothing);
    EXPECT_EQ(pool.StartedWorkers(), 2u);
    pool.ParallelFor(2, 100, nothing); // two chunks can keep one helper busy, not 99
    EXPECT_EQ(pool.StartedWorkers(), 2u);
    pool.ParallelFor(100, 5, nothing);
    EXPECT_EQ(pool.StartedWorkers(), 4u);
}

TEST(ThreadPool, NoMoreWorkersThanCores)
{
    for (const unsigned cores : {0U, 1U, 3U})
    {
        ThreadPool pool(cores);
        std::vector<int> visits(100, 0);
        pool.ParallelFor(100, 50,
                         [&](std::size_t begin, std::size_t end, unsigned)
                         {
                             for (std::size_t i = begin; i < end; ++i)
                             {
                                 ++visits[i];
                             }
                         });
        EXPECT_EQ(visits, std::vector<int>(100, 1));
        EXPECT_EQ(pool.StartedWorkers(), std::max(cores, 1U) - 1) << cores;
    }
}

// A slot that had a loop of few seats gets one of many, while workers still look at the former.
TEST(ThreadPool, LoopsOfGrowingNumbersOfThreads)
{
    ThreadPool pool(ManyCores);
    for (int repeat = 0; repeat < 200; ++repeat)
    {
        for (const unsigned threads : {2U, 3U, 8U, 5U, 64U, 2U})
        {
            std::atomic<std::size_t> covered{0};
            pool.ParallelFor(threads + repeat % 3, threads,
                             [&](std::size_t begin, std::size_t end, unsigned) { covered += end - begin; });
            ASSERT_EQ(covered, threads + static_cast<std::size_t>(repeat % 3));
        }
    }
}

TEST(ThreadPool, AThreadBeginsWithTheSameRangeInEachLoop)
{
    ThreadPool pool(ManyCores);
    constexpr unsigned Threads = 4;
    for (int repeat = 0; repeat < 50; ++repeat)
    {
        Meeting meeting(Threads);
        std::vector<std::size_t> first(Threads, 0); // element of the first chunk of each participant
        std::vector<int> numChunks(Threads, 0);
        pool.ParallelFor(4 * Threads, Threads,
                         [&](std::size_t begin, std::size_t, unsigned worker)
                         {
                             if (numChunks[worker]++ == 0)
                             {
                                 first[worker] = begin;
                                 EXPECT_TRUE(meeting.Arrive());
                             }
                         });
        EXPECT_EQ(first, (std::vector<std::size_t>{0, 4, 8, 12}));
    }
}

TEST(ThreadPool, ParticipantsAreBounded)
{
    ThreadPool pool(ManyCores);
    EXPECT_EQ(pool.Participants(0), ManyCores);
    EXPECT_EQ(pool.Participants(3), 3u);
    EXPECT_EQ(pool.Participants(std::numeric_limits<unsigned>::max()), ThreadPool::MaxThreads);
}

TEST(ThreadPool, HugeRangesDoNotOverflow)
{
    ThreadPool pool(ManyCores);
    constexpr std::size_t Huge = std::numeric_limits<std::size_t>::max();
    for (const std::size_t grain : {std::size_t{1}, std::size_t{7}, Huge / 9, Huge / 2, Huge - 1})
    {
        std::atomic<std::size_t> covered{0};
        pool.ParallelFor(
            Huge, 3, [&](std::size_t begin, std::size_t end, unsigned) { covered += end - begin; }, grain);
        EXPECT_EQ(covered.load(), Huge) << "grain " << grain;
    }
}

// All participants must be inside at the same time, each under its own number; also after the workers went to sleep,
// where each has to be woken.
TEST(ThreadPool, AllParticipantsJoin)
{
    ThreadPool pool(ManyCores);
    constexpr unsigned Threads = 8;
    for (int repeat = 0; repeat < 5; ++repeat)
    {
        Meeting meeting(Threads);
        std::mutex mutex;
        std::set<unsigned> workers;
        pool.ParallelFor(Threads, Threads,
                         [&](std::size_t begin, std::size_t end, unsigned worker)
                         {
                             EXPECT_EQ(end - begin, 1u);
                             EXPECT_TRUE(meeting.Arrive()) << "some participants never came";
                             const std::lock_guard lock(mutex);
                             EXPECT_TRUE(workers.insert(worker).second) << "two threads are worker " << worker;
                         });
        EXPECT_EQ(workers.size(), Threads);
        EXPECT_EQ(*workers.rbegin(), Threads - 1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

TEST(ThreadPool, ConcurrentCallersEachGetTheirOwnResult)
{
    ThreadPool pool(ManyCores);
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (unsigned caller = 0; caller < 6; ++caller)
    {
        callers.emplace_back(
            [&pool, &wrong, caller]
            {
                for (std::size_t round = 0; round < 300; ++round)
                {
                    std::vector<std::size_t> values(1 + (round * 37 + caller) % 200);
                    std::vector<std::size_t> perWorker(pool.Participants(3), 0);
                    pool.ParallelFor(values.size(), 3,
                                     [&](std::size_t begin, std::size_t end, unsigned worker)
                                     {
                                         for (std::size_t i = begin; i < end; ++i)
                                         {
                                             values[i] = i + caller;
                                         }
                                         perWorker[worker] += end - begin; // scratch by worker needs no lock
                                     });
                    for (std::size_t i = 0; i < values.size(); ++i)
                    {
                        wrong += values[i] != i + caller ? 1 : 0;
                    }
                    wrong +=
                        std::accumulate(perWorker.begin(), perWorker.end(), std::size_t{0}) != values.size() ? 1 : 0;
                }
            });
    }
    for (std::thread& caller : callers)
    {
        caller.join();
    }
    EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, MoreCallersThanSlotsStillFinish)
{
    ThreadPool pool(ManyCores);
    constexpr unsigned Callers = 70; // the pool keeps track of 64 loops; the others run alone
    Meeting meeting(Callers);
    std::atomic<unsigned> elements{0};
    std::vector<std::thread> callers;
    for (unsigned caller = 0; caller < Callers; ++caller)
    {
        callers.emplace_back(
            [&]
            {
                std::atomic<bool> begun{false};
                pool.ParallelFor(
                    2, 2,
                    [&](std::size_t begin, std::size_t end, unsigned)
                    {
                        if (!begun.exchange(true)) // whoever begins this loop waits for all others to be begun
                        {
                            EXPECT_TRUE(meeting.Arrive());
                        }
                        elements += static_cast<unsigned>(end - begin);
                    });
            });
    }
    for (std::thread& caller : callers)
    {
        caller.join();
    }
    EXPECT_EQ(elements, 2 * Callers);
}

// One caller's loop is stuck, and with it every worker; another caller's loop must still end.
TEST(ThreadPool, CallerDoesNotWaitForAnothersLoop)
{
    ThreadPool pool(ManyCores);
    constexpr unsigned Threads = 3;
    Meeting allStuck(Threads + 1);
    Event release;
    std::thread other(
        [&]
        {
            pool.ParallelFor(Threads, Threads,
                             [&](std::size_t, std::size_t, unsigned)
                             {
                                 EXPECT_TRUE(allStuck.Arrive());
                                 EXPECT_TRUE(release.Wait()) << "the second loop waited for the first";
                             });
        });
    EXPECT_TRUE(allStuck.Arrive());

    std::vector<int> visits(100, 0);
    pool.ParallelFor(visits.size(), Threads,
                     [&](std::size_t begin, std::size_t end, unsigned)
                     {
                         for (std::size_t i = begin; i < end; ++i)
                         {
                             ++visits[i];
                         }
                     });
    release.Set();
    other.join();
    EXPECT_EQ(visits, std::vector<int>(100, 1));
}

TEST(ThreadPool, NestedCallsRunInline)
{
    ThreadPool pool(ManyCores);
    ThreadPool otherPool;
    std::vector<std::vector<int>> visits(16, std::vector<int>(50, 0));
    std::atomic<int> notInline{0};
    pool.ParallelFor(visits.size(), 4,
                     [&](std::size_t begin, std::size_t end, unsigned)
                     {
                         for (std::size_t row = begin; row < end; ++row)
                         {
                             const std::thread::id self = std::this_thread::get_id();
                             ThreadPool& inner = row % 2 == 0 ? pool : otherPool;
                             int calls = 0;
                             inner.ParallelFor(visits[row].size(), 4,
                                               [&](std::size_t from, std::size_t to, unsigned worker)
                                               {
                                                   ++calls;
                                                   notInline +=
                                                       self != std::this_thread::get_id() || worker != 0 ? 1 : 0;
                                                   for (std::size_t i = from; i < to; ++i)
                                                   {
                                                       ++visits[row][i];
                                                   }
                                               });
                             notInline += calls != 1 ? 1 : 0;
                         }
                     });
    EXPECT_EQ(notInline, 0);
    EXPECT_EQ(otherPool.StartedWorkers(), 0u);
    EXPECT_EQ(visits, (std::vector<std::vector<int>>(16, std::vector<int>(50, 1))));

    // Being inside ends with the loop: the next one is spread again.
    Meeting meeting(2);
    pool.ParallelFor(2, 2, [&](std::size_t, std::size_t, unsigned) { EXPECT_TRUE(meeting.Arrive()); });
}

TEST(ThreadPool, LoopsInsideAnUnspreadLoopMaySpread)
{
    ThreadPool pool(ManyCores);
    pool.ParallelFor(1, 4,
                     [&](std::size_t, std::size_t, unsigned)
                     {
                         Meeting meeting(2);
                         pool.ParallelFor(2, 2,
                                          [&](std::size_t, std::size_t, unsigned) { EXPECT_TRUE(meeting.Arrive()); });
                     });
}

TEST(ThreadPool, FirstExceptionReachesTheCallerAfterAllChunksEnded)
{
    ThreadPool pool(ManyCores);
    for (int repeat = 0; repeat < 200; ++repeat)
    {
        std::atomic<int> inside{0};
        std::string text;
        try
        {
            pool.ParallelFor(64, 4,
                             [&](std::size_t begin, std::size_t, unsigned)
                             {
                                 struct Inside
                                 {
                                     std::atomic<int>& count;
                                     explicit Inside(std::atomic<int>& c) : count(c) { ++count; }
                                     ~Inside() { --count; }
                                 } const guard(inside);
                                 if (begin % 3 == 0)
                                 {
                                     throw std::runtime_error("chunk at " + std::to_string(begin));
                                 }
                                 std::this_thread::yield();
                             });
            ADD_FAILURE() << "no exception reached the caller";
        }
        catch (const std::runtime_error& error)
        {
            text = error.what();
        }
        EXPECT_EQ(inside, 0) << "a chunk was still running";
        EXPECT_EQ(text.rfind("chunk at ", 0), 0u) << text;
    }
    // The pool is none the worse.
    std::atomic<std::size_t> covered{0};
    pool.ParallelFor(64, 4, [&](std::size_t begin, std::size_t end, unsigned) { covered += end - begin; });
    EXPECT_EQ(covered, 64u);
}

TEST(ThreadPool, ExceptionOfAHelperReachesTheCaller)
{
    ThreadPool pool(ManyCores);
    for (int repeat = 0; repeat < 50; ++repeat)
    {
        Meeting meeting(2);
        const auto body = [&](std::size_t, std::size_t, unsigned worker)
        {
            EXPECT_TRUE(meeting.Arrive());
            if (worker != 0)
            {
                throw std::out_of_range("helper");
            }
        };
        EXPECT_THROW(pool.ParallelFor(2, 2, body), std::out_of_range);
    }
}

TEST(ThreadPool, ExceptionStopsTheChunksNotYetBegun)
{
    ThreadPool pool(ManyCores);
    // Both threads are inside a chunk before either throws, so each has one and draws no second.
    std::atomic<int> calls{0};
    Meeting meeting(2);
    const auto body = [&](std::size_t, std::size_t, unsigned)
    {
        ++calls;
        EXPECT_TRUE(meeting.Arrive());
        throw std::runtime_error("stop");
    };
    EXPECT_THROW(pool.ParallelFor(1000, 2, body), std::runtime_error);
    EXPECT_EQ(calls, 2);
}

TEST(ThreadPool, InlineExceptionPassesThrough)
{
    ThreadPool pool(ManyCores);
    const auto body = [](std::size_t, std::size_t, unsigned) { throw std::logic_error("inline"); };
    EXPECT_THROW(pool.ParallelFor(10, 1, body), std::logic_error);
}

TEST(ThreadPool, DestructionWithIdleWorkers)
{
    for (int repeat = 0; repeat < 30; ++repeat)
    {
        auto pool = std::make_unique<ThreadPool>(ManyCores);
        std::atomic<std::size_t> covered{0};
        pool->ParallelFor(100, 4, [&](std::size_t begin, std::size_t end, unsigned) { covered += end - begin; });
        EXPECT_EQ(covered, 100u);
        if (repeat % 3 == 1)
        {
            std::this_thread::sleep_for(std::chrono::milliseconds(1)); // asleep by now; otherwise still watching
        }
    }
    const ThreadPool neverUsed;
}

// Many short loops in a row, with pauses that end while workers are falling asleep: a lost wake-up would show as a
// hang.
TEST(ThreadPool, NoWakeUpIsLost)
{
    ThreadPool pool(ManyCores);
    for (int repeat = 0; repeat < 300; ++repeat)
    {
        Meeting meeting(2);
        pool.ParallelFor(2, 2, [&](std::size_t, std::size_t, unsigned) { EXPECT_TRUE(meeting.Arrive()); });
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(repeat % 100);
        while (std::chrono::steady_clock::now() < end)
        {
            std::this_thread::yield();
        }
    }
}

TEST(FunctionRef, CallsWhatItRefersTo)
{
    int sum = 0;
    auto adder = [&sum](int value) { return sum += value; };
    FunctionRef<int(int)> ref = adder;
    EXPECT_EQ(ref(2), 2);
    FunctionRef<int(int)> copy = ref;
    EXPECT_EQ(copy(3), 5);

    int calls = 0;
    auto counting = [calls]() mutable { return ++calls; };
    FunctionRef<int()> mutableRef = counting;
    mutableRef();
    EXPECT_EQ(counting(), 2); // the callable itself was called, not a copy

    FunctionRef<double(double)> function = static_cast<double (&)(double)>(std::abs);
    EXPECT_EQ(function(-1.5), 1.5);
    static_assert(!std::is_constructible_v<FunctionRef<int(int)>, std::string>);
}

} // namespace
} // namespace tenon::thread_pool_test
