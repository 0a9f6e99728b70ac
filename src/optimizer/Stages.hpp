// SPDX-License-Identifier: Apache-2.0
// The stages of Optimize() that backends have a say in. Optimize.cpp calls them in this order:
//   InferTensors            graph/InferTensors.hpp            shapes and types of all tensors
//   passes                  Pass.hpp, PassList.cpp            rewrites of the graph, the same for all backends
//   FitFloatWidths          widths/FitFloatWidths.hpp         Float32 or 16 bits, layer by layer
//   AssignBackends          assignment/Assignment.hpp         a backend for each layer
//   OptimizeSubgraphs       here                              limits of partitions, rewrites by backends
//   FuseActivations         here                              activations into the layers before them
//   AddBroadcastReshapes    here                              operands of one rank, for backends that need that
//   InsertCopies            here                              copies between the memories of backends
//   PartitionGraph          partition/PartitionGraph.hpp      subgraphs, and the order of execution
#pragma once

#include "common/BackendNames.hpp"
#include "graph/Graph.hpp"
#include "graph/Support.hpp"
#include "optimizer/assignment/Assignment.hpp"

#include <tenon/IOptimizedNetwork.hpp>

#include <string>
#include <vector>

namespace tenon
{

/// Lets each backend, in the order of preference, keep what its PartitionOptions leave it, and optimize its subgraphs,
/// those of nested networks included. A backend that is no candidate, but has layers by a hint, comes first; its layers
/// may go to any candidate.
///
/// How limits are applied:
/// - A layer that a limit refuses goes to the next backend that takes it. The limits of that backend must then hold
///   too, with the layer among its own, so limits are checked again until no layer moves.
/// - A layer never returns to a backend that it was taken from, so this ends.
/// - Limits count layers of the network. A backend that has optimized its subgraphs is not checked again, because its
///   layers no longer correspond to the network's, and a backend with limits gets no further layers then.
/// - AllOrNothing is decided once: a backend that has lost its layers to it gets none back.
/// Costs nothing where no backend has options or optimizes subgraphs.
/// Throws UnimplementedException for layers that no backend takes any more, and BackendCapabilityException where a
/// backend's answer about a subgraph does not fit the network.
void OptimizeSubgraphs(Graph& graph, const std::vector<Candidate>& candidates, const BackendRegistry& registry,
                       const OptimizerOptionsOpaque& options, std::vector<std::string>& messages);

/// Makes an Activation a part of the layer before it. All of these must hold: the backend of that layer takes the
/// activation (ILayerSupport::IsActivationFusable), nothing else reads the layer, the activation changes neither type
/// nor quantization, and no activation has been fused into the layer yet. Nested networks included.
void FuseActivations(Graph& graph, SupportCache& supports);

/// Gives operands of lower rank leading dimensions of size 1, by ExpandDims layers, in front of broadcasting layers of
/// backends with the capability {"EqualRankBroadcast", true}. Only ranks that are the same in every run count: where
/// one is not, the layer stays as it is, and its backend learns the ranks when a run shapes it.
/// Throws UnimplementedException where such a backend does not run ExpandDims.
void AddBroadcastReshapes(Graph& graph, SupportCache& supports);

/// Puts a MemImport or MemCopy layer between a producer and its consumers in another memory: an import where host
/// memory goes to a device that takes ordinary host memory as its own, else a copy. One layer serves all consumers in
/// one memory. The runtime runs these layers; their backend tells the memory that they lead to, RuntimeId the host's.
/// Constants stay where they are: a device's workloads get their values when they are made. An input whose values shape
/// inference needs stays on the host.
void InsertCopies(Graph& graph, const BackendRegistry& registry);

} // namespace tenon
