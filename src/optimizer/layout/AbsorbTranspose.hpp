// SPDX-License-Identifier: Apache-2.0
// AbsorbTranspose: a reduction over axes A behind a Transpose of mappings m is one over the axes m[A] without it, if
// the dimensions that remain keep their order. For MoveTransposes.
#pragma once

#include "graph/Layer.hpp"

#include <memory>

namespace tenon
{

/// The axes of a Mean, Reduce or ArgMinMax that removes them, for data that comes without the Transpose of `mappings`
/// before the layer: a descriptor, or null where the layer removes none, or the order of what remains would change.
std::unique_ptr<BaseDescriptor> AbsorbTranspose(const Layer& layer, const PermutationVector& mappings);

} // namespace tenon
