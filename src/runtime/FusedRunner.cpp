// SPDX-License-Identifier: Apache-2.0
// FusedRunner: see FusedRunner.hpp.
#include "runtime/FusedRunner.hpp"

#include "common/ErrorContext.hpp"
#include "common/OneThread.hpp"
#include "common/Profiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tenon
{

void FusedRunner::Run(const FusedRun& run, const RunArgs& args) const
{
    const Layer* const first = m_Tensors.GetProgram().Steps()[run.m_First].m_Layer;
    const auto event = args.m_Profiler->KernelScope(run.m_Label.c_str(), first, run.m_Fused.m_Workload.get());
    const size_t threads = std::min<size_t>(run.m_MaxThreads, args.m_Parallel->GetNumThreads());
    const bool hasTiles = run.HasTilesFor(args.m_Parallel->GetNumThreads());
    const size_t parts = hasTiles ? 1 : run.m_Fused.m_Parts;
    const auto runThreads = [&](size_t begin, size_t end)
    {
        for (size_t thread = begin; thread < end; ++thread)
        {
            OneThread parallel; // one thread runs a tile
            RunTiles(run, parts, thread, threads, parallel);
        }
    };
    try
    {
        if (parts != 0)
        {
            args.m_Parallel->Run(threads, 1, std::ref(runThreads));
        }
        else
        {
            RunTiles(run, 1, 0, 1, *args.m_Parallel);
        }
    }
    catch (...)
    {
        RethrowWithContext(
            fmt::format("running {} and the {} layers after it as one", first->Describe(), run.m_Steps.size() - 1));
    }
}

void FusedRunner::RunTiles(const FusedRun& run, size_t parts, size_t thread, size_t threads,
                           IParallelFor& parallel) const
{
    const size_t first = run.m_Tiles * parts * thread / threads;
    const size_t end = run.m_Tiles * parts * (thread + 1) / threads;
    for (size_t index = first; index < end; ++index)
    {
        // Threads that run parts of one tile share the memory of that tile.
        const size_t tile = index / parts;
        RunTile(run, {parts == 1 ? first : tile, tile, index % parts, parts, thread, &parallel,
                      parallel.GetNumThreads() > 1});
    }
}

void FusedRunner::RunTile(const FusedRun& run, const Tile& tile) const
{
    if (const FusedWorkload& fused = run.m_Fused; fused.m_Workload != nullptr)
    {
        std::array<const void*, FusedWorkload::MaxInputs> inputs{};
        for (size_t k = 0; k < fused.m_NumInputs; ++k)
        {
            const FusedWorkload::Input& input = fused.m_Inputs[k];
            const size_t bytes = run.m_Steps[input.m_Step].m_Inputs[input.m_Input].m_Bytes;
            inputs[k] = static_cast<const std::byte*>(FindInput(run, input.m_Step, input.m_Input, tile)) +
                        (input.m_IsCut ? bytes / tile.m_Parts * tile.m_Part : 0);
        }
        const IShapedWorkload& workload = tile.m_Parts > 1                               ? *fused.m_Part
                                          : tile.m_IsShared && fused.m_Shared != nullptr ? *fused.m_Shared
                                                                                         : *fused.m_Workload;
        Execute(run, run.m_Steps.size() - 1, workload, {inputs.data(), fused.m_NumInputs}, tile);
        return;
    }
    for (size_t i = 0; i < run.m_Steps.size(); ++i)
    {
        if (run.m_Steps[i].m_Workload == nullptr)
        {
            continue;
        }
        const size_t numInputs = m_Tensors.GetProgram().Steps()[run.m_First + i].m_Inputs.size();
        std::array<const void*, TiledStep::MaxInputs> inputs{};
        for (size_t k = 0; k < numInputs; ++k)
        {
            inputs[k] = FindInput(run, i, k, tile);
        }
        Execute(run, i, *run.m_Steps[i].m_Workload, {inputs.data(), numInputs}, tile);
    }
}

const void* FusedRunner::FindInput(const FusedRun& run, size_t step, size_t input, const Tile& tile) const
{
    const ValueId value = m_Tensors.GetProgram().Steps()[run.m_First + step].m_Inputs[input];
    const TiledTensor& tensor = run.m_Steps[step].m_Inputs[input];
    return static_cast<const std::byte*>(m_Tensors.GetPointer(value)) + tensor.Find(tile.m_First, tile.m_Index);
}

void FusedRunner::Execute(const FusedRun& run, size_t step, const IShapedWorkload& workload,
                          Span<const void* const> inputs, const Tile& tile) const
{
    const TiledStep& tiled = run.m_Steps[step];
    const size_t index = run.m_First + step;
    const ValueId value = m_Tensors.GetProgram().Steps()[index].m_FirstOutput;
    void* const output = static_cast<std::byte*>(m_Tensors.GetPointer(value)) +
                         tiled.m_Output.Find(tile.m_First, tile.m_Index) +
                         tiled.m_Output.m_Bytes / tile.m_Parts * tile.m_Part;
    ExecuteArgs execute;
    execute.m_Inputs = inputs;
    execute.m_Outputs = {&output, 1};
    execute.m_Scratch = m_Tensors.GetArena() + m_Tensors.GetPlan().Steps()[index].m_ScratchOffset +
                        tile.m_Thread * tiled.m_ScratchBytes;
    execute.m_Parallel = tile.m_Parallel;
    workload.Execute(execute);
}

} // namespace tenon
