// SPDX-License-Identifier: Apache-2.0
// PartitionGraph: cuts a graph into subgraphs of one backend each. Called by Optimize() after assignment.
#pragma once

#include "graph/Graph.hpp"

namespace tenon
{

/// Sets m_Subgraph of every layer that a backend runs, and sorts the graph's layers so that those of one subgraph stand
/// together and producers before consumers. Returns how many subgraphs there are; they count from 0 in order of
/// execution. A function of the graph and the backends of its layers alone. Nested networks are not looked at.
///
/// - A subgraph is connected and of one backend. Pieces of one backend between which there is no connection stay
///   subgraphs of their own, so that each can be compiled, given to another backend, or run by itself.
/// - No subgraph depends on its own output through other layers, whoever runs them.
/// - No two subgraphs of one backend between which there is a connection could be one. (A network that is made to
///   defeat the search for that is cut safely, but into more pieces: see ContractedGraph.hpp.)
/// - What the runtime binds or runs belongs to no subgraph: LayerAssignment::NoSubgraph.
///
/// Input layers come first and Output layers last, each kind in the order that it had: applications, and readers of
/// .tenon files, go by it.
///
/// Takes time in proportion to layers and connections in nearly all networks.
unsigned int PartitionGraph(Graph& graph);

} // namespace tenon
