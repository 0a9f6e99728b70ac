// SPDX-License-Identifier: Apache-2.0
// AbsorbTranspose: reductions that do without a Transpose before them. For MoveTransposes.
#pragma once

#include "graph/Layer.hpp"

#include <memory>

namespace tenon
{

/// The axes of a Mean, Reduce or ArgMinMax that removes them, for data that comes without the Transpose of `mappings`
/// before the layer: a descriptor, or null where the layer removes none, or the order of what remains would change.
std::unique_ptr<BaseDescriptor> AbsorbTranspose(const Layer& layer, const PermutationVector& mappings);

} // namespace tenon
