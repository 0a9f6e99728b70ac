// SPDX-License-Identifier: Apache-2.0
// Cuts consecutive steps into tiles, indices of leading dimensions of their outputs. For Attention, whose tiles are
// heads, and for CrossLayerTiling.
#pragma once

#include "runtime/PlanDraft.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

namespace tenon::fusions
{

/// The tensors of a step in one tile.
struct TileInfos
{
    std::array<TensorInfo, TiledStep::MaxInputs> m_Inputs;
    TensorInfo m_Output;
    std::array<const void*, TiledStep::MaxInputs> m_Constants{}; ///< null where not constant

    /// The step's workload for a tile, which one thread runs.
    std::unique_ptr<IShapedWorkload> Reshape(const Step& step) const;
};

/// Whether the layer works on each index of some leading dimensions by itself.
bool IsTileable(const Step& step);

/// The tensors of a step in each of `tiles` tiles; none where it cannot be cut so. Sets where tiles of the inputs lie
/// in `tiled`.
std::optional<TileInfos> CutTensors(const PlanDraft& draft, uint32_t index, size_t tiles, TiledStep& tiled);

/// The longest run of at most `maxSteps` steps from `first` on in `tiles` tiles, in which each step but the first one
/// reads, tile by tile, a tensor that an earlier one gives. It may have no steps. Its kind and label are not set.
std::unique_ptr<FusedRun> CutRun(const PlanDraft& draft, uint32_t first, size_t tiles, size_t maxSteps);

} // namespace tenon::fusions
