// SPDX-License-Identifier: Apache-2.0
// ThreadPool: see the header for the contract. How a loop lives:
//   1. The caller takes a slot, fills it under a new epoch, and sets its bit in m_Open.
//   2. Each worker that sees the bit takes a seat. A seat has a range of the loop's chunks:
//
//          seat      0          1          2          3
//          chunks | 0 1 2 3 | 4 5 6 7 | 8 9 ..  | ..      |
//
//      A thread draws the chunks of its own range first, so that it gets the same part of each tensor in one layer
//      after the other, and then chunks that are left in other ranges. Threads that are busy with their own ranges
//      write to cache lines of their own only.
//   3. A thread that finds all chunks drawn clears the bit in m_Open and writes the number of chunks that it ended on
//      its seat. The caller waits until these numbers are all chunks, and gives the slot back.
// A thread takes a chunk by an exchange that names the loop's epoch. A loop ends only when all chunks were taken under
// its epoch; a worker that comes too late therefore takes nothing, even if the slot has its next loop by then.
// A worker without a loop watches m_Open for a short while and then sleeps; see WaitForLoop and WakeSleepers for why no
// loop is missed.
#include "common/ThreadPool.hpp"

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

// A slow core can be late by one chunk. With four for each thread a loop ends at most a fourth of a thread's share
// late.
constexpr std::size_t ChunksPerThread = 4;

// Rounds that a worker leaves to those whose seats a loop has, if it has none for this worker.
constexpr int RoundsOfCourtesy = 16;

// Sleepers that one thread wakes. Those wake others, so that all of many are awake after a few wakings in a row.
constexpr unsigned WakesPerThread = 2;

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

// Words of a seat.
constexpr std::uint64_t MakeWord(std::uint32_t epoch, std::uint32_t number) noexcept
{
    return std::uint64_t{epoch} << 32 | number;
}
constexpr std::uint32_t GetEpoch(std::uint64_t word) noexcept
{
    return static_cast<std::uint32_t>(word >> 32);
}
constexpr std::uint32_t GetNumber(std::uint64_t word) noexcept
{
    return static_cast<std::uint32_t>(word);
}
// Epochs may wrap around.
constexpr bool IsBefore(std::uint32_t epoch, std::uint32_t other) noexcept
{
    return static_cast<std::int32_t>(other - epoch) > 0;
}

constexpr std::size_t DivideUp(std::size_t value, std::size_t divisor) noexcept
{
    return value / divisor + (value % divisor != 0 ? 1 : 0);
}

} // namespace

ThreadPool::ThreadPool(unsigned cores)
    : m_Cores(std::max(cores, 1u)), m_SpinTime(m_Cores > 1 ? SpinTime : std::chrono::nanoseconds(0)),
      m_WorkerLimit(std::min(m_Cores, MaxThreads) - 1)
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
    const std::uint64_t bit = std::uint64_t{1} << slotIndex;
    const std::size_t grains = DivideUp(count, grain);
    const std::size_t grainsPerChunk = DivideUp(grains, threads * ChunksPerThread);
    Loop loop;
    loop.body = &body;
    loop.count = count;
    loop.chunkSize = grainsPerChunk * grain; // cannot overflow: it is grain itself, or below half of count
    loop.chunks = static_cast<std::uint32_t>(DivideUp(grains, grainsPerChunk));
    loop.participants = std::min(threads, loop.chunks);
    if (!ReserveSeats(slot, loop.participants))
    {
        m_Used.fetch_and(~bit, std::memory_order_release);
        body(0, count, 0);
        return;
    }
    loop.seats = slot.seats.load(std::memory_order_relaxed);
    loop.epoch = slot.epoch.load(std::memory_order_relaxed) + 2;

    // The order of stores that Read relies on.
    slot.epoch.store(loop.epoch - 1, std::memory_order_relaxed);
    slot.chunks.store(loop.chunks, std::memory_order_release);
    slot.participants.store(loop.participants, std::memory_order_release);
    slot.body.store(loop.body, std::memory_order_release);
    slot.count.store(loop.count, std::memory_order_release);
    slot.chunkSize.store(loop.chunkSize, std::memory_order_release);
    slot.failed.store(false, std::memory_order_relaxed);
    slot.epoch.store(loop.epoch, std::memory_order_release);
    m_Open.fetch_or(bit, std::memory_order_seq_cst);
    StartWorkers(loop.participants - 1);
    WakeSleepers();

    t_InsideLoop = true;
    const std::uint32_t done = RunChunks(slot, loop, 0);
    t_InsideLoop = false;
    Close(slot); // maybe all chunks were others'
    WaitForHelpers(slot, loop, loop.chunks - done);

    std::exception_ptr error = std::move(slot.error);
    slot.error = nullptr;
    m_Used.fetch_and(~bit, std::memory_order_release);
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

