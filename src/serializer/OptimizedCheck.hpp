// SPDX-License-Identifier: Apache-2.0
// CheckOptimized: whether a graph out of a file is one that Optimize() could have made for these backends. The runtime
// and the kernels rely on what Optimize() sees to; a file says anything.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/backend/BackendRegistry.hpp>

namespace tenon::serializer
{

/// Infers and checks all tensors anew, then asks each layer's backend for it. The graph must come from ReadGraphs: its
/// layers are in order of execution. Throws as IDeserializer::CreateOptimizedNetworkFromBinary says.
void CheckOptimized(Graph& graph, const BackendRegistry& registry, const OptimizerOptionsOpaque& options);

} // namespace tenon::serializer
