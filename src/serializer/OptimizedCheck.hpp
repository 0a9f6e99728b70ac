// SPDX-License-Identifier: Apache-2.0
// CheckOptimized: checks that Optimize() could have made a graph from a file for these backends. The runtime and the
// kernels rely on guarantees of Optimize(), which a file may break.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/backend/BackendRegistry.hpp>

namespace tenon::serializer
{

/// Infers and checks all tensors again, then asks each layer's backend whether it supports the layer. The graph must
/// come from ReadGraphs: its layers are in order of execution. Its exceptions are documented at
/// IDeserializer::CreateOptimizedNetworkFromBinary.
void CheckOptimized(Graph& graph, const BackendRegistry& registry, const OptimizerOptionsOpaque& options);

} // namespace tenon::serializer