// False if there is no memory for them.
bool ThreadPool::ReserveSeats(Slot& slot, unsigned participants) noexcept
{
    if (participants <= slot.capacity)
    {
        return true;
    }
    try
    {
        const unsigned capacity = std::min(std::max(participants, 2 * slot.capacity), MaxThreads);
        slot.allSeats.push_back(std::make_unique<Seat[]>(capacity));
        slot.capacity = capacity;
    }
    catch (const std::bad_alloc&)
    {
        return false;
    }
    // Read as a part of a loop: behind the odd epoch, like the other fields.
    slot.epoch.store(slot.epoch.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    slot.seats.store(slot.allSeats.back().get(), std::memory_order_release);
    slot.epoch.store(slot.epoch.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return true;
}

// False while the fields change. They are stored with release order behind an odd epoch: a load that has a field of a
// later loop makes the second load of the epoch see that epoch.
bool ThreadPool::Read(const Slot& slot, Loop& loop) noexcept
{
    loop.epoch = slot.epoch.load(std::memory_order_acquire);
    loop.chunks = slot.chunks.load(std::memory_order_acquire);
    loop.participants = slot.participants.load(std::memory_order_acquire);
    loop.body = slot.body.load(std::memory_order_acquire);
    loop.count = slot.count.load(std::memory_order_acquire);
    loop.chunkSize = slot.chunkSize.load(std::memory_order_acquire);
    loop.seats = slot.seats.load(std::memory_order_acquire);
    return loop.epoch % 2 == 0 && slot.epoch.load(std::memory_order_relaxed) == loop.epoch;
}

// Seat 0 is the caller's. Worker i sits on seat i + 1 if it can.
bool ThreadPool::TakeSeat(const Loop& loop, const Worker& worker, unsigned& seat) noexcept
{
    const unsigned seats = loop.participants - 1;
    for (unsigned round = 0; worker.index >= seats && round < RoundsOfCourtesy; ++round)
    {
        CpuRelax();
    }
    for (unsigned i = 0; i < seats; ++i)
    {
        seat = 1 + (worker.index + i) % seats;
        std::uint32_t taken = loop.seats[seat].taken.load(std::memory_order_relaxed);
        if (IsBefore(taken, loop.epoch) &&
            loop.seats[seat].taken.compare_exchange_strong(taken, loop.epoch, std::memory_order_relaxed))
        {
            return true;
        }
    }
    return false;
}

// Takes a chunk of the range of seat `owner`; false if none is left, or the loop has ended.
bool ThreadPool::Draw(const Loop& loop, unsigned owner, std::uint32_t& chunk) noexcept
{
    const std::uint32_t first = owner * loop.chunks / loop.participants;
    const std::uint32_t size = (owner + 1) * loop.chunks / loop.participants - first;
    std::atomic<std::uint64_t>& word = loop.seats[owner].drawn;
    std::uint64_t drawn = word.load(std::memory_order_relaxed);
    for (;;)
    {
        const std::uint32_t epoch = GetEpoch(drawn);
        const std::uint32_t number = epoch == loop.epoch ? GetNumber(drawn) : 0;
        if (IsBefore(loop.epoch, epoch) || number >= size)
        {
            return false;
        }
        if (word.compare_exchange_weak(drawn, MakeWord(loop.epoch, number + 1), std::memory_order_relaxed))
        {
            chunk = first + number;
            return true;
        }
    }
}

void ThreadPool::RunChunk(Slot& slot, const Loop& loop, std::uint32_t chunk, unsigned seat) noexcept
{
    if (slot.failed.load(std::memory_order_relaxed))
    {
        return; // the rest of the loop is only counted
    }
    const std::size_t begin = chunk * loop.chunkSize;
    const std::size_t end = begin + std::min(loop.chunkSize, loop.count - begin);
    try
    {
        (*loop.body)(begin, end, seat);
    }
    catch (...)
    {
        // The first one to get here alone writes the error; the caller reads it after all chunks have ended.
        if (!slot.failed.exchange(true, std::memory_order_relaxed))
        {
            slot.error = std::current_exception();
        }
    }
}

// The number of chunks that this call ran. If there were any, the slot cannot have another loop until they are counted.
std::uint32_t ThreadPool::RunChunks(Slot& slot, const Loop& loop, unsigned seat) noexcept
{
    std::uint32_t done = 0;
    for (unsigned i = 0; i < loop.participants; ++i)
    {
        const unsigned owner = (seat + i) % loop.participants;
        for (std::uint32_t chunk = 0; Draw(loop, owner, chunk); ++done)
        {
            RunChunk(slot, loop, chunk, seat);
        }
    }
    return done;
}

void ThreadPool::Close(const Slot& slot) noexcept
{
    const std::uint64_t bit = std::uint64_t{1} << (&slot - m_Slots.data());
    if ((m_Open.load(std::memory_order_relaxed) & bit) != 0)
    {
        m_Open.fetch_and(~bit, std::memory_order_relaxed);
    }
}

// `missing`: chunks that helpers run. Both sides of sleeping are sequentially consistent: either the helper sees that
// the caller sleeps, or the caller sees what the helper counted.
void ThreadPool::WaitForHelpers(Slot& slot, const Loop& loop, std::uint32_t missing) const noexcept
{
    const auto isDone = [&]() noexcept
    {
        std::uint32_t done = 0;
        for (unsigned seat = 1; seat < loop.participants && done < missing; ++seat)
        {
            const std::uint64_t word = loop.seats[seat].done.load(std::memory_order_seq_cst);
            done += GetEpoch(word) == loop.epoch ? GetNumber(word) : 0;
        }
        return done >= missing;
    };
    if (SpinUntil(m_SpinTime, isDone))
    {
        return;
    }
    slot.callerSleeps.store(true, std::memory_order_seq_cst);
    for (;;)
    {
        const std::uint32_t finished = slot.finished.load(std::memory_order_seq_cst);
        if (isDone())
        {
            break;
        }
        slot.finished.wait(finished, std::memory_order_seq_cst);
    }
    slot.callerSleeps.store(false, std::memory_order_relaxed);
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
    Worker worker;
    worker.index = index;
    do
    {
        while (HelpSomebody(worker))
        {
        }
    } while (WaitForLoop(worker));
}

// Joins one open loop and works until it has no chunks left. Of several loops, workers of even and odd numbers begin
// with different ones.
bool ThreadPool::HelpSomebody(Worker& worker) noexcept
{
    std::uint64_t open = m_Open.load(std::memory_order_seq_cst);
    const int turn = open != 0 && worker.index % 2 != 0 ? std::countr_zero(open) + 1 : 0;
    open = std::rotr(open, turn);
    for (; open != 0; open &= open - 1)
    {
        const auto slotIndex = static_cast<unsigned>(std::countr_zero(open) + turn) % SlotCount;
        Slot& slot = m_Slots[slotIndex];
        Loop loop;
        if (!Read(slot, loop) || loop.epoch == worker.seen[slotIndex])
        {
            continue;
        }
        worker.seen[slotIndex] = loop.epoch;
        unsigned seat = 0;
        if (!TakeSeat(loop, worker, seat))
        {
            continue;
        }
        WakeSleepers();
        const std::uint32_t done = RunChunks(slot, loop, seat);
        if (done != 0)
        {
            Close(slot);
            loop.seats[seat].done.store(MakeWord(loop.epoch, done), std::memory_order_seq_cst);
            if (slot.callerSleeps.load(std::memory_order_seq_cst))
            {
                slot.finished.fetch_add(1, std::memory_order_seq_cst);
                slot.finished.notify_all();
            }
        }
        return true;
    }
    return false;
}

bool ThreadPool::HasOpenLoops(const Worker& worker) const noexcept
{
    std::uint64_t open = m_Open.load(std::memory_order_seq_cst);
    for (; open != 0; open &= open - 1)
    {
        const auto slotIndex = static_cast<std::size_t>(std::countr_zero(open));
        if (m_Slots[slotIndex].epoch.load(std::memory_order_relaxed) != worker.seen[slotIndex])
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
bool ThreadPool::WaitForLoop(const Worker& worker) noexcept
{
    const auto ready = [&]() noexcept { return HasOpenLoops(worker) || m_Stopping.load(std::memory_order_relaxed); };
    if (SpinUntil(m_SpinTime, ready))
    {
        return !m_Stopping.load(std::memory_order_relaxed);
    }
    const std::uint32_t wakeCount = m_WakeCount.load(std::memory_order_seq_cst);
    m_Sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (!HasOpenLoops(worker) && !m_Stopping.load(std::memory_order_seq_cst))
    {
        m_WakeCount.wait(wakeCount, std::memory_order_seq_cst);
    }
    m_Sleepers.fetch_sub(1, std::memory_order_seq_cst);
    return !m_Stopping.load(std::memory_order_relaxed);
}

// Wakes a few sleeping workers if the open loops have seats for more than are awake.
void ThreadPool::WakeSleepers() noexcept
{
    const std::uint32_t sleepers = m_Sleepers.load(std::memory_order_seq_cst);
    if (sleepers == 0)
    {
        return;
    }
    std::uint32_t wanted = 0;
    for (std::uint64_t open = m_Open.load(std::memory_order_relaxed); open != 0; open &= open - 1)
    {
        const Slot& slot = m_Slots[static_cast<std::size_t>(std::countr_zero(open))];
        wanted += slot.participants.load(std::memory_order_relaxed) - 1;
    }
    const unsigned started = m_Started.load(std::memory_order_relaxed);
    const unsigned awake = started - std::min(sleepers, started);
    const unsigned wakes = std::min({wanted - std::min(awake, wanted), sleepers, WakesPerThread});
    if (wakes != 0)
    {
        m_WakeCount.fetch_add(1, std::memory_order_seq_cst);
        for (unsigned i = 0; i < wakes; ++i)
        {
            m_WakeCount.notify_one();
        }
    }
}

} // namespace tenon
