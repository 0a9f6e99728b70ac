// SPDX-License-Identifier: Apache-2.0
// Common parts of the batched GEMMs: distribution of work items over threads, the number of rows from which packing
// pays, and the scale of a quantized product.
#pragma once

#include "backends/cpu/parallel/Tasks.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>

namespace tenon::cpu
{

/// Calls body(range of work items, scratch memory) on as many tasks as there are threads, `maxTasks` at most. Each task
/// has `taskBytes` of the workload's scratch memory.
template <typename F>
void RunWorkItems(const ExecuteArgs& args, size_t units, size_t maxTasks, size_t taskBytes, const F& body)
{
    const size_t numTasks = std::min<size_t>(maxTasks, args.m_Parallel->GetNumThreads());
    RunTasks(
        *args.m_Parallel, numTasks,
        [&](size_t index)
        { body(GetTaskRange(units, numTasks, index), static_cast<std::byte*>(args.m_Scratch) + index * taskBytes); });
}

/// Minimum rows of a chunk: with fewer, packing a panel takes a large share of the time.
constexpr size_t MinRowsPacked = 64;

/// The same without packing: two tiles of the greatest height.
constexpr size_t MinRowsInPlace = 28;

/// Number of chunks of rows: `wanted`, but each chunk has `minRows` rows at least.
inline size_t CountRowChunks(size_t wanted, size_t rows, size_t minRows = MinRowsPacked)
{
    return std::clamp<size_t>(wanted, 1, std::max<size_t>(rows / minRows, 1));
}

/// sx * sy / so, the scale of a sum in units of the output. The product sx * sy is rounded to float, as in TFLite.
inline double GetProductScale(const ReshapeArgs& args)
{
    const float product = args.GetInput(0).GetQuantizationScale() * args.GetInput(1).GetQuantizationScale();
    return static_cast<double>(product) / static_cast<double>(args.GetOutput(0).GetQuantizationScale());
}

} // namespace tenon::cpu
