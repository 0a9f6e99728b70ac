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

} // namespace tenon::cpu
