// SPDX-License-Identifier: Apache-2.0
// How loops are cut into tasks.
#include "backends/cpu/parallel/Tasks.hpp"

#include "common/Cores.hpp"

#include <algorithm>

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

IndexRange GetTaskRange(size_t count, size_t tasks, size_t task, size_t unit)
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

} // namespace tenon::cpu
