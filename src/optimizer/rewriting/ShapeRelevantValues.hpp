// SPDX-License-Identifier: Apache-2.0
// Shape-relevant values: the layers whose values a shape or a loop condition depends on. In 16 bits they would give
// other shapes, or loops that do not end, so FitFloatWidths leaves them in Float32.
#pragma once

#include "graph/Graph.hpp"

#include <unordered_set>

namespace tenon
{

/// Layers, those of nested networks included, whose values shapes depend on, or the end of a loop: walks back from the
/// inputs whose values shape inference needs, and from the results of conditions, up to values that are data rather
/// than sizes (what convolutions, searches and the like give). O(layers + connections).
std::unordered_set<const Layer*> FindShapeRelevantLayers(const Graph& graph);

} // namespace tenon
