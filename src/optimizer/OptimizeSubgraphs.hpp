// SPDX-License-Identifier: Apache-2.0
// OptimizeSubgraphs: what Optimize() does after assignment, before copies and the final subgraphs.
#pragma once

#include "optimizer/Assignment.hpp"

#include <tenon/INetwork.hpp>

#include <string>
#include <vector>

namespace tenon
{

/// Lets each backend, in the order of preference, keep what its PartitionOptions leave it, and optimize its subgraphs;
/// nested networks included. Layers that a backend loses go to those after it, so each has its turn once. Backends that
/// are not among the candidates, but have layers by a hint, come first: theirs go to any candidate.
/// Costs nothing where no backend has options or optimizes.
/// Throws UnimplementedException for layers that nobody takes then, and BackendCapabilityException for what a backend
/// made of a subgraph and does not fit.
void OptimizeSubgraphs(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                       const OptimizerOptionsOpaque& options, std::vector<std::string>& messages);

} // namespace tenon
