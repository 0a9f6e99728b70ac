// SPDX-License-Identifier: Apache-2.0
// Layers of Float16 or BFloat16 in pieces that stay in the first-level cache as floats.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"

namespace tenon::cpu
{

/// What `prepare` gives for a layer with Float32 in place of the half type that all its tensors have, with the
/// conversions around it, piece by piece. A piece is some neighbouring indices of the output along one dimension before
/// the last `whole` ones: each is a layer by itself, of the inputs' same indices, where they are not broadcast. Layers
/// that are not to be cut so are converted as a whole. `prepare` declines nothing.
backends::Prepared PrepareHalfPieces(const ReshapeArgs& args, unsigned int whole,
                                     backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                     const ref::HalfLoops& loops);

} // namespace tenon::cpu
