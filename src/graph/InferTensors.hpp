// SPDX-License-Identifier: Apache-2.0
// InferTensors: gives every output of a graph a tensor info. Called by Optimize() before the passes.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace tenon
{

/// Walks the graph in order of data flow. Shapes that follow from shapes and constants are set; a shape that depends on
/// values or on unknown input shapes becomes unknown but for its rank. A declared shape that contradicts is treated as
/// the options say, with a line in `messages`. Types that are not declared follow from the layer where they can.
/// Throws LayerValidationException.
void InferTensors(Graph& graph, const OptimizerOptionsOpaque& options, std::vector<std::string>& messages);

/// The shapes that were declared for the outputs of a network, taken before InferTensors(). Sizes that inference does
/// not know may be stale, so passes and plans do without them. A question to the runtime for the info of an output gets
/// them.
class DeclaredOutputs
{
public:
    explicit DeclaredOutputs(const Graph& graph);
    /// After the passes: gives the outputs that Output layers read the declared sizes where they have none, but for
    /// layers whose outputs are shaped by their execution. Throws LimitExceededException for a tensor that is above a
    /// limit.
    void Fill(Graph& graph, const Limits& limits) const;

private:
    std::unordered_map<LayerBindingId, TensorShape> m_Shapes;
};

} // namespace tenon
