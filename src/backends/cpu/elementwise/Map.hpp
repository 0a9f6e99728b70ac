// SPDX-License-Identifier: Apache-2.0
// MakeMap: a workload that applies a loop to all elements of one input.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenon::cpu
{

/// loop(in, out, count) over all elements of input 0 and output 0; `out` may be `in` if elements have the same size. In
/// and Out: the element types, or std::byte for any type; its size is taken from the infos. Tasks have MinTaskElements
/// at least.
template <typename In, typename Out, typename Loop>
backends::Prepared MakeMap(const ReshapeArgs& args, Loop loop)
{
    const auto countUnits = [](const TensorInfo& info, auto unit)
    { return std::is_same_v<decltype(unit), std::byte> ? GetDataTypeSize(info.GetDataType()) : size_t{1}; };
    // All tasks share the loop, because it may hold large tables.
    const auto shared = std::make_shared<const Loop>(std::move(loop));
    backends::Prepared prepared = [shared, inStep = countUnits(args.GetInput(0), In()),
                                   outStep = countUnits(args.GetOutput(0), Out()),
                                   count = args.GetOutput(0).GetNumElements()](const ExecuteArgs& run)
    {
        const In* const in = run.GetInput<In>(0);
        Out* const out = run.GetOutput<Out>(0);
        RunElements(*run.m_Parallel, count,
                    [&](size_t begin, size_t end)
                    { (*shared)(in + begin * inStep, out + begin * outStep, end - begin); });
    };
    prepared.m_ElementLoop = [shared](const void* const* inputs, void* output, size_t count)
    { (*shared)(static_cast<const In*>(inputs[0]), static_cast<Out*>(output), count); };
    return prepared;
}

} // namespace tenon::cpu
