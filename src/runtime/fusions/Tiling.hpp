// SPDX-License-Identifier: Apache-2.0
// Divides consecutive steps into tiles, which are indices of leading dimensions of their outputs. Used by Attention,
// whose tiles are heads, and by CrossLayerTiling.
#pragma once

#include "runtime/PlanDraft.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

namespace tenon::fusions
{

/// The infos of a step's tensors in one tile.
struct TileInfos
{
    std::array<TensorInfo, TiledStep::MaxInputs> m_Inputs;
    TensorInfo m_Output;
    std::array<const void*, TiledStep::MaxInputs> m_Constants{}; ///< null where not constant

    /// The step's workload for a tile, which one thread runs.
    std::unique_ptr<IShapedWorkload> Reshape(const Step& step) const;
};

/// Whether the layer processes each index of some leading dimensions independently.
bool IsTileable(const Step& step);

/// The tensors of a step in each of `tiles` tiles; none if it cannot be divided so. Sets the positions of the inputs'
/// tiles in `tiled`.
std::optional<TileInfos> CutTensors(const PlanDraft& draft, uint32_t index, size_t tiles, TiledStep& tiled);

/// The longest run of at most `maxSteps` steps from `first` on in `tiles` tiles, in which each step but the first
/// reads, tile by tile, a tensor that an earlier step writes. It may have no steps. Its kind and label are not set.
std::unique_ptr<FusedRun> CutRun(const PlanDraft& draft, uint32_t first, size_t tiles, size_t maxSteps);

} // namespace tenon::fusions
