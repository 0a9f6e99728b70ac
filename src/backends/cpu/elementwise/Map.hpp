// SPDX-License-Identifier: Apache-2.0
// Layers that make each element of their output from the one at the same place of one input.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/elementwise/BroadcastRuns.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace tenon::cpu
{

/// loop(in, out, count) over all elements of input 0 and output 0; `out` may be `in` where elements are of one size. In
/// and Out: their types, or std::byte for any, of as many bytes as the infos say. Parts have LeastElements at least.
template <typename In, typename Out, typename Loop>
backends::Prepared MakeMap(const ReshapeArgs& args, Loop loop)
{
    const auto countUnits = [](const TensorInfo& info, auto unit)
    { return std::is_same_v<decltype(unit), std::byte> ? GetDataTypeSize(info.GetDataType()) : size_t{1}; };
    // What all uses of the loop share: tables and numbers may be large.
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
