// SPDX-License-Identifier: Apache-2.0
// Copies: connects layers whose backends work in different memories. Called by Optimize() when backends are assigned.
#pragma once

#include "common/BackendNames.hpp"
#include "graph/Graph.hpp"

namespace tenon
{

/// Puts a MemImport or MemCopy layer between a producer and those of its consumers that are in another memory: an
/// import where host memory goes to a device that takes ordinary host memory as its own, else a copy. One layer serves
/// all consumers in one memory. The runtime runs these layers; their backend tells the memory that they lead to,
/// RuntimeId the host's.
/// Constants stay where they are: a device's workloads get their values when they are made. An input whose values shape
/// inference needs stays on the host.
void InsertCopies(Graph& graph, const BackendRegistry& registry);

} // namespace tenon
