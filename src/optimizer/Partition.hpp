// SPDX-License-Identifier: Apache-2.0
// Partition: cuts a graph into subgraphs of one backend each. Called by Optimize() after assignment.
#pragma once

#include "graph/Graph.hpp"

namespace tenon
{

/// Sets m_Subgraph of every layer, so that running subgraphs in ascending order is possible: no subgraph depends on its
/// own output through another backend. Returns how many there are. Sorts the graph's layers into that order.
///
/// A layer's level is the largest number of changes of backend on any path to it; the layers of one level and backend
/// are a subgraph. An edge never goes to a lower level, and within a level only connects layers of one backend, so no
/// cycle between subgraphs is possible. O(layers + connections).
unsigned int PartitionGraph(Graph& graph);

} // namespace tenon
