// SPDX-License-Identifier: Apache-2.0
// InferTensors: gives every output of a graph a tensor info. Called by Optimize() before the passes.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <string>
#include <vector>

namespace tenon
{

/// Walks the graph in order of data flow. Shapes that follow from shapes and constants are set; a shape that depends on
/// values or on unknown input shapes becomes unknown but for its rank. A declared shape that contradicts is treated as
/// the options say, with a line in `messages`. Types that are not declared follow from the layer where they can.
/// Throws LayerValidationException and GraphValidationException.
void InferTensors(Graph& graph, const OptimizerOptionsOpaque& options, std::vector<std::string>& messages);

} // namespace tenon
