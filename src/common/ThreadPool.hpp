// SPDX-License-Identifier: Apache-2.0
// The one way in which Tenon runs something on several cores: ThreadPool::ParallelFor. The runtime owns a pool and
// hands it to workloads; there is no global one. The contract is made for layers of 20 to 100 microseconds:
//   - the caller always works on its own loop, so a loop never waits for a free worker, nor for anybody else's loop;
//   - idle workers join whichever loops are open, from any number of calling threads;
//   - no more threads work on one loop than the machine has cores;
//   - a loop started from inside a spread loop's body runs inline, on the thread that asked;
//   - the first exception of a body reaches the caller, after every chunk under way has ended;
//   - one thread asked for means a plain function call: no atomics, no locks, no workers.
#pragma once

#include "common/Cores.hpp"
#include "common/FunctionRef.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon
{

class ThreadPool
{
public:
    // [begin, end) is the chunk. `worker` tells apart the threads that take part in one loop: 0 is the caller, all are
    // below Participants(threads), and no two chunks that run at the same time have the same one (so it can index
    // scratch).
    using Body = FunctionRef<void(std::size_t begin, std::size_t end, unsigned worker)>;

    // More threads than this are never used for one loop.
    static constexpr unsigned MaxThreads = 256;

    // Starts nothing: workers start when a loop first asks for them, one less than cores at most.
    explicit ThreadPool(unsigned cores = CountCores());
    ~ThreadPool(); // no loop may be running
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // Calls body over [0, count) in chunks that start at multiples of grain and never overlap; returns when all have
    // ended. threads: the maximum number that takes part, the caller included; 0 means every core. A loop that is not
    // spread (one thread, count <= grain, or a nested call) is one call body(0, count, 0). Nothing is called for count
    // 0. Every write of the bodies is visible to the caller afterwards. If a worker cannot be started, the loop runs
    // with those there are.
    void ParallelFor(std::size_t count, unsigned threads, Body body, std::size_t grain = 1);

    // The bound on `worker` for a loop asked for with `threads`.
    unsigned Participants(unsigned threads) const noexcept;

    // Whether the calling thread is inside a body of a spread loop, of whatever pool: a loop that it starts runs
    // inline.
    static bool IsInsideLoop() noexcept;

    unsigned Cores() const noexcept { return m_Cores; }
    unsigned StartedWorkers() const noexcept { return m_Started.load(std::memory_order_acquire); }

private:
    // The place of one participant in a loop, and the range of chunks that it draws from first. The upper half of a
    // word is the epoch of the loop that it belongs to; a word of an older loop stands for 0, so that a loop starts
    // without writing its seats.
    struct alignas(64) Seat
    {
        std::atomic<std::uint64_t> drawn{0}; // chunks of the range that somebody has taken
        std::atomic<std::uint64_t> done{0};  // chunks, of all ranges, that this participant has ended
        std::atomic<std::uint32_t> taken{0}; // epoch of the loop in which somebody sits here
    };

    // A spread loop. Slots live as long as the pool, so that a worker that looks at a loop too late looks at valid
    // memory. The fields are those of a sequence lock: the epoch is odd while they change.
    struct Slot
    {
        alignas(64) std::atomic<std::uint32_t> epoch{0};
        std::atomic<std::uint32_t> chunks{0};
        std::atomic<std::uint32_t> participants{0};
        std::atomic<bool> callerSleeps{false};
        std::atomic<bool> failed{false};
        std::atomic<const Body*> body{nullptr};
        std::atomic<std::size_t> count{0};
        std::atomic<std::size_t> chunkSize{0};
        std::atomic<Seat*> seats{nullptr};

        alignas(64) std::atomic<std::uint32_t> finished{0}; // what a sleeping caller waits on
        std::exception_ptr error;                           // see RunChunk
        unsigned capacity = 0;                              // of seats; this and the next are the caller's alone
        std::vector<std::unique_ptr<Seat[]>> allSeats;      // earlier ones too: a late worker may look at them
    };

    // A loop as a worker read it.
    struct Loop
    {
        std::uint32_t epoch = 0;
        std::uint32_t chunks = 0;
        std::uint32_t participants = 0;
        const Body* body = nullptr;
        std::size_t count = 0;
        std::size_t chunkSize = 0;
        Seat* seats = nullptr;
    };

    // Bits of m_Used and m_Open. A caller beyond this many loops at once works alone.
    static constexpr unsigned SlotCount = 64;

    // A worker's own notes.
    struct Worker
    {
        unsigned index = 0;
        std::array<std::uint32_t, SlotCount> seen{}; // epochs of the loops that it has joined or found full
    };

    int TakeSlot() noexcept;
    bool ReserveSeats(Slot& slot, unsigned participants) noexcept;
    static bool Read(const Slot& slot, Loop& loop) noexcept;
    static bool TakeSeat(const Loop& loop, const Worker& worker, unsigned& seat) noexcept;
    static bool Draw(const Loop& loop, unsigned owner, std::uint32_t& chunk) noexcept;
    static void RunChunk(Slot& slot, const Loop& loop, std::uint32_t chunk, unsigned seat) noexcept;
    std::uint32_t RunChunks(Slot& slot, const Loop& loop, unsigned seat) noexcept;
    void Close(const Slot& slot) noexcept;
    void WaitForHelpers(Slot& slot, const Loop& loop, std::uint32_t missing) const noexcept;
    void StartWorkers(unsigned wanted) noexcept;
    void WorkerMain(unsigned index) noexcept;
    bool HelpSomebody(Worker& worker) noexcept;
    bool HasOpenLoops(const Worker& worker) const noexcept;
    bool WaitForLoop(const Worker& worker) noexcept;
    void WakeSleepers() noexcept;

    const unsigned m_Cores;
    const std::chrono::nanoseconds m_SpinTime;

    std::array<Slot, SlotCount> m_Slots;
    alignas(64) std::atomic<std::uint64_t> m_Used{0}; // slots that have a caller
    alignas(64) std::atomic<std::uint64_t> m_Open{0}; // slots that want helpers; what idle workers watch
    std::atomic<bool> m_Stopping{false};
    alignas(64) std::atomic<std::uint32_t> m_Sleepers{0};
    alignas(64) std::atomic<std::uint32_t> m_WakeCount{0}; // what sleeping workers wait on

    std::atomic<unsigned> m_Started{0};
    std::atomic<unsigned> m_WorkerLimit;
    std::mutex m_StartMutex;
    std::vector<std::thread> m_Threads; // guarded by m_StartMutex
};

} // namespace tenon
