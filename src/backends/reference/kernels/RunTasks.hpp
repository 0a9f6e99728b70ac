// SPDX-License-Identifier: Apache-2.0
// A loop partitioned into tasks. Each task has working memory of its own, which the prepare step lays out. The
// partition does not depend on the number of threads. Used by BatchMatMul, the convolutions of volumes and the layers
// of signals.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace tenon::ref
{

/// The maximum number of tasks: enough for the threads of a CPU, few enough for their working memory.
constexpr size_t MaxTasks = 16;

/// Calls f(task, begin, end) for up to MaxTasks tasks that cover [0, count), on the threads of `parallel`.
template <typename F>
void RunTasks(IParallelFor& parallel, size_t count, const F& f)
{
    const size_t tasks = std::min(count, MaxTasks);
    const auto body = [&f, count, tasks](size_t first, size_t last)
    {
        for (size_t task = first; task < last; ++task)
        {
            // The first `longer` tasks have one element more than the others.
            const size_t size = count / tasks;
            const size_t longer = count % tasks;
            const size_t begin = task * size + std::min(task, longer);
            f(task, begin, begin + size + (task < longer ? 1 : 0));
        }
    };
    parallel.Run(tasks, 1, std::ref(body)); // by reference: a copy could need memory
}

} // namespace tenon::ref
