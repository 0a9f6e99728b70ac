// SPDX-License-Identifier: Apache-2.0
// FusedRunner: runs a FusedRun of the plan, tile by tile, with the threads of the run. Threads take contiguous ranges
// of tiles. If there are too few tiles, they take ranges of the parts of tiles, or share the work of each tile.
#pragma once

#include "runtime/RunArgs.hpp"
#include "runtime/RunTensors.hpp"

#include <cstddef>

namespace tenon
{

class FusedRunner
{
public:
    explicit FusedRunner(const RunTensors& tensors) : m_Tensors(tensors) {}

    /// Precondition: run.IsWorthwhile() for the number of threads.
    void Run(const FusedRun& run, const RunArgs& args) const;

private:
    /// A tile, or a part of one, and the thread that runs it.
    struct Tile
    {
        size_t m_First = 0; ///< the thread's first tile
        size_t m_Index = 0;
        size_t m_Part = 0;
        size_t m_Parts = 1; ///< parts of the tile; 1: the whole tile
        size_t m_Thread = 0;
        IParallelFor* m_Parallel = nullptr;
        bool m_IsShared = false; ///< several threads share its work
    };

    /// Runs the thread's range of the tiles, each cut into `parts`.
    void RunTiles(const FusedRun& run, size_t parts, size_t thread, size_t threads, IParallelFor& parallel) const;
    void RunTile(const FusedRun& run, const Tile& tile) const;
    /// `step` is an index into FusedRun::m_Steps, here and below.
    const void* FindInput(const FusedRun& run, size_t step, size_t input, const Tile& tile) const;
    /// Executes a workload that writes the output of a step and has that step's scratch memory.
    void Execute(const FusedRun& run, size_t step, const IShapedWorkload& workload, Span<const void* const> inputs,
                 const Tile& tile) const;

    const RunTensors& m_Tensors;
};

} // namespace tenon
