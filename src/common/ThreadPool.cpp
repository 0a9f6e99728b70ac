// SPDX-License-Identifier: Apache-2.0
// ThreadPool: see the header for the contract. How a loop lives:
//   1. The caller takes a slot, fills it, gives it places for helpers and sets its bit in m_Open.
//   2. Caller and helpers draw chunk numbers from the slot's counter until none is left.
//   3. Whoever finds the counter exhausted clears the bit in m_Open; the caller takes the places away, which keeps
//   newcomers
//      out, waits for the helpers inside to leave, and gives the slot back.
// A worker without a loop watches m_Open for a short while and then sleeps; see WaitForLoop and Wake for why no loop is
// missed.
#include "common/ThreadPool.hpp"

#include "common/Cores.hpp"
#include "common/Threads.hpp"

#include <algorithm>
#include <bit>

namespace tenon
{
namespace
{

// How long an idle thread watches before it sleeps: longer than the gaps between the layers of one inference, shorter
// than a person or a battery notices. Waking a sleeping thread costs about as much as a whole small layer.
constexpr std::chrono::nanoseconds SpinTime = std::chrono::microseconds(50);

// Watching rounds between two looks at the clock, which costs as much as a round or more.
constexpr int RoundsPerClockRead = 16;

// A slow core can be late by one chunk; drawing a chunk costs an atomic addition. With four for each thread a loop ends
// at most a fourth of a thread's share late.
constexpr std::size_t ChunksPerThread = 4;

// Slot::state
constexpr std::uint32_t OneHelper = 1;
constexpr std::uint32_t HelperMask = 0xFFFF;
constexpr std::uint32_t OnePlace = 1u << 16;
constexpr std::uint32_t PlacesMask = 0x7FFFu << 16;
constexpr std::uint32_t CallerSleeps = 1u << 31;

// ThreadPool::m_Idle
constexpr std::uint32_t OneSpinner = 1;
constexpr std::uint32_t SpinnerMask = 0xFFFF;
constexpr std::uint32_t OneSleeper = 1u << 16;

// Whether this thread is inside the body of a spread loop, of whatever pool: cores are then already shared out.
thread_local bool t_InsideLoop = false;

inline void CpuRelax() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("isb" ::: "memory"); // "yield" is a no-op on most cores
#elif defined(__arm__)
    __asm__ __volatile__("yield" ::: "memory");
#endif
}

// Watches until done() or for about `time`; says whether done() held.
template <typename Predicate>
bool SpinUntil(std::chrono::nanoseconds time, Predicate done) noexcept
{
    if (done())
    {
        return true;
    }
    if (time.count() == 0)
    {
        return false;
    }
    const auto end = std::chrono::steady_clock::now() + time;
    do
    {
        for (int round = 0; round < RoundsPerClockRead; ++round)
        {
            CpuRelax();
            if (done())
            {
                return true;
            }
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

constexpr std::size_t DivideUp(std::size_t value, std::size_t divisor) noexcept
{
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

} // namespace

ThreadPool::ThreadPool()
    : m_Cores(CountCores()),
      m_SpinTime(m_Cores > 1 ? SpinTime
                             : std::chrono::nanoseconds(0)) // on one core, watching delays the watched thread
{
}

ThreadPool::~ThreadPool()
{
    m_Stopping.store(true, std::memory_order_seq_cst);
    m_WakeCount.fetch_add(1, std::memory_order_seq_cst);
    m_WakeCount.notify_all();
    for (std::thread& thread : m_Threads)
    {
        thread.join();
    }
}

unsigned ThreadPool::Participants(unsigned threads) const noexcept
{
    return std::min(threads == 0 ? m_Cores : threads, MaxThreads);
}

bool ThreadPool::IsInsideLoop() noexcept
{
    return t_InsideLoop;
}

void ThreadPool::ParallelFor(std::size_t count, unsigned threads, Body body, std::size_t grain)
{
    if (count == 0)
    {
        return;
    }
    grain = std::max<std::size_t>(grain, 1);
    int slotIndex = -1;
    if (threads != 1 && count > grain && !t_InsideLoop)
    {
        threads = Participants(threads);
        slotIndex = threads > 1 ? TakeSlot() : -1;
    }
    if (slotIndex < 0)
    {
        body(0, count, 0);
        return;
    }

    Slot& slot = m_Slots[static_cast<std::size_t>(slotIndex)];
    const std::size_t grains = DivideUp(count, grain);
    const std::size_t grainsPerChunk = DivideUp(grains, threads * ChunksPerThread);
    slot.body = &body;
    slot.count = count;
    slot.chunkSize = grainsPerChunk * grain; // cannot overflow: it is grain itself, or below half of count
    slot.chunks = DivideUp(grains, grainsPerChunk);
    slot.places = static_cast<unsigned>(std::min<std::size_t>(threads, slot.chunks)) - 1;
    slot.failed.store(false, std::memory_order_relaxed);
    slot.nextChunk.store(0, std::memory_order_relaxed);

    const unsigned index = static_cast<unsigned>(slotIndex);
    slot.state.store(slot.places * OnePlace, std::memory_order_release);
    m_Open.fetch_or(std::uint64_t{1} << index, std::memory_order_seq_cst);
    StartWorkers(slot.places);
    Wake(slot.places);

    t_InsideLoop = true;
    RunChunks(slot, index, 0);
    t_InsideLoop = false;
    WaitForHelpers(slot);

    std::exception_ptr error = std::move(slot.error);
    slot.error = nullptr;
    m_Used.fetch_and(~(std::uint64_t{1} << index), std::memory_order_release);
    if (error)
    {
        std::rethrow_exception(std::move(error));
    }
}

// The index of a slot that is now the caller's, or -1 if all are taken.
int ThreadPool::TakeSlot() noexcept
{
    std::uint64_t used = m_Used.load(std::memory_order_relaxed);
    while (~used != 0)
    {
        const int index = std::countr_one(used);
        if (m_Used.compare_exchange_weak(used, used | std::uint64_t{1} << index, std::memory_order_acquire,
                                         std::memory_order_relaxed))
        {
            return index;
        }
    }
    return -1;
}

void ThreadPool::RunChunks(Slot& slot, unsigned slotIndex, unsigned worker) noexcept
{
    for (;;)
    {
        const std::size_t chunk = slot.nextChunk.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= slot.chunks)
        {
            break;
        }
        const std::size_t begin = chunk * slot.chunkSize;
        const std::size_t end = begin + std::min(slot.chunkSize, slot.count - begin);
        try
        {
            (*slot.body)(begin, end, worker);
        }
        catch (...)
        {
            // The first one to get here alone writes the error; the caller reads it after the last helper has left.
            if (!slot.failed.exchange(true, std::memory_order_relaxed))
            {
                slot.error = std::current_exception();
            }
            slot.nextChunk.store(slot.chunks, std::memory_order_relaxed);
        }
    }
    // Done before leaving, while the slot cannot yet have been given to another loop.
    const std::uint64_t bit = std::uint64_t{1} << slotIndex;
    if ((m_Open.load(std::memory_order_relaxed) & bit) != 0)
    {
        m_Open.fetch_and(~bit, std::memory_order_relaxed);
    }
}

void ThreadPool::WaitForHelpers(Slot& slot) const noexcept
{
    slot.state.fetch_and(~PlacesMask, std::memory_order_acq_rel);
    const auto empty = [&slot]() noexcept { return (slot.state.load(std::memory_order_acquire) & HelperMask) == 0; };
    if (SpinUntil(m_SpinTime, empty))
    {
        return;
    }
    std::uint32_t state = slot.state.fetch_or(CallerSleeps, std::memory_order_acq_rel) | CallerSleeps;
    while ((state & HelperMask) != 0)
    {
        slot.state.wait(state, std::memory_order_acquire);
        state = slot.state.load(std::memory_order_acquire);
    }
}

void ThreadPool::StartWorkers(unsigned wanted) noexcept
{
    if (m_Started.load(std::memory_order_acquire) >= std::min(wanted, m_WorkerLimit.load(std::memory_order_relaxed)))
    {
        return;
    }
    const std::lock_guard lock(m_StartMutex);
    unsigned started = m_Started.load(std::memory_order_relaxed);
    try
    {
        for (; started < std::min(wanted, m_WorkerLimit.load(std::memory_order_relaxed)); ++started)
        {
            m_Threads.emplace_back(&ThreadPool::WorkerMain, this, started);
            m_Started.store(started + 1, std::memory_order_release);
        }
    }
    catch (const std::exception&)
    {
        // The system gives no more threads: go on with these, and do not ask again for every loop.
        m_WorkerLimit.store(started, std::memory_order_relaxed);
    }
}

void ThreadPool::WorkerMain(unsigned index) noexcept
{
    NameThread("tenon-worker");
    t_InsideLoop = true;
    do
    {
        while (HelpSomebody(index))
        {
        }
    } while (WaitForLoop());
}

// Joins one open loop and works until it has no chunks left. Workers begin their search at different slots, so that
// several loops at once share them.
bool ThreadPool::HelpSomebody(unsigned index) noexcept
{
    const int start = static_cast<int>(index % SlotCount);
    std::uint64_t open = std::rotr(m_Open.load(std::memory_order_seq_cst), start);
    for (; open != 0; open &= open - 1)
    {
        const unsigned slotIndex = (static_cast<unsigned>(std::countr_zero(open)) + index) % SlotCount;
        Slot& slot = m_Slots[slotIndex];
        std::uint32_t state = slot.state.load(std::memory_order_relaxed);
        bool joined = false;
        while ((state & PlacesMask) != 0 && !joined)
        {
            joined = slot.state.compare_exchange_weak(state, state - OnePlace + OneHelper, std::memory_order_acquire,
                                                      std::memory_order_relaxed);
        }
        if (!joined)
        {
            continue;
        }
        const unsigned placesLeft = (state & PlacesMask) / OnePlace - 1;
        const std::uint64_t bit = std::uint64_t{1} << slotIndex;
        const std::uint64_t wanting = placesLeft == 0 ? m_Open.fetch_and(~bit, std::memory_order_seq_cst) & ~bit : bit;
        if (wanting != 0)
        {
            // The caller woke one worker; each helper wakes the next, so that nobody pays for all. The same holds for
            // another loop whose caller may have counted on this worker.
            Wake(std::max(placesLeft, 1u));
        }
        RunChunks(slot, slotIndex, slot.places - placesLeft);

        const std::uint32_t before = slot.state.fetch_sub(OneHelper, std::memory_order_acq_rel);
        if ((before & HelperMask) == OneHelper && (before & CallerSleeps) != 0)
        {
            slot.state.notify_all();
        }
        return true;
    }
    return false;
}

bool ThreadPool::HasOpenLoops() const noexcept
{
    std::uint64_t open = m_Open.load(std::memory_order_seq_cst);
    for (; open != 0; open &= open - 1)
    {
        const auto slotIndex = static_cast<std::size_t>(std::countr_zero(open));
        if ((m_Slots[slotIndex].state.load(std::memory_order_relaxed) & PlacesMask) != 0)
        {
            return true;
        }
    }
    return false;
}

// Returns when a loop may want help; false when the pool ends. A worker first counts itself as sleeping and then looks
// once more; a caller first opens its loop and then looks for sleepers (all of it sequentially consistent). Therefore
// either the worker sees the loop, or the caller sees the sleeper and changes m_WakeCount, without which the wait
// cannot begin or go on.
bool ThreadPool::WaitForLoop() noexcept
{
    const auto ready = [this]() noexcept { return HasOpenLoops() || m_Stopping.load(std::memory_order_relaxed); };

    const std::uint32_t before = m_Idle.fetch_add(OneSpinner, std::memory_order_seq_cst);
    // One core is left to the thread that prepares the next loop.
    const bool mayWatch = (before & SpinnerMask) + 1 < m_Cores;
    if (SpinUntil(mayWatch ? m_SpinTime : std::chrono::nanoseconds(0), ready))
    {
        m_Idle.fetch_sub(OneSpinner, std::memory_order_seq_cst);
        return !m_Stopping.load(std::memory_order_relaxed);
    }
    const std::uint32_t wakeCount = m_WakeCount.load(std::memory_order_seq_cst);
    m_Idle.fetch_add(OneSleeper - OneSpinner, std::memory_order_seq_cst);
    if (!HasOpenLoops() && !m_Stopping.load(std::memory_order_seq_cst))
    {
        m_WakeCount.wait(wakeCount, std::memory_order_seq_cst);
    }
    m_Idle.fetch_sub(OneSleeper, std::memory_order_seq_cst);
    return !m_Stopping.load(std::memory_order_relaxed);
}

// Wakes one sleeping worker unless the watching ones suffice.
void ThreadPool::Wake(unsigned wanted) noexcept
{
    const std::uint32_t idle = m_Idle.load(std::memory_order_seq_cst);
    if (idle >= OneSleeper && (idle & SpinnerMask) < wanted)
    {
        m_WakeCount.fetch_add(1, std::memory_order_seq_cst);
        m_WakeCount.notify_one();
    }
}

} // namespace tenon
