// SPDX-License-Identifier: Apache-2.0
// How the kernels of CpuAcc cut their loops into tasks. A task is one contiguous chunk of a loop, run by one of the
// caller's threads. For kernels of all families; see README.md of this folder.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tenon::cpu
{

/// The number of tasks that pays for a layer with this many multiplications.
size_t GetWorthwhileTasks(double multiplications);

/// The number of tasks of loops whose float sums depend on the cut. It depends on the machine alone, so that results
/// are the same for any number of threads: one task a core, at least 4 (for callers with more threads than cores) and
/// at most 64.
size_t GetFixedTasks();

/// The maximum number of tasks that a kernel is prepared for. Each task has scratch memory of its own. The result is at
/// most GetFixedTasks() and at most `maxThreads`, see ReshapeArgs::m_MaxThreads.
size_t GetMaxTasks(unsigned int maxThreads);

/// a / b, rounded up.
constexpr size_t DivideUp(size_t a, size_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

/// The range of task `task` if [0, count) is split into `tasks` contiguous ranges. Bounds are multiples of `unit`;
/// sizes differ by one unit at most.
struct IndexRange
{
    size_t m_Begin = 0;
    size_t m_End = 0;
};
inline IndexRange GetTaskRange(size_t count, size_t tasks, size_t task, size_t unit = 1)
{
    if (tasks == 1)
    {
        return {0, count}; // without divisions: small products are one task
    }
    const size_t units = count / unit + (count % unit != 0 ? 1 : 0);
    const size_t each = units / tasks;
    const size_t longer = units % tasks; // the first `longer` tasks have one unit more
    const size_t begin = task * each + std::min(task, longer);
    const size_t end = begin + each + (task < longer ? 1 : 0);
    return {std::min(count, begin * unit), std::min(count, end * unit)};
}

/// Calls body(begin, height, count) for tiles of at most `maxRows` rows. The tiles are as equal in height as they can
/// be, since tiles of few rows are slow. They have one of two heights, and `body` is called once for all tiles of a
/// height.
template <typename F>
void ForEachHeight(size_t rows, size_t maxRows, F&& body)
{
    if (rows <= maxRows) // without divisions, which take as long as a small tile
    {
        if (rows != 0)
        {
            body(size_t{0}, rows, size_t{1});
        }
        return;
    }
    const size_t tiles = DivideUp(rows, maxRows);
    const size_t height = rows / tiles;
    const size_t higher = rows - height * tiles;
    if (higher != 0)
    {
        body(size_t{0}, height + 1, higher);
    }
    if (higher != tiles)
    {
        body(higher * (height + 1), height, tiles - higher);
    }
}

/// The same, called as body(begin, height) for each tile. A tile may take a few hundred nanoseconds only, so this must
/// be cheap.
template <typename F>
void ForEachTile(size_t rows, size_t maxRows, F&& body)
{
    ForEachHeight(rows, maxRows,
                  [&](size_t begin, size_t height, size_t count)
                  {
                      for (size_t i = 0; i < count; ++i)
                      {
                          body(begin + i * height, height);
                      }
                  });
}

/// Calls body(task) once for each of `tasks` tasks, on several threads. Two calls never share a task, so a task may own
/// scratch memory.
template <typename F>
void RunTasks(IParallelFor& parallel, size_t tasks, F&& body)
{
    if (tasks <= 1)
    {
        body(size_t{0});
        return;
    }
    const auto range = [&body](size_t begin, size_t end)
    {
        for (size_t task = begin; task < end; ++task)
        {
            body(task);
        }
    };
    parallel.Run(tasks, 1, range); // a lambda with one captured reference: std::function holds it without allocating
}

/// The numbers of tasks, one for each thread that is inside a loop. A thread gets the same one again where it can,
/// since its cache has the scratch memory of that task.
class TaskNumbers
{
public:
    /// `tasks`: from 1 to 64.
    explicit TaskNumbers(size_t tasks) : m_Free(tasks < 64 ? (uint64_t{1} << tasks) - 1 : ~uint64_t{0}) {}

    /// Precondition: fewer threads than tasks have one.
    size_t Take();
    void GiveBack(size_t task) { m_Free.fetch_or(uint64_t{1} << task, std::memory_order_release); }

private:
    std::atomic<uint64_t> m_Free;
};

/// The number of chunks of a loop of `tasks` tasks: a few for each task, at most `maxChunks`. Threads draw chunks one
/// after the other, so that a slow thread does not delay the others by more than a chunk.
inline size_t CountChunks(size_t threads, size_t tasks, size_t maxChunks)
{
    constexpr size_t ChunksPerTask = 2;
    constexpr size_t MinChunkedTasks = 3; // fewer have a chunk each
    if (tasks < MinChunkedTasks || tasks < threads)
    {
        return tasks; // more threads than tasks may come
    }
    return std::clamp(maxChunks, tasks, ChunksPerTask * tasks);
}

/// Calls body(task, chunk) for each chunk, on several threads. Two calls at the same time never share a task, so a task
/// may own scratch memory. `chunks`: see CountChunks.
template <typename F>
void RunChunks(IParallelFor& parallel, size_t tasks, size_t chunks, F&& body)
{
    if (tasks <= 1)
    {
        for (size_t chunk = 0; chunk < chunks; ++chunk)
        {
            body(size_t{0}, chunk);
        }
        return;
    }
    struct Lease
    {
        explicit Lease(TaskNumbers& numbers) : m_Numbers(numbers), m_Task(numbers.Take()) {}
        ~Lease() { m_Numbers.GiveBack(m_Task); }
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;

        TaskNumbers& m_Numbers;
        const size_t m_Task;
    };
    TaskNumbers numbers(tasks);
    const auto range = [&](size_t begin, size_t end)
    {
        const Lease lease(numbers);
        for (size_t chunk = begin; chunk < end; ++chunk)
        {
            body(lease.m_Task, chunk);
        }
    };
    parallel.Run(chunks, 1, std::ref(range)); // by reference: a copy could need memory
}

/// Calls body(task, range) for chunks that make up [0, count), whose bounds are multiples of `unit`; see RunChunks.
/// `tasks`: the maximum number of threads, no more than there are units.
template <typename F>
void RunChunkRanges(IParallelFor& parallel, size_t tasks, size_t count, size_t unit, const F& body)
{
    const size_t threads = parallel.GetNumThreads();
    const size_t used = std::min(tasks, threads);
    const size_t chunks = CountChunks(threads, used, DivideUp(count, unit));
    RunChunks(parallel, used, chunks,
              [&](size_t task, size_t chunk) { body(task, GetTaskRange(count, chunks, chunk, unit)); });
}

/// The grain of a loop at memory speed, in units that move `unitBytes` bytes each: 32 KiB. Such a task takes several
/// times as long as it takes to start it on another thread.
inline size_t GetGrain(size_t unitBytes)
{
    constexpr size_t MinTaskBytes = size_t{1} << 15;
    return std::max<size_t>(1, MinTaskBytes / std::max<size_t>(1, unitBytes));
}

/// Calls body(begin, end) for ranges that make up [0, count). Ranges have at least `grain` units each.
template <typename F>
void RunRanges(IParallelFor& parallel, size_t count, size_t grain, const F& body)
{
    if (count <= grain)
    {
        body(size_t{0}, count);
        return;
    }
    parallel.Run(count, grain, std::ref(body)); // by reference: a copy could need memory
}

} // namespace tenon::cpu
