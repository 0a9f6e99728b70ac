// SPDX-License-Identifier: Apache-2.0
// FusedRun: consecutive steps of a plan that run as one. There are two kinds:
//
// one workload: an attention or a chain of elementwise layers, the whole run is one kernel
// tiled: cross-layer tiling (depth-first, fused-layer execution), all steps run for one tile, then for the next one
//
//                    tile 0   tile 1   tile 2   ...     A tile is an index of leading dimensions: a head of an
//   step m_First       |        |        |              attention, a row of an image. The tensors between the
//   step m_First+1     |        |        |              steps exist in one tile of each thread, and stay in its
//   step Last()        v        v        v              cache.
//
// Threads take contiguous ranges of tiles. A tensor between the steps has memory for all tiles; each thread uses the
// memory of its first tile. An attention is tiled by heads and has one workload for each tile; if there are more
// threads than heads, each head is cut into parts, which are ranges of queries. A chain has one tile, through which its
// workload goes block by block.
#pragma once

#include "common/AlignedMemory.hpp"

#include <tenon/Types.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// A tensor of a step, divided into tiles.
struct TiledTensor
{
    size_t m_Bytes = 0;   ///< bytes of one tile
    bool m_IsKept = true; ///< all tiles are kept; else each thread has one
    std::vector<size_t>
        m_Offsets; ///< if it is broadcast: the offset in bytes of each tile; empty: tiles follow each other

    /// The offset in bytes of a tile, in a thread that began with tile `first`.
    size_t Find(size_t first, size_t tile) const
    {
        return !m_IsKept ? first * m_Bytes : m_Offsets.empty() ? tile * m_Bytes : m_Offsets[tile];
    }
};

/// One workload for all steps of a tile.
struct FusedWorkload
{
    static constexpr size_t MaxInputs = 8;
    /// The index of a step and of one of its inputs.
    struct Input
    {
        uint32_t m_Step = 0; ///< index into FusedRun::m_Steps
        uint32_t m_Input = 0;
        bool m_IsCut = false; ///< each part of a tile has a range of it of its own; else all parts read all of it
    };

    std::unique_ptr<IShapedWorkload> m_Workload; ///< for one thread; null: the steps run one after the other
    /// The workload for threads that share the work of a tile; null: m_Workload is for any number of threads.
    std::unique_ptr<IShapedWorkload> m_Shared;
    std::unique_ptr<IShapedWorkload> m_PartOwner; ///< the workload that m_Part refers to
    std::unique_ptr<IShapedWorkload> m_Part;      ///< for one thread, of one of the parts of a tile; null: no parts
    size_t m_Parts = 0; ///< equal parts of each tile that threads take; 1: whole tiles; 0: they share each tile
    std::array<Input, MaxInputs> m_Inputs;
    size_t m_NumInputs = 0;
};

/// A step of a run.
struct TiledStep
{
    static constexpr size_t MaxInputs = 2;

    /// The workload of one tile. It is null if the output is the memory of the input, and if a FusedWorkload runs in
    /// its place.
    std::unique_ptr<IShapedWorkload> m_Workload;
    size_t m_ScratchBytes = 0; ///< per thread
    std::array<TiledTensor, MaxInputs> m_Inputs;
    TiledTensor m_Output;

    void SetScratchBytes(size_t bytes)
    {
        // The scratch memory of each thread is aligned.
        m_ScratchBytes = (bytes + ArenaAlignment - 1) / ArenaAlignment * ArenaAlignment;
    }
};

/// The fusions of fusions/FusionList.cpp. The first three make fused runs.
enum class FusionKind : uint8_t
{
    Attention,
    ElementwiseChain,
    CrossLayerTiling,
    ResidualAdd,
    ConcatInPlace
};

struct FusedRun
{
    FusionKind m_Kind = FusionKind::CrossLayerTiling;
    uint32_t m_First = 0; ///< the first step
    size_t m_Tiles = 0;
    size_t m_AllowedThreads = SIZE_MAX; ///< the minimum over the steps of FusionHooks::m_MaxTileThreads
    size_t m_MaxThreads = 1;            ///< threads that run tiles or parts, with scratch memory of their own
    std::vector<TiledStep> m_Steps;     ///< the steps from m_First on
    FusedWorkload m_Fused;
    std::string m_Label; ///< for profiles

    uint32_t Last() const { return m_First + static_cast<uint32_t>(m_Steps.size()) - 1; }
    /// Whether there are enough tiles for threads to get nearly equal shares.
    bool HasTilesFor(size_t threads) const
    {
        threads = std::min(threads, m_AllowedThreads);
        return threads <= 1 || m_Tiles >= 2 * threads;
    }
    /// A run with one workload for all steps is used in any case, so that results do not depend on the number of
    /// threads: if there are too few tiles, see FusedWorkload::m_Parts.
    bool IsWorthwhile(size_t threads) const { return m_Fused.m_Workload != nullptr || HasTilesFor(threads); }
};

/// The run that a step belongs to, among runs in the order of their steps; null: none.
inline const FusedRun* FindRun(const std::vector<std::unique_ptr<FusedRun>>& runs, uint32_t step)
{
    const auto next =
        std::upper_bound(runs.begin(), runs.end(), step, [](uint32_t s, const auto& run) { return s < run->m_First; });
    return next != runs.begin() && (*std::prev(next))->Last() >= step ? std::prev(next)->get() : nullptr;
}

} // namespace tenon
