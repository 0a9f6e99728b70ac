// SPDX-License-Identifier: Apache-2.0
// AddBroadcastReshapes: for backends whose kernels broadcast only among tensors of one rank. Called by Optimize() after
// the assignment.
#pragma once

#include "graph/Graph.hpp"
#include "graph/Support.hpp"

namespace tenon
{

/// Gives operands of lower rank leading dimensions of size 1, by ExpandDims layers, in front of broadcasting layers of
/// backends with the capability {"EqualRankBroadcast", true}. Only ranks that are the same in every run count: where
/// one is not, the layer stays as it is, and its backend learns the ranks when a run shapes it.
/// Throws UnimplementedException where such a backend does not run ExpandDims.
void AddBroadcastReshapes(Graph& graph, SupportCache& supports);

} // namespace tenon
