// SPDX-License-Identifier: Apache-2.0
// How loops are cut into tasks.
#include "backends/cpu/parallel/Tasks.hpp"

#include "common/Cores.hpp"

#include <algorithm>
#include <bit>

namespace tenon::cpu
{

namespace
{

/// The minimum number of multiplications of a task: 1.5 microseconds of a core with AVX-512, 4 of one with AVX2,
/// several times the cost of starting a loop on other threads.
constexpr double MinTaskMultiplications = 1e5;

} // namespace

size_t GetFixedTasks()
{
    return std::clamp<size_t>(CountCores(), 4, 64);
}

size_t GetMaxTasks(unsigned int maxThreads)
{
    return std::clamp<size_t>(maxThreads, 1, GetFixedTasks());
}

size_t GetWorthwhileTasks(double multiplications)
{
    constexpr double Max = 1024.0; // more threads than any machine has
    return static_cast<size_t>(std::clamp(multiplications / MinTaskMultiplications, 1.0, Max));
}

size_t TaskNumbers::Take()
{
    thread_local size_t latest = 0;
    uint64_t isFree = m_Free.load(std::memory_order_relaxed);
    for (;;)
    {
        const bool hasLatest = (isFree >> latest & 1) != 0;
        const size_t task = hasLatest ? latest : static_cast<size_t>(std::countr_zero(isFree));
        if (isFree == 0)
        {
            isFree = m_Free.load(std::memory_order_relaxed);
        }
        else if (m_Free.compare_exchange_weak(isFree, isFree & ~(uint64_t{1} << task), std::memory_order_acquire,
                                              std::memory_order_relaxed))
        {
            latest = task;
            return task;
        }
    }
}

} // namespace tenon::cpu
