// SPDX-License-Identifier: Apache-2.0
// The one way in which Tenon runs something on several cores: ThreadPool::ParallelFor. The runtime owns a pool and
// hands it to workloads; there is no global one. The contract is made for layers of 20 to 100 microseconds:
//   - the caller always works on its own loop, so a loop never waits for a free worker, nor for anybody else's loop;
//   - idle workers join whichever loops are open, from any number of calling threads;
//   - a loop started from inside a spread loop's body runs inline, on the thread that asked;
//   - the first exception of a body reaches the caller, after every chunk under way has ended;
//   - one thread asked for means a plain function call: no atomics, no locks, no workers.
#pragma once

#include "common/FunctionRef.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
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

    // More threads than this are never used for one loop, nor started in all (the calling threads not counted).
    static constexpr unsigned MaxThreads = 256;

    ThreadPool();  // starts nothing: workers start when a loop first asks for them
    ~ThreadPool(); // no loop may be running
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // Calls body over [0, count) in chunks that start at multiples of grain and never overlap; returns when all have
    // ended. threads: how many take part at most, the caller included; 0 means every core. A loop that is not spread
    // (one thread, count <= grain, or a nested call) is one call body(0, count, 0). Nothing is called for count 0.
    // Every write of the bodies is visible to the caller afterwards. If a worker cannot be started, the loop runs with
    // those there are.
    void ParallelFor(std::size_t count, unsigned threads, Body body, std::size_t grain = 1);

    // The bound on `worker` for a loop asked for with `threads`.
    unsigned Participants(unsigned threads) const noexcept;

    // Whether the calling thread is inside a body of a spread loop, of whatever pool: a loop that it starts runs
    // inline.
    static bool IsInsideLoop() noexcept;

    unsigned Cores() const noexcept { return m_Cores; }
    unsigned StartedWorkers() const noexcept { return m_Started.load(std::memory_order_acquire); }

private:
    // One spread loop. Slots live as long as the pool, so that a worker that looks at a loop too late looks at valid
    // memory.
    struct Slot
    {
        // Low half: helpers inside. High half: places left for helpers, and the mark that the caller sleeps. A helper
        // enters by exchanging a place for itself, which is only possible while the caller keeps the loop open.
        alignas(64) std::atomic<std::uint32_t> state{0};
        alignas(64) std::atomic<std::size_t> nextChunk{0};

        // Written by the caller while the slot is closed and empty, read by helpers inside (but for error: see
        // RunChunks).
        alignas(64) const Body* body = nullptr;
        std::size_t count = 0;
        std::size_t chunkSize = 0;
        std::size_t chunks = 0;
        unsigned places = 0;
        std::atomic<bool> failed{false};
        std::exception_ptr error;
    };

    // Bits of m_Used and m_Open. A caller beyond this many loops at once works alone.
    static constexpr unsigned SlotCount = 64;

    int TakeSlot() noexcept;
    void RunChunks(Slot& slot, unsigned slotIndex, unsigned worker) noexcept;
    void WaitForHelpers(Slot& slot) const noexcept;
    void StartWorkers(unsigned wanted) noexcept;
    void WorkerMain(unsigned index) noexcept;
    bool HelpSomebody(unsigned index) noexcept;
    bool HasOpenLoops() const noexcept;
    bool WaitForLoop() noexcept;
    void Wake(unsigned wanted) noexcept;

    const unsigned m_Cores;
    const std::chrono::nanoseconds m_SpinTime;

    std::array<Slot, SlotCount> m_Slots;
    alignas(64) std::atomic<std::uint64_t> m_Used{0}; // slots that have a caller
    alignas(64) std::atomic<std::uint64_t> m_Open{0}; // slots that want helpers; what idle workers watch
    std::atomic<bool> m_Stopping{false};
    alignas(64) std::atomic<std::uint32_t> m_Idle{0};      // low half: spinning workers; high half: sleeping workers
    alignas(64) std::atomic<std::uint32_t> m_WakeCount{0}; // what sleeping workers wait on

    std::atomic<unsigned> m_Started{0};
    std::atomic<unsigned> m_WorkerLimit{MaxThreads - 1};
    std::mutex m_StartMutex;
    std::vector<std::thread> m_Threads; // guarded by m_StartMutex
};

} // namespace tenon
