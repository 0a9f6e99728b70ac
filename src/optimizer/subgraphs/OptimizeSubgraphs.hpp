// SPDX-License-Identifier: Apache-2.0
// OptimizeSubgraphs: what Optimize() does after assignment, before copies and the final subgraphs.
#pragma once

#include "optimizer/assignment/Assignment.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <string>
#include <vector>

namespace tenon
{

/// Lets each backend, in the order of preference, keep what its PartitionOptions leave it, and optimize its subgraphs;
/// nested networks included. Backends that are not among the candidates, but have layers by a hint, come first: theirs
/// go to any candidate.
///
/// The rule of the limits:
/// - A layer that a limit refuses goes to the next backend that takes it, whose own limits then must hold too, with
/// that
///   layer among its own. So limits are asked in turn, and again whenever layers have moved, until all hold at once.
/// - A layer never comes back to a backend that it was taken from.
/// - Limits speak of the network's layers. Once a backend has optimized its subgraphs they are not asked of it any more
///   (its layers may be few, and more than one of the network's), and no layer comes to a backend with limits then.
/// - AllOrNothing speaks of the moment when it is asked: a backend that has lost its layers to it gets none back.
/// Costs nothing where no backend has options or optimizes.
/// Throws UnimplementedException for layers that nobody takes then, and BackendCapabilityException for what a backend
/// made of a subgraph and does not fit.
void OptimizeSubgraphs(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                       const OptimizerOptionsOpaque& options, std::vector<std::string>& messages);

} // namespace tenon
